// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// What became of a message.
enum DeliveryView {
    static func tone(_ state: DeliveryState) -> PageText.Tone? {
        switch state {
        case .sent: .good
        case .pending, .suppressed: nil
        case .retry: .busy
        case .paused, .dead: .bad
        }
    }

    /// `sent to team 4 min ago by the rule ready`
    static func sentence(_ status: DeliveryStatus, _ render: Render) -> HTML {
        let (delivery, message) = (status.delivery, status.delivery.message)
        let end: HTML? = status.endedAt.map { " \(render.age($0))" }
        let due: HTML? =
            !status.state.isPending || delivery.due <= render.now ? nil : ", due \(render.age(delivery.due))"
        let reason: HTML? = delivery.reason.map { ": \(render.text.localized($0, render.now))" }
        let word = status.state == .retry ? "retried" : status.state.rawValue
        let tone = tone(status.state)?.rawValue ?? "word"
        return """
            <span class="\(tone)">\(word)</span> \(status.state == .sent ? "to" : "for") \(message.sink)\(end)\(due) by the rule \
            \(message.rule)\(reason)
            """
    }
}
