// SPDX-License-Identifier: Apache-2.0

/// How long things are kept.
public struct Retention: Sendable, Hashable {
    /// How long events are kept unless `retain` says otherwise.
    public static let events = Duration.seconds(30 * 86_400)
    /// Size in bytes above which a journal loses younger events, unless `retain` says otherwise.
    public static let journalBytes: Int64 = 1_000_000_000
    /// Events that are younger stay, however large the journal is.
    public static let youngest = Duration.seconds(3600)
    /// Failed attempts of each delivery that are kept, the newest.
    public static let attempts = 32
    /// How long a source that is configured no longer is kept with its items, counted from its last poll.
    public static let removedSources = Duration.seconds(7 * 86_400)

    /// Events older than this are deleted, unless a delivery that is kept names them; so are deliveries that ended before it.
    public var eventsBefore: Timestamp
    /// The most ended deliveries that are kept, the newest, whatever their age.
    public var endedDeliveries = 500_000
    /// The sources of the configuration. Others that were last polled before `sourcesBefore` are deleted with their items.
    public var sources: Set<String>
    /// See `sources`. Reports of how late polls start are deleted when they are older.
    public var sourcesBefore: Timestamp
    /// The sinks of the configuration. Of others that stopped before `sourcesBefore` it is forgotten that they did.
    public var sinks: Set<String>

    public init(
        eventsBefore: Timestamp, sources: Set<String>, sinks: Set<String> = [], sourcesBefore: Timestamp
    ) {
        (self.eventsBefore, self.sources) = (eventsBefore, sources)
        (self.sinks, self.sourcesBefore) = (sinks, sourcesBefore)
    }

    /// Returns the age to prune at next while the journal is larger than it may be; nil when no younger events may go.
    public static func nextAge(after age: Duration) -> Duration? { age > youngest ? max(age / 2, youngest) : nil }
}
