// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// What became of a message.
enum DeliveryView {
    /// What became of it, with its attempts.
    static func entry(_ status: DeliveryStatus, _ attempts: [Attempt], _ render: Render) -> HTML {
        let attempts = attempts.map { attempt -> HTML in
            let reason: HTML? = attempt.reason.map { ": \(render.text.localized($0, render.now))" }
            return "<li class=\"faint\">attempt \(attempt.attempts), \(render.age(attempt.at))\(reason)</li>"
        }
        return "<li>\(sentence(status, render))<ul class=\"plain\">\(attempts)</ul></li>"
    }

    /// `sent to team at 08:59:23 by the rule ready`
    static func sentence(_ status: DeliveryStatus, _ render: Render) -> HTML {
        let (state, rest) = render.text.outcome(status, render.now)
        return "<span class=\"\(status.state.meaning?.tone.rawValue ?? "word")\">\(state)</span>\(rest)"
    }
}
