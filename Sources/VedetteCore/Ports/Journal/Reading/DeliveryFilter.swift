// SPDX-License-Identifier: Apache-2.0

/// Which deliveries a reader wants; nil accepts all.
public struct DeliveryFilter: Sendable, Hashable {
    public enum States: Sendable, Hashable {
        case only(DeliveryState)
        /// Deliveries that a person may act on: every state but `sent` and `suppressed`.
        case unsent
    }

    public var states: States?
    public var sink: String?
    public var rule: String?
    /// The seq of the event that they are about; 0 for messages whose event is not stored, since a rule made it.
    public var event: Int64?
    /// Created before this time.
    public var before: Timestamp?

    public init(
        _ states: States? = nil, sink: String? = nil, rule: String? = nil, event: Int64? = nil,
        before: Timestamp? = nil
    ) {
        (self.states, self.sink, self.rule) = (states, sink, rule)
        (self.event, self.before) = (event, before)
    }
}
