// SPDX-License-Identifier: Apache-2.0

/// The conditions between a rule's match and its message. A match passes them in this order: `for`, `if`, `unless`,
/// `depends`, silences, `quiet`, `once_per`, `digest`, `limit`.
public struct Gates: Sendable {
    /// `for`: how long a match must stay true before it is released; zero releases it at once.
    public var pendingFor: Duration = .zero
    /// Sources whose failure suppresses the rule's messages.
    public var depends: [String] = []
    /// When messages are deferred, gathered or dropped; nil for never.
    public var quiet: Quiet?
    /// `once_per`: a field of the item; the rule sends one message per value.
    public var oncePer: String?
    /// Gathers several events into one message; nil sends each on its own.
    public var digest: DigestPlan?
    /// Bounds the number of messages in a time; nil for no bound.
    public var limit: Limit?
    /// `resolved`: sends the end of each match that the rule announced, and of no other.
    public var resolved = false
    /// `recovered_for`: how long a match must be over before its end is told; zero tells it at once.
    public var recoveredFor: Duration = .zero
    /// `at_least`: how many matches make a message; nil for each.
    public var atLeast: Limit?
    /// `nothing`: sends a message when nothing matched for this long; zero for never.
    public var nothing: Duration = .zero
    /// `if` and `unless`: what other sources must show, and what they must not show.
    public var conditions: [SourceCondition] = []
    /// Repeats a message while its match stays true; nil for never.
    public var remind: Reminder?
    /// Further recipients while the match stays true, in the order of `after`.
    public var escalate: [Escalation] = []

    /// Creates gates that let every match through at once.
    public init() {}
}
