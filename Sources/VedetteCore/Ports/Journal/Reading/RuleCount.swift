// SPDX-License-Identifier: Apache-2.0

/// What a rule made: the newest messages that the journal has of it.
public struct RuleCount: Sendable, Hashable {
    /// Deliveries that are counted, at most: of events, and of what has no event of its own such as a digest.
    public static let limit = 1000

    /// A delivery of the rule.
    public struct Row: Sendable, Hashable {
        /// The seq of its event; nil for what has no event in the journal.
        public var event: Int64?
        public var sink: String
        /// Nil for one that a newer version added.
        public var state: DeliveryState?

        /// Creates a row.
        public init(event: Int64?, sink: String, state: DeliveryState?) {
            (self.event, self.sink, self.state) = (event, sink, state)
        }
    }

    /// Matches of the rule that made messages.
    public var matched = 0
    /// Messages that were delivered.
    public var sent = 0
    /// Messages that were held back.
    public var suppressed = 0
    /// Whether there are older messages, which are not counted.
    public var isPartial = false

    /// Counts.
    /// - Parameters:
    ///   - events: the deliveries of events, the newest first; those beyond the limit are not counted.
    ///   - others: the other deliveries, likewise.
    public init(events: [Row], others: [Row]) {
        isPartial = max(events.count, others.count) > RuleCount.limit
        let (events, others) = (events.prefix(RuleCount.limit), others.prefix(RuleCount.limit))
        // What has no event has a row for each sink that is notified.
        let bySink = others.reduce(into: [String: Int]()) { $0[$1.sink, default: 0] += 1 }
        matched = Set(events.map(\.event)).count + (bySink.values.max() ?? 0)
        for rows in [events, others] {
            sent += rows.count { $0.state == .sent }
            suppressed += rows.count { $0.state == .suppressed }
        }
    }
}
