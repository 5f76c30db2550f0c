// SPDX-License-Identifier: Apache-2.0

/// The state of a delivery. The last three are final: it is not attempted again.
public enum DeliveryState: String, Sendable, Hashable, CaseIterable {
    /// Waits for its first attempt.
    case pending
    /// Waits for `due` after a failed attempt.
    case retry
    /// Waits until a person resumes its sink.
    case paused
    /// The receiver has it.
    case sent
    /// It was given up, or the receiver refused it.
    case dead
    /// A gate of its rule ended it.
    case suppressed

    /// Whether it has yet to be delivered.
    public var isPending: Bool {
        switch self {
        case .pending, .retry, .paused: true
        case .sent, .dead, .suppressed: false
        }
    }
}
