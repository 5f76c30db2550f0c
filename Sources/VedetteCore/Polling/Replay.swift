// SPDX-License-Identifier: Apache-2.0

/// Successive bodies as successive polls, in memory: what `replay` prints and the source kinds' tests expect.
public struct Replay: Sendable {
    public let source: Source
    private var record: SourceRecord
    private var stored: [String: StoredItem] = [:]
    private let thresholds: Thresholds

    /// - Parameter marks: what measures are compared with.
    public init(_ source: Source, thresholds: Thresholds = [:]) {
        (self.source, self.thresholds) = (source, thresholds)
        record = SourceRecord(name: source.name)
    }

    /// The items present after the last good poll.
    public var items: [Item] {
        stored.values.filter { $0.absentSince == nil }.compactMap(\.item).sorted { $0.key < $1.key }
    }

    /// One poll of the pages given; pages that the poll would not have asked for are left unread.
    /// - Returns: what happened, and the illnesses that were mended. A failed poll is an event only after `fails` of them.
    public mutating func poll(_ pages: [PageBody], at now: Timestamp) -> (events: [DraftEvent], failure: ReadError?) {
        do throws(ReadError) {
            let observation = try read(pages, at: now)
            let recovered = record.health.pollSucceeded(at: now)
            let difference = Differ(source: source, now: now, thresholds: thresholds).compare(
                record.snapshot, stored: stored, with: observation)
            take(difference)
            return ([recovered].compactMap { $0 } + difference.events, nil)
        } catch {
            let event = record.health.pollFailed(error.failure, detail: error.detail, fails: source.fails, at: now)
            return ([event].compactMap { $0 }, error)
        }
    }

    private func read(_ pages: [PageBody], at now: Timestamp) throws(ReadError) -> Observation {
        if let kind = source.kind as? any ObservingKind, let page = pages.first {
            let response = Response(status: 200, headers: page.headers, body: page.bytes, url: page.url)
            let seen = kind.observe(.response(response), ObservationContext(url: source.url, now: now))
            return Observation(items: seen.items, mode: kind.mode)
        }
        let isKnown = record.snapshot != nil
        var walk = Paginator(
            mode: source.kind.mode, url: pages.first?.url ?? "", known: isKnown ? stored : nil,
            newest: record.snapshot?.newest, oldest: record.snapshot?.oldest)
        for (i, page) in pages.enumerated() {
            guard !page.bytes.isEmpty else { throw ReadError(.empty, "page \(i + 1) is empty") }
            var body = page
            (body.number, body.receivedAt) = (i + 1, now)
            switch walk.pageRead(try source.kind.read(&body)) {
            case .done: return walk.observation
            case .gap(let detail): throw ReadError(.pageGap, detail)
            case .fetch: continue
            }
        }
        return walk.observation
    }

    private mutating func take(_ difference: Difference) {
        record.snapshot = difference.head
        if difference.isNewBaseline { stored = [:] }
        for key in difference.deletions { stored[key] = nil }
        for row in difference.writes + difference.refreshes { stored[row.key] = row }
    }
}
