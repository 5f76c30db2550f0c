// SPDX-License-Identifier: Apache-2.0

/// The head of the last good observation.
public struct SnapshotHead: Sendable, Hashable {
    /// `Source.identity` when it was read.
    public var identity: UInt64
    /// The name under which `SourceKind.fingerprints` has the version of the reading.
    public static let everyField = "*"

    /// `SourceKind.fingerprints` when it was read.
    public var fingerprints: [String: UInt64]
    /// The validators of the response that it was read from.
    public var validators = Validators()
    /// The digest of the body as received; nil when the poll had several pages.
    public var digest: UInt64?
    /// The digest of the request that `validators` and `digest` belong to; they are not used with another request.
    public var asked: UInt64?
    /// When the last good poll ended.
    public var goodAt: Timestamp
    /// Items present, without those that are only remembered.
    public var count = 0
    /// Items of a list that were absent from one good poll. A second one makes them `disappeared`.
    public var pendingAbsences = 0
    /// Whether it was read as a list: also a window whose document says that it is complete.
    public var isWhole = false
    /// Whether it is a new baseline because every key had changed; reported once.
    public var hasOtherKeys = false
    /// The newest item time ever seen.
    public var newest: Timestamp?
    /// The oldest item time of the observation. An unknown item before it is old: it reappeared in the window.
    public var oldest: Timestamp?
    /// The oldest `Item.publication` of the observation, which may lie in the future.
    public var oldestPublication: Timestamp?
    /// Of a window that has undated items: in which order it shows them.
    public var order = WindowOrder()
    /// Entries of a window that were not announced because they lie before its old end; nil when there were none.
    public var unannounced: Unannounced?
    /// Values that key nothing, since several items of the source had them at once.
    public var sharedKeys = SharedKeys()
    /// Set while a list that turned empty, or became something else, awaits confirmation.
    public var emptiness: Emptiness?
    /// The number of present items by state, for `while` and `status`.
    public var states: [String: Int] = [:]
    /// The id with which a stream resumes behind what was read of it; nil for none.
    public var resume: String?
    /// `StreamSettings.resumeForm` when `resume` was read; nil where it was stored without one.
    public var resumeForm: UInt64?
    /// Whether it was read from a page of HTML with an end tag: a later one without it is cut.
    public var hasEndTag = false
    /// The decimal sign of fields whose values showed it.
    public var decimals = DecimalSigns()
    /// What its bodies were read with, as a path that leads into a list or a number that is ambiguous; nil for nothing.
    public var warning: String?

    /// Entries that were seen for the first time and taken for old.
    public struct Unannounced: Sendable, Hashable {
        /// How many there were since the baseline.
        public var count: Int
        /// The title of the last, or its key.
        public var last: String
        /// When the last was seen.
        public var at: Timestamp
        /// Whether the last had no date: then its place alone made it old.
        public var isUndated: Bool

        /// Creates a count.
        public init(count: Int, last: String, at: Timestamp, isUndated: Bool = false) {
            (self.count, self.last, self.at, self.isUndated) = (count, last, at, isUndated)
        }
    }

    /// The polls that found a list empty, or something else in its place.
    public struct Emptiness: Sendable, Hashable {
        /// Consecutive polls.
        public var polls: Int
        /// The time of the first of them.
        public var since: Timestamp
        /// Whether the last of them found something else; see `Page.doubt`.
        public var isReplaced = false

        /// Creates a count.
        public init(polls: Int, since: Timestamp, isReplaced: Bool = false) {
            (self.polls, self.since, self.isReplaced) = (polls, since, isReplaced)
        }

        /// What became of the list.
        public var summary: String {
            isReplaced ? "something else came in the place of the list" : "the list turned empty"
        }

        /// A person accepted what was read.
        public static let accepted = Emptiness(polls: .max / 2, since: Timestamp(milliseconds: 0))
    }

    /// Widens the times of the observation by the times of an item.
    mutating func note(_ time: Timestamp?, publication: Timestamp?) {
        if let publication { oldestPublication = min(oldestPublication ?? publication, publication) }
        guard let time else { return }
        newest = max(newest ?? time, time)
        oldest = min(oldest ?? time, time)
    }

    /// Creates the head of a snapshot without items.
    public init(identity: UInt64, fingerprints: [String: UInt64], goodAt: Timestamp) {
        (self.identity, self.fingerprints, self.goodAt) = (identity, fingerprints, goodAt)
    }
}
