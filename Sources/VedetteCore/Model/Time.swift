// SPDX-License-Identifier: Apache-2.0

/// A point of wall-clock time: milliseconds since 1970-01-01T00:00:00Z.
public struct Timestamp: Sendable, Hashable, Comparable {
    public var milliseconds: Int64

    public init(milliseconds: Int64) { self.milliseconds = milliseconds }

    public static func < (a: Timestamp, b: Timestamp) -> Bool { a.milliseconds < b.milliseconds }

    /// Seconds from `earlier` to this time; negative when `earlier` is later.
    public func seconds(since earlier: Timestamp) -> Double {
        Double(milliseconds - earlier.milliseconds) / 1000
    }

    public func advanced(by duration: Duration) -> Timestamp {
        Timestamp(milliseconds: milliseconds.addingClamped(duration.wholeMilliseconds))
    }
}

/// A point on the boot-time clock: milliseconds since boot, suspend included. It never jumps, so every interval
/// (polls, backoff) is measured on it.
public struct BootTime: Sendable, Hashable, Comparable {
    public var milliseconds: Int64

    public init(milliseconds: Int64) { self.milliseconds = milliseconds }

    public static func < (a: BootTime, b: BootTime) -> Bool { a.milliseconds < b.milliseconds }

    public func advanced(by duration: Duration) -> BootTime {
        BootTime(milliseconds: milliseconds.addingClamped(duration.wholeMilliseconds))
    }

    public func duration(since earlier: BootTime) -> Duration {
        .milliseconds(milliseconds - earlier.milliseconds)
    }
}

/// "Now" on both clocks, read together and passed to every decision.
public struct Moment: Sendable, Hashable {
    public var wall: Timestamp
    public var boot: BootTime

    public init(wall: Timestamp, boot: BootTime) {
        self.wall = wall
        self.boot = boot
    }

    /// The wall time at which the boot-time clock will show `deadline`, if the wall clock does not jump: the form in
    /// which deadlines are stored.
    public func wall(at deadline: BootTime) -> Timestamp {
        Timestamp(milliseconds: wall.milliseconds.addingClamped(deadline.milliseconds - boot.milliseconds))
    }

    /// A stored deadline as a boot time, clamped to 0…`most` from now, since the wall clock may have jumped meanwhile.
    public func boot(at stored: Timestamp, most: Duration) -> BootTime {
        let left = stored.milliseconds.addingClamped(-wall.milliseconds)
        return BootTime(milliseconds: boot.milliseconds + min(max(left, 0), most.wholeMilliseconds))
    }
}

extension Duration {
    /// Rounded towards zero, saturating.
    public var wholeMilliseconds: Int64 {
        let (seconds, attoseconds) = components
        let (high, overflow) = seconds.multipliedReportingOverflow(by: 1000)
        if overflow { return seconds < 0 ? .min : .max }
        return high.addingClamped(attoseconds / 1_000_000_000_000_000)
    }

    public var inSeconds: Double { Double(wholeMilliseconds) / 1000 }
}

extension Int64 {
    public func addingClamped(_ other: Int64) -> Int64 {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? (other < 0 ? .min : .max) : sum
    }
}
