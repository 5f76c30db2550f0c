// SPDX-License-Identifier: Apache-2.0

/// What can hold a message of a rule back, or makes a further one. The raw value is the name in the configuration.
enum Gate: String, CaseIterable, Comparable {
    case waiting = "for"
    case condition = "unless"
    case depends
    case silence
    case sinkSilence = "silence of one sink"
    case dropping = "quiet: drop"
    case deferring = "quiet: defer"
    case gathering = "quiet: digest"
    case during
    case oncePer = "once_per"
    case atLeast = "at_least"
    case digest
    case limit
    case reminders = "remind"
    case escalation = "escalate"
    case end = "resolved"
    case lasting = "recovered_for"
    case fallback = "else"

    static func < (a: Gate, b: Gate) -> Bool { a.rawValue < b.rawValue }

    /// What a quiet time does: a rule has one of them at most.
    static let quietActions: [Gate] = [.dropping, .deferring, .gathering]
    /// The gates that join several events in one message.
    static let logs: Set<Gate> = [.digest, .gathering]
    /// Returns whether one rule can have both.
    func meets(_ other: Gate) -> Bool {
        if Gate.quietActions.contains(self), Gate.quietActions.contains(other) { return false }
        // `for` decides when a match is counted.
        if Set([self, other]) == [.waiting, .atLeast] { return false }
        return !(Gate.logs.contains(self) && other == .escalation)
            && !(Gate.logs.contains(other) && self == .escalation)
    }
}
