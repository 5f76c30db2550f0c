// SPDX-License-Identifier: Apache-2.0

@testable import VedetteCore

/// A kind that reads nothing: the tests of decisions hand in items.
struct StubKind: SourceKind {
    var mode = ReadingMode.list
    var identity: UInt64 = 1
    var fingerprints: [String: UInt64] = [:]
    var fieldNames: [String]? { nil }

    func request(base: String, context: PollContext) -> RequestTemplate { RequestTemplate(url: base) }
    func read(_ page: inout PageBody) throws(ReadError) -> Page { Page(items: []) }
}

func source(
    _ kind: StubKind = StubKind(), first: Source.First = .baseline, empty: Source.Empty = .suspect
) -> Source {
    Source(
        name: "lab", kindName: "stub", kind: kind, server: Server(name: "lab"), url: "https://lab.example/",
        interval: PollInterval(every: .seconds(15)), first: first, empty: empty)
}

func at(_ seconds: Int64) -> Timestamp { Timestamp(milliseconds: seconds * 1000) }

/// A stored snapshot that polls are compared with, one after the other, as the journal would keep it.
struct Memory {
    var head: SnapshotHead?
    var stored: [String: StoredItem] = [:]
    var last = Difference(head: SnapshotHead(identity: 0, fingerprints: [:], goodAt: at(0)))

    @discardableResult
    mutating func poll(
        _ source: Source, _ items: [Item], mode: ReadingMode? = nil, thresholds: Thresholds = [:],
        doubt: Page.Doubt? = nil, at now: Timestamp
    ) -> [DraftEvent] {
        var observation = Observation(items: items, mode: mode ?? source.kind.mode)
        observation.doubt = doubt
        let differ = Differ(source: source, now: now, thresholds: thresholds)
        return take(differ.compare(head, stored: stored, with: observation))
    }

    mutating func unchanged(_ source: Source, at now: Timestamp) -> [DraftEvent] {
        guard let head else { return [] }
        let pending = stored.values.filter { $0.absentSince != nil }
        return take(Differ(source: source, now: now).confirm(head, pending: pending, validators: .init()))
    }

    mutating func take(_ difference: Difference) -> [DraftEvent] {
        if difference.isNewBaseline { stored = [:] }
        for key in difference.deletions { stored[key] = nil }
        for item in difference.writes + difference.refreshes { stored[item.key] = item }
        (head, last) = (difference.head, difference)
        return difference.events
    }
}

extension DraftEvent {
    /// `changed 59`, for short expectations.
    var short: String { "\(kind.word) \(item?.key ?? error?.failure ?? "")" }
}
