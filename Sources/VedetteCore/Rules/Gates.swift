// SPDX-License-Identifier: Apache-2.0

/// What stands between a rule's match and its message. A match passes the gates in this order: `for`, `depends`,
/// silences, `quiet`, `once_per`, `digest`, `limit`.
public struct Gates: Sendable {
    /// `for`: the match must stay true this long; zero for at once.
    public var hold: Duration = .zero
    /// Sources whose failure keeps the rule silent.
    public var depends: [String] = []
    public var quiet: Quiet?
    /// `once_per`: a field of the item, each value of which is spoken of once.
    public var oncePer: String?
    public var digest: DigestPlan?
    public var limit: Limit?
    public var remind: Reminder?
    /// In the order of `after`.
    public var escalate: [Escalation] = []

    public init() {}
}

/// When not to disturb.
public struct Quiet: Sendable {
    public enum Then: String, Sendable, CaseIterable {
        /// Nobody hears of it.
        case drop
        /// Said when the quiet time ends, if it is still so.
        case `defer`
        /// Said with all the others when the quiet time ends.
        case digest
    }

    public var windows: [CivilWindow]
    public var then: Then

    public init(windows: [CivilWindow], then: Then) { (self.windows, self.then) = (windows, then) }
}

/// At most so many messages in a sliding window. What is held back ends in one message with the latest state.
public struct Limit: Sendable, Hashable {
    public var count: Int
    public var per: Duration
    public var by: Grouping

    public init(count: Int, per: Duration, by: Grouping = .item) { (self.count, self.per, self.by) = (count, per, by) }
}

/// What counts together.
public enum Grouping: Sendable, Hashable {
    case rule
    case item
    /// A field of the item, by its value.
    case field(String)
}

/// Several events in one message.
public struct DigestPlan: Sendable, Hashable {
    public enum Release: Sendable, Hashable {
        /// So long after the first.
        case every(Duration)
        /// At that time of day.
        case at(CivilTimeOfDay)
    }

    public var release: Release
    public var by: Grouping

    public init(release: Release, by: Grouping = .rule) { (self.release, self.by) = (release, by) }
}

/// Says it again while it is so.
public struct Reminder: Sendable {
    public var every: Duration
    /// Ends it: values of the rule's field. Without any it ends when the match is no longer true.
    public var until: [String]

    public init(every: Duration, until: [String] = []) { (self.every, self.until) = (every, until) }
}

/// Who else hears of it when it is still so after a while.
public struct Escalation: Sendable {
    public var after: Duration
    public var notify: [Rule.NotificationTarget]

    public init(after: Duration, notify: [Rule.NotificationTarget]) { (self.after, self.notify) = (after, notify) }
}

/// A time on both clocks: intervals run on the one that never jumps, windows and silences on the wall clock.
public struct RuleTime: Sendable, Hashable {
    /// The wall time of the start and what the boot-time clock has counted since.
    public var steady: Timestamp
    public var wall: Timestamp

    public init(steady: Timestamp, wall: Timestamp) { (self.steady, self.wall) = (steady, wall) }
}
