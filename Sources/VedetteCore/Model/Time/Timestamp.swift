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
