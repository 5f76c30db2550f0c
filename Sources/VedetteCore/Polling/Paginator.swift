// SPDX-License-Identifier: Apache-2.0

/// Decides, page by page, whether a reading is complete. Known rows stand between new ones when entries are edited in
/// place, and rows move between pages while they are read, so a window is read until a *whole page* brings nothing new.
public struct Paginator: Sendable {
    /// A reading longer than this has a gap that must be reported.
    public static let maximumPages = 50
    /// So has one of more items than these on all its pages.
    public static let maximumItems = 1_000_000

    public enum Step: Sendable, Hashable {
        case done
        case fetch(NextPage)
        /// The cap was reached, or the server's pages lead in a circle, before the reading was complete.
        case gap(String)
    }

    private let mode: ReadingMode
    /// The stored items; nil for a baseline.
    private let known: [String: StoredItem]?
    private let newest: Timestamp?
    private let oldest: Timestamp?
    private let now: Timestamp?
    private let comparesDigests: Bool
    private let kind: (any SourceKind)?
    /// The places of the items by key.
    private var seen: [String: Int] = [:]
    private var asked: Set<NextPage>
    /// An unchanged item was read: what is undated and follows the known ones lay beyond the old end.
    private var hasMetOldEnd = false
    var maximumItems = Paginator.maximumItems
    public private(set) var items: [Item] = []
    public private(set) var pages = 0
    public private(set) var repeats = 0
    private var firstPageCount: Int?
    /// Of the last page: see `Page.sharedKeys`.
    public private(set) var sharedKeys = SharedKeys()
    /// Of the first page: see `Page.since`.
    public private(set) var since: Timestamp?
    /// The last page was read: nothing that was asked for lies beyond.
    public private(set) var isAtEnd = false
    /// Why each page may be an error in the place of a list; nil where one is not.
    public private(set) var doubt: Page.Doubt?
    /// The one page declares that it is complete.
    public private(set) var isWhole = false

    /// - Parameters:
    ///   - url: of the first page.
    ///   - known: the stored items, nil when this poll is a baseline.
    ///   - newest: the newest item time seen before.
    ///   - oldest: the oldest item time of the last observation; what lies before it was never read, so it is no news.
    ///   - now: when the poll began. A time that is not before it stands for one in the future, which moves from poll to poll.
    ///   - comparesDigests: false when fields are read with other options than the snapshot's: then every digest
    ///     differs and says nothing, and only unknown keys are news.
    ///   - kind: tells items of several pages apart that have one key; nil where such items are one.
    public init(
        mode: ReadingMode, url: String, known: [String: StoredItem]?, newest: Timestamp?, oldest: Timestamp? = nil,
        now: Timestamp? = nil, comparesDigests: Bool = true, kind: (any SourceKind)? = nil
    ) {
        (self.mode, self.known, self.newest, self.oldest) = (mode, known, newest, oldest)
        (self.now, self.comparesDigests, self.kind) = (now, comparesDigests, kind)
        asked = [NextPage(url)]
    }

    /// What the pages were: a window whose document is whole is a list.
    public var readingMode: ReadingMode { isWhole ? .list : mode }

    /// What was read, without what belongs to a response.
    public var observation: Observation {
        var observation = Observation(items: items, mode: readingMode)
        (observation.since, observation.isWholeSince) = (since, isAtEnd)
        (observation.firstPageCount, observation.sharedKeys) = (firstPageCount, sharedKeys)
        observation.doubt = doubt
        return observation
    }

    public mutating func pageRead(_ page: Page) -> Step {
        var page = page
        if pages > 0 { separate(&page) }
        pages += 1
        // What is known decides nothing but whether a further page is read.
        let isNews = mode == .window && page.next != nil && bringsNews(page)
        for item in page.items {
            if seen[item.key] == nil {
                seen[item.key] = items.count
                items.append(item)
            } else {
                repeats += 1
            }
        }
        if pages == 1 { (since, firstPageCount) = (page.since, items.count) }
        doubt = pages == 1 || doubt == page.doubt ? page.doubt : nil
        (isAtEnd, sharedKeys) = (page.next == nil, page.sharedKeys)
        isWhole = pages == 1 && page.isComplete && page.next == nil
        guard let next = page.next else { return .done }
        if mode == .window, known == nil || (!isNews && reachesBack(page)) { return .done }
        if pages >= Paginator.maximumPages {
            return .gap("page \(pages) is not the last and no more are read")
        }
        if items.count >= maximumItems {
            return .gap("after page \(pages) there are \(items.count) items and no more are read")
        }
        guard asked.insert(next).inserted else { return .gap("page \(pages) leads back to a page already read") }
        return .fetch(next)
    }

    /// Gives an item that has the key of one of an earlier page, but is another, a key of its own, and that one, too.
    private mutating func separate(_ page: inout Page) {
        for i in page.items.indices {
            guard let place = seen[page.items[i].key],
                let keys = kind?.keys(of: items[place], besides: page.items[i], &page.sharedKeys)
            else { continue }
            page.items[i].key = keys.1
            if seen[keys.0] == nil {
                seen[items[place].key] = nil
                (items[place].key, seen[keys.0]) = (keys.0, place)
            }
        }
    }

    /// Undated windows cannot reach back, so there the news alone decides.
    private func reachesBack(_ page: Page) -> Bool {
        guard let newest else { return true }
        // A known item in the future says nothing; an unknown one may come from a server whose clock is ahead of ours.
        let reliable = page.items.filter { known?[$0.key] == nil || isPast($0.time) }
        let times = reliable.compactMap(\.time)
        return times.isEmpty || times.contains { $0 <= newest }
    }

    private func isPast(_ time: Timestamp?) -> Bool {
        guard let time, let now else { return true }
        return time < now
    }

    private mutating func bringsNews(_ page: Page) -> Bool {
        guard let known else { return false }
        let fresh = page.items.filter { seen[$0.key] == nil }
        let lastKnown = fresh.lastIndex { known[$0.key] != nil }
        var isNews = false
        for (i, item) in fresh.enumerated() {
            if let before = known[item.key] {
                if comparesDigests, before.digest != item.digest { isNews = true } else { hasMetOldEnd = true }
            } else if let time = item.time, let oldest, time != oldest {
                isNews = isNews || time > oldest
            } else if !hasMetOldEnd || i < lastKnown ?? 0 {
                isNews = true
            }
        }
        return isNews
    }
}
