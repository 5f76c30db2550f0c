// SPDX-License-Identifier: Apache-2.0

/// Repeats a message while its match stays true.
public struct Reminder: Sendable {
    /// The interval between messages.
    public var every: Duration
    /// Values of the rule's field that end the reminders. When empty, they end when the match is no longer true.
    public var until: [String]

    /// Creates a reminder.
    public init(every: Duration, until: [String] = []) { (self.every, self.until) = (every, until) }
}
