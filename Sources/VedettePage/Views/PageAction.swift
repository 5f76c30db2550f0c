// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// What a button of the page does.
enum PageAction: String, CaseIterable, Sendable {
    case snooze, mute, unsilence, acknowledge, accept, retry, drop, poll
}

extension Render {
    /// Returns the buttons that silence something for a while.
    func silencing(_ fields: [(name: String, value: String?)]) -> HTML {
        button(.snooze, "Snooze 1 h", fields + [("for", "1h")])
            + button(.snooze, "Snooze 8 h", fields + [("for", "8h")])
            + button(.mute, "Mute", fields)
    }

    /// Returns the button that acknowledges a match, or takes that back; none where no match was told.
    func acknowledging(_ memory: RuleMemory) -> HTML {
        guard let match = memory.firingMatch else { return "" }
        let isDone = memory.acknowledgement != nil
        let fields = [("rule", memory.key.rule), ("match", match.id.description), ("undo", isDone ? "1" : nil)]
        return button(.acknowledge, isDone ? "Take back" : "Acknowledge", fields)
    }

    /// The buttons that silence behind one button, for the rows of a table.
    func silencingMenu(_ fields: [(name: String, value: String?)]) -> HTML {
        "<details class=\"confirm\"><summary>Silence…</summary><div class=\"buttons\">\(silencing(fields))</div></details>"
    }
}
