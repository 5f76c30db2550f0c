// SPDX-License-Identifier: Apache-2.0

/// Decides, page by page, whether a reading is complete. Known rows stand between new ones when entries are edited in
/// place, and rows move between pages while they are read, so a window is read until a *whole page* brings nothing new.
public struct PageWalk: Sendable {
    /// A reading longer than this has a gap that must be said.
    public static let mostPages = 50

    public enum Step: Sendable, Hashable {
        case done
        /// Absolute URL of the next page.
        case fetch(String)
        /// The cap was reached, or the server's pages lead in a circle, before the reading was complete.
        case gap(String)
    }

    private let mode: ReadingMode
    /// Digests of the items known from the snapshot; nil for a baseline.
    private let known: [String: StoredItem]?
    private let newest: Timestamp?
    private var seen = Set<String>()
    private var asked: Set<String>
    public private(set) var items: [Item] = []
    public private(set) var pages = 0
    public private(set) var repeats = 0

    /// - Parameters:
    ///   - url: of the first page.
    ///   - known: the stored items, nil when this poll is a baseline.
    ///   - newest: the newest item time seen before.
    public init(mode: ReadingMode, url: String, known: [String: StoredItem]?, newest: Timestamp?) {
        (self.mode, self.known, self.newest) = (mode, known, newest)
        asked = [url]
    }

    public mutating func pageRead(_ page: Page) -> Step {
        pages += 1
        var isNews = false
        var reachesBack = newest == nil
        for item in page.items {
            if let time = item.time, let newest, time <= newest { reachesBack = true }
            guard seen.insert(item.key).inserted else {
                repeats += 1
                continue
            }
            items.append(item)
            if let known { isNews = isNews || known[item.key]?.digest != item.digest }
        }
        guard let next = page.next else { return .done }
        if mode == .window {
            // A baseline is its first page. Undated windows cannot reach back, so there the news alone decides.
            let isDated = page.items.contains { $0.time != nil }
            if known == nil || (!isNews && (reachesBack || !isDated)) { return .done }
        }
        if pages >= PageWalk.mostPages {
            return .gap("page \(pages) is not the last and no more are read")
        }
        guard asked.insert(next).inserted else { return .gap("page \(pages) leads back to a page already read") }
        return .fetch(next)
    }
}
