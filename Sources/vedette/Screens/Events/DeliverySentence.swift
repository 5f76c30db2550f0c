// SPDX-License-Identifier: Apache-2.0

import VedetteCore
import VedetteSinks

/// Words for the outcome of a delivery: `sent to team at 08:59:23`, or `sent at 08:59:23` beside the name of the sink.
/// Commands and the page share them.
struct DeliverySentence {
    private let status: DeliveryStatus
    private let now: Timestamp

    init(_ status: DeliveryStatus, now: Timestamp) { (self.status, self.now) = (status, now) }

    /// Returns a sentence for each delivery, those that were sent first.
    static func sentences(_ deliveries: [DeliveryStatus], now: Timestamp) -> [String] {
        let sent = deliveries.filter { $0.state == .sent }
        return (sent + deliveries.filter { $0.state != .sent }).map { DeliverySentence($0, now: now).sentence }
    }

    /// The outcome without the sink.
    var outcome: String { words.state + words.end }

    private var sentence: String { parts.state + parts.rest }

    /// The name of the state, and the rest of the sentence.
    var parts: (state: String, rest: String) {
        let rule = [.sent, .pending].contains(status.state) ? " by the rule \(status.delivery.message.rule)" : ""
        return (words.state, " \(words.preposition) \(status.delivery.message.sink)\(words.end)\(rule)")
    }

    private var words: (state: String, preposition: String, end: String) {
        let delivery = status.delivery
        let reason = delivery.reason.map { ": " + LocalTime.localized($0, now: now) } ?? ""
        let ended = status.endedAt.map { " at \(LocalTime.text($0, now: now))" } ?? ""
        let due = delivery.due > now ? ", due at \(LocalTime.text(delivery.due, now: now))" : ""
        return switch status.state {
        case .sent: ("sent", "to", ended)
        case .pending: ("pending", "for", due)
        case .retry: ("retrying", "for", due + reason)
        case .paused: ("paused", "for", reason)
        case .dead: ("dead", "for", ended + reason)
        case .suppressed: ("suppressed", "for", reason)
        }
    }
}
