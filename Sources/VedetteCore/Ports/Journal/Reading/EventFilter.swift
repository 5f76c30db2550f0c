// SPDX-License-Identifier: Apache-2.0

/// Which events a reader wants; nil accepts all.
public struct EventFilter: Sendable, Hashable {
    public var source: String?
    /// Only events that this rule made a delivery of.
    public var rule: String?
    /// Only events about the item with this key.
    public var key: String?
    /// Only events of these types; empty accepts all.
    public var kinds: Set<Event.Kind>
    /// Only events of which a message was sent or will be: the delivery is neither dead nor suppressed.
    public var isSent: Bool
    /// Not older than this.
    public var since: Timestamp?
    /// Older than this.
    public var until: Timestamp?

    public init(
        source: String? = nil, rule: String? = nil, key: String? = nil, kinds: Set<Event.Kind> = [],
        isSent: Bool = false, since: Timestamp? = nil, until: Timestamp? = nil
    ) {
        (self.source, self.rule, self.key, self.kinds) = (source, rule, key, kinds)
        (self.isSent, self.since, self.until) = (isSent, since, until)
    }
}
