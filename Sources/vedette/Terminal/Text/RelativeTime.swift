// SPDX-License-Identifier: Apache-2.0

import VedetteCore

extension Timestamp {
    /// `12 s ago`, `in 4 min`.
    func relative(to now: Timestamp) -> String {
        let seconds = seconds(since: now)
        if abs(seconds) < 1 { return "now" }
        return seconds < 0
            ? "\(DurationText.long(seconds: -seconds)) ago"
            : "in \(DurationText.long(seconds: seconds))"
    }

    /// The time since then in its largest unit, for a column: `12 s`, `4 min`, `45 d`.
    func age(at now: Timestamp) -> String {
        DurationText.short(seconds: max(0, now.seconds(since: self).rounded(.down)))
    }
}
