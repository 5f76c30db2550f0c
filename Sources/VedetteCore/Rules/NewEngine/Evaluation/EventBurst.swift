// SPDX-License-Identifier: Apache-2.0

/// Bounds the events that one poll stores. Events that a message can be about are stored one by one; of the others the first
/// 10,000, and the rest as one `io.vedette.source.burst`. The items are all stored.
public enum EventBurst {
    /// Events without a match that are stored one by one.
    public static let maximumEvents = 10_000
    /// Titles and ids that the burst keeps.
    static let samples = 20

    /// Returns the events to store, in their order. The burst, if any, is the last one.
    /// - Parameters:
    ///   - matched: `PollEvaluation.matched`.
    ///   - identifier: makes the id of the burst.
    public static func fold(
        _ events: [Event], matched: some Sequence<Int>, maximum: Int = maximumEvents, identifier: () -> Identifier
    ) -> [Event] {
        guard events.count > maximum else { return events }
        let matched = Set(matched)
        var kept: [Event] = []
        var folded: [Event] = []
        var count = 0
        var kinds: [Event.Kind: Int] = [:]
        var unmatched = 0
        for (i, event) in events.enumerated() {
            // An event without an item is about the source's health; there are few, and `status` depends on them.
            if matched.contains(i) || event.item == nil {
                kept.append(event)
            } else if unmatched < maximum {
                unmatched += 1
                kept.append(event)
            } else {
                count += 1
                kinds[event.kind, default: 0] += 1
                if folded.count < samples { folded.append(event) }
            }
        }
        guard let first = folded.first else { return events }
        var burst = Event(
            id: identifier(), kind: .burst, time: first.time, source: first.source, sourceKind: first.sourceKind,
            poll: first.poll)
        let counts = kinds.sorted { $0.key.rawValue < $1.key.rawValue }.map { "\($0.value) \($0.key.word)" }
        burst.summary = Event.Summary(
            events: folded.map(\.id.description), count: count,
            lines: [counts.joined(separator: ", ")] + folded.map { MessageTitle.of($0) })
        return kept + [burst]
    }
}
