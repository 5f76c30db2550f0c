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

    /// A summary, which the journal keeps for `status`.
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
