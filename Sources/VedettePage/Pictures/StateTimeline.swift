// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// The states of an item over a time, from its events.
struct StateTimeline: Sendable, Hashable {
    /// The time that a timeline shows.
    static let span = Duration.seconds(86_400)
    /// Events of an item that its timeline is drawn from.
    static let mostEvents = 50

    struct Segment: Sendable, Hashable {
        /// Nil while it was not there.
        var state: String?
        var start: Timestamp
        var end: Timestamp
    }

    /// In order, each beginning where the one before ends. The first begins when the first state is known.
    var segments: [Segment]
    let start: Timestamp
    let end: Timestamp

    /// - Parameters:
    ///   - events: of the item, oldest first.
    ///   - current: its state now, and since when; nil while it is gone or has none.
    init(_ events: [Event], current: (state: String, since: Timestamp)?, from start: Timestamp, to end: Timestamp) {
        (self.start, self.end, segments) = (start, end, [])
        var known: (state: String?, since: Timestamp)?
        for event in events {
            switch event.kind {
            case .appeared: change(&known, to: event.item?.state, at: event.time)
            case .disappeared: change(&known, to: nil, at: event.time)
            default:
                guard let change = event.changes.first(where: { $0.field == "state" }) else { continue }
                if known == nil, let from = change.from, let lasted = change.lasted {
                    known = (from.description, event.time.advanced(by: .milliseconds(-Int64(lasted * 1000))))
                }
                self.change(&known, to: change.to?.description, at: event.time)
            }
        }
        if let current, known?.state != current.state { change(&known, to: current.state, at: current.since) }
        if let known { add(known.state, known.since, end) }
    }

    private mutating func change(
        _ known: inout (state: String?, since: Timestamp)?, to state: String?, at time: Timestamp
    ) {
        if let known { add(known.state, known.since, time) }
        known = (state, time)
    }

    private mutating func add(_ state: String?, _ from: Timestamp, _ to: Timestamp) {
        let (from, to) = (max(from, start), min(to, end))
        guard from < to else { return }
        if let last = segments.last, last.state == state, last.end == from {
            segments[segments.count - 1].end = to
        } else {
            segments.append(Segment(state: state, start: from, end: to))
        }
    }
}
