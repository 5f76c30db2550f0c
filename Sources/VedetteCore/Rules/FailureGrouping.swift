// SPDX-License-Identifier: Apache-2.0

/// Sources of one server fail and recover together. Each event is kept, but within a minute one message per rule and
/// sink speaks for all of them; the others are suppressed and say which one that is. A recovery ends what was said of
/// failures, and a failure what was said of recoveries.
public struct FailureGrouping: Sendable {
    static let span = Duration.seconds(60)

    private struct GroupKey: Hashable, Sendable {
        var rule: String
        var sink: String
        var server: String
        var kind: Event.Kind

        /// What it says is no longer so: were the old voice heard on, the last word would be the wrong one.
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

    public init() {}

    /// - Parameter server: what the failing sources have in common, as a person knows it.
    public mutating func joined(_ delivery: Delivery, server: String, at now: BootTime) -> Delivery {
        let event = delivery.message.event
        guard [.failing, .recovered, .stale].contains(event.kind), delivery.state == .pending else { return delivery }
        let part = GroupKey(
            rule: delivery.message.rule, sink: delivery.message.sink, server: server, kind: event.kind)
        leads = leads.filter { $0.value.until > now && !part.contradicts($0.key) }
        var delivery = delivery
        if let lead = leads[part] {
            delivery.state = .suppressed
            delivery.reason = "\(lead.source) on \(server) was said less than a minute before, in \(lead.message)"
        } else {
            leads[part] = LeadMessage(
                message: delivery.message.id, source: event.source, until: now.advanced(by: FailureGrouping.span))
        }
        return delivery
    }

    /// Their commit failed: nobody was told, so the next one speaks.
    public mutating func unsaid(_ deliveries: [Delivery]) {
        let ids = Set(deliveries.map(\.message.id))
        leads = leads.filter { !ids.contains($0.value.message) }
    }
}
