// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// The last time that no bubble could be shown. When it ends, what is older than an hour would be a stack of old news:
/// it becomes one summary.
struct Outage: Sendable, Hashable {
    static let patience = Duration.seconds(3600)
    private static let namesShown = 5

    private var start: Timestamp?
    private var end: Timestamp?
    private var count = 0
    private var names: [String] = []

    /// A bubble could not be shown.
    mutating func refused(eventAt time: Timestamp, now: Timestamp) {
        if start == nil || end != nil { self = Outage() }
        start = min(start ?? now, time, now)
    }

    /// Whether an event of that time waited through the outage for more than an hour.
    func outlasted(eventAt time: Timestamp, now: Timestamp) -> Bool {
        guard let start, time >= start else { return false }
        return time.advanced(by: Outage.patience) < (end ?? now)
    }

    /// A bubble was shown.
    mutating func ended(now: Timestamp) {
        if start != nil, end == nil { end = now }
    }

    /// The summary with one more message.
    mutating func summary(adding title: String) -> Bubble {
        count += 1
        names = (names + [title]).suffix(Outage.namesShown)
        let more = count - names.count
        return Bubble(
            key: .missed, title: "\(count) older message\(count == 1 ? "" : "s")",
            body: (names + (more > 0 ? ["and \(more) before"] : [])).joined(separator: "\n"),
            category: "x-vedette.missed")
    }
}
