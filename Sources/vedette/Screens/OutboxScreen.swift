// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// Renders the table of `outbox`: what is pending or dead, and why.
struct OutboxScreen: Sendable {
    var palette = Palette.plain
    /// The cells of a line; nil for no limit.
    var width: Int?
    let now: Timestamp
    /// Puts the RFC 3339 times of a sentence on the local clock.
    var localized: @Sendable (String) -> String

    func lines(_ deliveries: [DeliveryStatus]) -> [StyledText] {
        var table = TextTable(["ID", "STATE", "SINK", "RULE", "AGE", "TRIES", "REASON", "MESSAGE"], palette)
        for status in deliveries {
            let delivery = status.delivery
            let age = MessageFormatter.duration(seconds: max(0, now.seconds(since: delivery.created)))
            table.add([
                StyledText(String(delivery.id)),
                palette.paint(status.state.rawValue, OutboxScreen.role(of: status.state)),
                StyledText(delivery.message.sink), StyledText(delivery.message.rule), StyledText(age),
                StyledText(String(delivery.attempts)), StyledText(reason(of: status), limit: TextTable.limit),
                StyledText(delivery.message.title, limit: TextTable.limit),
            ])
        }
        return table.lines(within: width, shrinking: [7, 6, 3, 2])
    }

    private func reason(of status: DeliveryStatus) -> String {
        let reason = status.delivery.reason.map(localized) ?? "-"
        guard status.state == .retry, status.delivery.due > now else { return reason }
        return "\(reason); next try \(status.delivery.due.relative(to: now))"
    }

    private static func role(of state: DeliveryState) -> Palette.Role {
        switch state {
        case .dead: .bad
        case .retry, .paused: .doubtful
        case .pending, .sent, .suppressed: .faint
        }
    }
}
