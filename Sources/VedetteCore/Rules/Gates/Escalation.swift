// SPDX-License-Identifier: Apache-2.0

/// Notifies further sinks when a match is still true after a while.
public struct Escalation: Sendable {
    /// Time since the first message.
    public var after: Duration
    /// The further sinks.
    public var notify: [Rule.NotificationTarget]

    /// Creates an escalation step.
    public init(after: Duration, notify: [Rule.NotificationTarget]) { (self.after, self.notify) = (after, notify) }
}
