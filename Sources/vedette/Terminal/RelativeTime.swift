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
}
