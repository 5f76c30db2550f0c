// SPDX-License-Identifier: Apache-2.0

import VedetteCore

extension Timestamp {
    /// `12 s ago`, `in 4 min`.
    func relative(to now: Timestamp) -> String {
        let seconds = seconds(since: now)
        if abs(seconds) < 1 { return "now" }
        return seconds < 0
            ? "\(MessageFormatter.duration(seconds: -seconds)) ago"
            : "in \(MessageFormatter.duration(seconds: seconds))"
    }

    /// The time since then in its largest unit, for a column: `12 s`, `4 min`, `45 d`.
    func age(at now: Timestamp) -> String {
        let text = MessageFormatter.duration(seconds: max(0, now.seconds(since: self).rounded(.down)))
        let spaces = text.utf8.indices.filter { text.utf8[$0] == UInt8(ascii: " ") }
        return spaces.count < 2 ? text : String(text[..<spaces[1]])
    }
}
