// SPDX-License-Identifier: Apache-2.0

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
