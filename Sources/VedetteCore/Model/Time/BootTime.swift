// SPDX-License-Identifier: Apache-2.0

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
