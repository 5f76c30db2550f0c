// SPDX-License-Identifier: Apache-2.0

/// The conditions between a rule's match and its message. A match passes them in this order: `for`, `depends`, silences,
/// `quiet`, `once_per`, `digest`, `limit`.
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

/// Times in which a rule does not disturb.
public struct Quiet: Sendable {
    /// What happens to a match inside a window.
    public enum Action: String, Sendable, CaseIterable {
        /// It is suppressed.
        case drop
        /// The latest one is sent when the quiet time ends, if it is still true.
        case `defer`
        /// All of them are sent in one message when the quiet time ends.
        case digest
    }

    /// The windows; where they meet they are one quiet time.
    public var windows: [CivilWindow]
    /// `during`: the windows outside of which it is quiet, too; empty for none.
    public var outside: [CivilWindow]
    /// `then`: what happens to a match inside a window.
    public var action: Action

    /// Creates quiet times.
    public init(windows: [CivilWindow], outside: [CivilWindow] = [], action: Action) {
        (self.windows, self.outside, self.action) = (windows, outside, action)
    }

    /// Returns the end of the span that `time` is in, and what it is called; nil when it is in none.
    func span(at time: Timestamp, _ civil: any CivilTime) -> (name: String, end: Timestamp)? {
        var spans = windows.compactMap { window in
            window.end(of: time, civil).map { (name: "during '\(window.name)'", end: $0) }
        }
        if !outside.isEmpty, outside.allSatisfy({ $0.end(of: time, civil) == nil }),
            let start = outside.compactMap({ $0.start(after: time, civil) }).min()
        {
            let names = outside.reduce(into: [String]()) { if !$0.contains($1.name) { $0.append($1.name) } }
            spans.append((name: "outside of '\(names.joined(separator: "', '"))'", end: start))
        }
        return spans.max { $0.end < $1.end }
    }
}

/// At most `count` messages in a sliding window. What exceeds it ends in one message with the latest state.
public struct Limit: Sendable, Hashable {
    /// Messages per window.
    public var count: Int
    /// Length of the window.
    public var per: Duration
    /// Which messages count together.
    public var by: Grouping

    /// Creates a limit.
    public init(count: Int, per: Duration, by: Grouping = .item) { (self.count, self.per, self.by) = (count, per, by) }
}

/// Which events count together.
public enum Grouping: Sendable, Hashable {
    /// All events of the rule.
    case rule
    /// The events of one item.
    case item
    /// The events of items with the same value of this field.
    case field(String)
}

/// How several events are gathered into one message.
public struct DigestPlan: Sendable, Hashable {
    /// When a digest is sent.
    public enum Release: Sendable, Hashable {
        /// This long after its first event.
        case every(Duration)
        /// At this time of day, on these days, 1 for Monday to 7 for Sunday; empty for all.
        case at(CivilTimeOfDay, days: Set<Int> = [])
    }

    /// When a digest is sent.
    public var release: Release
    /// Which events go into the same digest.
    public var by: Grouping

    /// Creates a plan.
    public init(release: Release, by: Grouping = .rule) { (self.release, self.by) = (release, by) }
}

/// Repeats a message while its match stays true.
public struct Reminder: Sendable {
    /// The interval between messages.
    public var every: Duration
    /// Values of the rule's field that end the reminders. When empty, they end when the match is no longer true.
    public var until: [String]

    /// Creates a reminder.
    public init(every: Duration, until: [String] = []) { (self.every, self.until) = (every, until) }
}

/// Notifies further sinks when a match is still true after a while.
public struct Escalation: Sendable {
    /// Time since the first message.
    public var after: Duration
    /// The further sinks.
    public var notify: [Rule.NotificationTarget]

    /// Creates an escalation step.
    public init(after: Duration, notify: [Rule.NotificationTarget]) { (self.after, self.notify) = (after, notify) }
}

/// A time on both clocks. Intervals run on the steady clock, which never jumps; windows and silences on the wall clock.
public struct RuleTime: Sendable, Hashable {
    /// The wall time of the program's start plus the boot-time clock since then.
    public var steady: Timestamp
    /// The time that the wall clock shows.
    public var wall: Timestamp

    /// Creates a time.
    public init(steady: Timestamp, wall: Timestamp) { (self.steady, self.wall) = (steady, wall) }
}
