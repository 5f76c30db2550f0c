// SPDX-License-Identifier: Apache-2.0

/// Groups the messages about sources of one server that fail or recover together. Every event is stored, but within a
/// minute each rule and sink gets one message per server; the others are suppressed and name that message. A recovery ends
/// the group of the failures, and a failure ends the group of the recoveries.
public struct FailureGrouping: Sendable {
    static let span = Duration.seconds(60)

    private struct GroupKey: Hashable, Sendable {
        var rule: String
        var sink: String
        var server: String
        var kind: Event.Kind

        /// Without this, a source that fails again within the minute would be suppressed, and "recovered" would be the
        /// last message.
        func contradicts(_ old: GroupKey) -> Bool {
            (rule, sink, server) == (old.rule, old.sink, old.server)
                && (kind == .recovered) != (old.kind == .recovered)
        }
    }

    private struct LeadMessage: Sendable {
        var message: String
        var source: String
        var until: BootTime
    }

    private var leads: [GroupKey: LeadMessage] = [:]

    /// Creates an empty grouping.
    public init() {}

    /// Returns the delivery, suppressed when a message of the last minute covers it.
    /// - Parameter server: what the failing sources have in common, as a person knows it.
    public mutating func grouped(_ delivery: Delivery, server: String, at now: BootTime) -> Delivery {
        let event = delivery.message.event
        guard [.failing, .recovered, .stale].contains(event.kind), delivery.state == .pending else { return delivery }
        let key = GroupKey(
            rule: delivery.message.rule, sink: delivery.message.sink, server: server, kind: event.kind)
        leads = leads.filter { $0.value.until > now && !key.contradicts($0.key) }
        var delivery = delivery
        if let lead = leads[key] {
            delivery.state = .suppressed
            delivery.reason = "\(lead.source) on \(server) was reported less than a minute before, in \(lead.message)"
        } else {
            leads[key] = LeadMessage(
                message: delivery.message.id, source: event.source, until: now.advanced(by: FailureGrouping.span))
        }
        return delivery
    }

    /// Removes messages whose commit failed, so that the next one of their groups is sent.
    public mutating func undo(_ deliveries: [Delivery]) {
        let ids = Set(deliveries.map(\.message.id))
        leads = leads.filter { !ids.contains($0.value.message) }
    }
}
