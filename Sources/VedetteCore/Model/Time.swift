// SPDX-License-Identifier: Apache-2.0

/// A point of wall-clock time: milliseconds since 1970-01-01T00:00:00Z.
public struct Timestamp: Sendable, Hashable, Comparable {
    /// Milliseconds since 1970-01-01T00:00:00Z.
    public var milliseconds: Int64

    /// Creates a time.
    public init(milliseconds: Int64) { self.milliseconds = milliseconds }

    /// Orders times.
    public static func < (a: Timestamp, b: Timestamp) -> Bool { a.milliseconds < b.milliseconds }

    /// Returns the seconds from `earlier` to this time; negative when `earlier` is later.
    public func seconds(since earlier: Timestamp) -> Double {
        Double(milliseconds - earlier.milliseconds) / 1000
    }

    /// Returns this time plus a duration, saturating.
    public func advanced(by duration: Duration) -> Timestamp {
        Timestamp(milliseconds: milliseconds.addingClamped(duration.wholeMilliseconds))
    }
}

/// A point on the boot-time clock: milliseconds since boot, including suspend. It never jumps, so all intervals (polls,
/// backoff) are measured on it.
public struct BootTime: Sendable, Hashable, Comparable {
    /// Milliseconds since boot.
    public var milliseconds: Int64

    /// Creates a time.
    public init(milliseconds: Int64) { self.milliseconds = milliseconds }

    /// Orders times.
    public static func < (a: BootTime, b: BootTime) -> Bool { a.milliseconds < b.milliseconds }

    /// Returns this time plus a duration, saturating.
    public func advanced(by duration: Duration) -> BootTime {
        BootTime(milliseconds: milliseconds.addingClamped(duration.wholeMilliseconds))
    }

    /// Returns the time from `earlier` to this time; negative when `earlier` is later.
    public func duration(since earlier: BootTime) -> Duration {
        .milliseconds(milliseconds - earlier.milliseconds)
    }
}

/// The current time on both clocks, read together and passed to every decision.
public struct Moment: Sendable, Hashable {
    /// The wall clock, which a person or NTP may set.
    public var wall: Timestamp
    /// The boot-time clock, which never jumps.
    public var boot: BootTime

    /// Creates a moment.
    public init(wall: Timestamp, boot: BootTime) {
        self.wall = wall
        self.boot = boot
    }

    /// Returns a deadline as wall time, the form in which deadlines are stored. It is right as long as the wall clock does
    /// not jump.
    public func wall(at deadline: BootTime) -> Timestamp {
        Timestamp(milliseconds: wall.milliseconds.addingClamped(deadline.milliseconds - boot.milliseconds))
    }

    /// Returns a stored deadline as boot time, at most `most` from now and not in the past, since the wall clock may have
    /// jumped meanwhile.
    public func boot(at stored: Timestamp, most: Duration) -> BootTime {
        let left = stored.milliseconds.addingClamped(-wall.milliseconds)
        return BootTime(milliseconds: boot.milliseconds + min(max(left, 0), most.wholeMilliseconds))
    }
}

extension Duration {
    /// Whole milliseconds, rounded towards zero and saturating.
    public var wholeMilliseconds: Int64 {
        let (seconds, attoseconds) = components
        let (high, overflow) = seconds.multipliedReportingOverflow(by: 1000)
        if overflow { return seconds < 0 ? .min : .max }
        return high.addingClamped(attoseconds / 1_000_000_000_000_000)
    }

    /// Seconds, with a resolution of milliseconds.
    public var inSeconds: Double { Double(wholeMilliseconds) / 1000 }
}

extension Int64 {
    /// Returns the sum, or the nearest value in case of overflow.
    public func addingClamped(_ other: Int64) -> Int64 {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? (other < 0 ? .min : .max) : sum
    }
}
