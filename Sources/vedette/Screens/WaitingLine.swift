// SPDX-License-Identifier: Apache-2.0

import VedetteCore
import VedetteSinks

extension RuleMemory {
    /// Returns what waits, with the local time at which it is due: `held: Billing, ready for 3 of 5 min, until 12:05:00`.
    /// Nil when nothing waits.
    func waitingLine(of rule: Rule?, at now: Timestamp) -> String? {
        guard let text = waitingText(of: rule, at: now) else { return nil }
        guard let due = waitingUntil, due > now else { return text }
        return "\(text), until \(LocalTime.text(due, now: now))"
    }
}
