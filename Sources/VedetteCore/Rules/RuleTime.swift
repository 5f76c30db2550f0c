// SPDX-License-Identifier: Apache-2.0

/// A time on both clocks. Intervals run on the steady clock, which never jumps; windows and silences on the wall clock.
public struct RuleTime: Sendable, Hashable {
    /// The wall time of the program's start plus the boot-time clock since then.
    public var steady: Timestamp
    /// The time that the wall clock shows.
    public var wall: Timestamp

    /// Creates a time.
    public init(steady: Timestamp, wall: Timestamp) { (self.steady, self.wall) = (steady, wall) }
}
