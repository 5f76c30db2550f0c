// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// What `wait` prints while it waits, and when the time is over.
struct WaitProgress: Sendable {
    /// What is waited for: `Ready for use`.
    var goal: String
    /// When it gives up; nil for never.
    var limit: Duration?
    /// What the items are now, a line each; empty before the source was read.
    var pending: [String] = []
    /// Why the source is not read; nil while it is.
    var problem: String?

    /// Returns the line that a terminal shows meanwhile: `waiting 2 min 3 s for Ready for use: 59 Portal QA: Starting`.
    /// - Parameter width: the columns of the terminal. The last one stays free, since some wrap when it is filled.
    func line(after elapsed: Duration, width: Int) -> StyledText {
        let time = DurationText.long(seconds: (elapsed / .seconds(1)).rounded(.down))
        let most = limit.map { " of \(WaitProgress.text($0))" } ?? ""
        let now = pending.first ?? problem ?? "no answer yet"
        let more = pending.count > 1 ? ", and \(pending.count - 1) more" : ""
        let fails = pending.isEmpty ? "" : problem.map { " (\($0))" } ?? ""
        return StyledText("waiting \(time)\(most) for \(goal): \(now)\(more)\(fails)").truncated(to: width - 1)
    }

    /// Returns what is printed when the time is over: the present states.
    var timedOut: [String] {
        let states = pending.isEmpty ? ["no answer yet"] : pending
        return ["not \(goal) within \(limit.map(WaitProgress.text) ?? "")"]
            + (states + (problem.map { [$0] } ?? [])).map { "  \($0)" }
    }

    private static func text(_ limit: Duration) -> String {
        DurationText.long(seconds: limit / .seconds(1))
    }
}
