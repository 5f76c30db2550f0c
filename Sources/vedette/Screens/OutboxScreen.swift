// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// Renders the table of `outbox`: what is pending or dead, and why. In a terminal the reason has a line of its own, since two
/// texts of any length leave no room for each other.
struct OutboxScreen: Sendable {
    var palette = Palette.plain
    /// The cells of a line; nil for no limit.
    var width: Int?
    let now: Timestamp
    /// Puts the RFC 3339 times of a sentence on the local clock.
    var localized: @Sendable (String) -> String

    func lines(_ deliveries: [DeliveryStatus]) -> [StyledText] {
        let reasons = deliveries.map(reason(of:))
        let heading = ["ID", "STATE", "SINK", "RULE", "AGE", "TRIES"] + (width == nil ? ["REASON"] : []) + ["MESSAGE"]
        var table = TextTable(heading, palette)
        for (status, reason) in zip(deliveries, reasons) {
            let delivery = status.delivery
            let age = DurationText.long(seconds: max(0, now.seconds(since: delivery.created)))
            table.add(
                [
                    StyledText(String(delivery.id)),
                    palette.paint(status.state.rawValue, Palette.role(of: status.state.meaning) ?? .faint),
                    StyledText(delivery.message.sink), StyledText(delivery.message.rule), StyledText(age),
                    StyledText(String(delivery.attempts)),
                ] + (width == nil ? [StyledText(reason ?? "-", limit: TextTable.limit)] : [])
                    + [StyledText(delivery.message.title, limit: TextTable.limit)])
        }
        guard let width else { return table.lines }
        let rows = table.lines(within: width, shrinking: [6, 3, 2])
        return rows.prefix(1)
            + zip(rows.dropFirst(), reasons).flatMap { row, reason in
                [row] + (reason.map { WrappedText.hanging($0, indent: 4, width: width) } ?? [])
            }
    }

    private func reason(of status: DeliveryStatus) -> String? {
        guard let reason = status.delivery.reason.map(localized) else { return nil }
        guard status.state == .retry, status.delivery.due > now else { return reason }
        return "\(reason); next try \(status.delivery.due.relative(to: now))"
    }
}
