// SPDX-License-Identifier: Apache-2.0

/// What a button of the page does.
enum PageAction: String, CaseIterable, Sendable {
    case snooze, mute, unsilence, accept, retry, drop, poll
}

extension Render {
    /// Returns the buttons that silence something for a while.
    func silencing(_ fields: [(name: String, value: String?)]) -> HTML {
        button(.snooze, "Snooze 1 h", fields + [("for", "1h")])
            + button(.snooze, "Snooze 8 h", fields + [("for", "8h")])
            + button(.mute, "Mute", fields)
    }

    /// The same behind one button, for the rows of a table.
    func silencingMenu(_ fields: [(name: String, value: String?)]) -> HTML {
        "<details class=\"confirm\"><summary>Silence…</summary><div class=\"buttons\">\(silencing(fields))</div></details>"
    }
}
