// SPDX-License-Identifier: Apache-2.0

/// How often a source is polled.
public struct PollInterval: Sendable, Hashable {
    /// The interval of a kind that names none.
    public static let usual = Duration.seconds(60)
    /// The shortest interval that a configuration may ask for.
    public static let shortest = Duration.milliseconds(100)

    /// The interval between polls.
    public var every: Duration
    /// Whether the user wrote it; then the server's freshness does not change it.
    public var isExplicit: Bool
    /// States that change the interval to `whileEvery` while any item is in one of them.
    public var whileStates: [String]
    /// The interval while any item is in one of `whileStates`; nil for none.
    public var whileEvery: Duration?
    /// When it is polled by the calendar; nil for at the interval, at any time.
    public var calendar: PollCalendar?

    /// Creates an interval.
    public init(every: Duration, isExplicit: Bool = true, whileStates: [String] = [], whileEvery: Duration? = nil) {
        (self.every, self.isExplicit) = (every, isExplicit)
        (self.whileStates, self.whileEvery) = (whileStates, whileEvery)
    }

    /// A digest of all that due times are computed from, the same in each process.
    public var digest: UInt64 {
        var digest = StableHash()
        digest.add("\(every.wholeMilliseconds) \(isExplicit) \(whileEvery?.wholeMilliseconds ?? 0)")
        for state in whileStates { digest.add(state) }
        if let calendar { digest.add(calendar.description) }
        return digest.value
    }
}
