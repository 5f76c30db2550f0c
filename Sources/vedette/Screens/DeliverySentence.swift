// SPDX-License-Identifier: Apache-2.0

import VedetteCore
import VedetteSinks

/// Words for what was sent about an event: `sent to team at 08:59:23`.
enum DeliverySentence {
    /// Returns a sentence for each delivery, those that were sent first.
    static func sentences(_ deliveries: [DeliveryStatus], now: Timestamp) -> [String] {
        let sent = deliveries.filter { $0.state == .sent }
        return (sent + deliveries.filter { $0.state != .sent }).map { sentence($0, now) }
    }

    private static func sentence(_ status: DeliveryStatus, _ now: Timestamp) -> String {
        let (sink, rule) = (status.delivery.message.sink, status.delivery.message.rule)
        let reason = status.delivery.reason.map { ": " + LocalTime.localized($0, now: now) } ?? ""
        let end = status.endedAt.map { " at \(LocalTime.text($0, now: now))" } ?? ""
        return switch status.state {
        case .sent: "sent to \(sink)\(end) by the rule \(rule)"
        case .pending: "pending for \(sink) by the rule \(rule)"
        case .retry: "retried to \(sink) at \(LocalTime.text(status.delivery.due, now: now))\(reason)"
        case .paused: "waits for the paused sink \(sink)\(reason)"
        case .dead: "dead for \(sink)\(end)\(reason)"
        case .suppressed: "suppressed for \(sink)\(reason)"
        }
    }
}
