// SPDX-License-Identifier: Apache-2.0

/// How late the polls of the last ten to twenty minutes started after they were due. Older polls do not count, so that the
/// figure shows how the watcher does now.
public struct PollLateness: Sendable, Hashable {
    /// The length of each of the two periods that count.
    static let period = Duration.seconds(600)
    /// A report that is older than this tells nothing of now.
    public static let longestAge = period * 2

    private var previous = Histogram(bounds: HistogramBounds.lateness)
    private var current = Histogram(bounds: HistogramBounds.lateness)
    private var periodEnd: BootTime?

    public init() {}

    /// Counts a poll that starts now.
    public mutating func add(_ lateness: Duration, at now: BootTime) {
        startPeriod(at: now)
        current.record(lateness.inSeconds)
    }

    /// Returns the 99th percentile; nil when no poll started lately.
    public mutating func report(at now: Moment) -> Report? {
        startPeriod(at: now.boot)
        var both = previous
        both.add(current)
        guard let p99 = both.quantile(0.99) else { return nil }
        return Report(p99: p99, polls: both.count, at: now.wall)
    }

    private mutating func startPeriod(at now: BootTime) {
        if let end = periodEnd {
            guard now >= end else { return }
            let isNext = now < end.advanced(by: PollLateness.period)
            previous = isNext ? current : Histogram(bounds: HistogramBounds.lateness)
            current = Histogram(bounds: HistogramBounds.lateness)
        }
        periodEnd = now.advanced(by: PollLateness.period)
    }

    /// A summary, as the journal keeps it for `status`.
    public struct Report: Sendable, Hashable {
        /// Seconds that 99 % of the polls did not exceed: the bound of a bucket.
        public var p99: Double
        /// The number of polls.
        public var polls: Int
        /// When it was made.
        public var at: Timestamp

        /// Polls that start later than this are a sign of too much work, in seconds.
        private static let longest = 1.0

        /// Whether the polls start too late.
        public var isLate: Bool { p99 > Self.longest }

        public init(p99: Double, polls: Int, at: Timestamp) { (self.p99, self.polls, self.at) = (p99, polls, at) }
    }
}

extension PollLateness.Report {
    private static let namePrefix = "/lateness/"

    private static let p99Name = "p99"

    /// Returns the name of a watcher's record in the journal. No source has such a name.
    /// - Parameter watcher: its name; empty where it has the journal for itself.
    public static func recordName(of watcher: String) -> String { namePrefix + watcher }

    /// Returns the name of the watcher that a record is of; nil for the record of a source or sink.
    public static func watcher(ofRecord name: String) -> String? {
        name.hasPrefix(namePrefix) ? String(name.dropFirst(namePrefix.count)) : nil
    }

    /// Reads a record; nil for that of a source.
    public init?(_ record: SourceRecord) {
        guard Self.watcher(ofRecord: record.name) != nil, let head = record.snapshot,
            let p99 = head.states[Self.p99Name]
        else { return nil }
        self.init(p99: Double(p99) / 1000, polls: head.count, at: head.goodAt)
    }

    /// Returns the record to store.
    public func record(of watcher: String) -> SourceRecord {
        var head = SnapshotHead(identity: 0, fingerprints: [:], goodAt: at)
        (head.count, head.states) = (polls, [Self.p99Name: Int(p99 * 1000)])
        var record = SourceRecord(name: Self.recordName(of: watcher))
        (record.snapshot, record.health.lastPollAt) = (head, at)
        return record
    }
}
