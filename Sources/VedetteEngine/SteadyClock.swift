// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// The time base of rules and deliveries: the wall time at the start plus the time since then on the boot-time clock, which
/// never jumps. It converts between that and stored wall times.
struct SteadyClock: Sendable {
    private let offset: Int64

    /// - Parameter start: when both clocks are taken to agree.
    init(_ start: Moment) { offset = start.wallOffset }

    /// Returns the moment with steady time in place of wall time.
    func moment(_ now: Moment) -> Moment {
        Moment(wall: Timestamp(milliseconds: now.boot.milliseconds.addingClamped(offset)), boot: now.boot)
    }

    /// Returns both times that rules need.
    func ruleTime(_ now: Moment) -> RuleTime { RuleTime(steady: moment(now).wall, wall: now.wall) }

    /// Returns the boot time of a steady time.
    func boot(_ steady: Timestamp) -> BootTime {
        BootTime(milliseconds: steady.milliseconds.addingClamped(-offset))
    }

    /// How far the wall clock was set since the start.
    private func jump(_ now: Moment) -> Duration {
        .milliseconds(now.wall.milliseconds.addingClamped(-moment(now).wall.milliseconds))
    }

    /// Converts a delivery that was committed just now to steady time.
    func steady(_ delivery: Delivery, _ now: Moment) -> Delivery {
        var delivery = delivery
        delivery.due = delivery.due.advanced(by: .zero - jump(now))
        delivery.created = delivery.created.advanced(by: .zero - jump(now))
        return delivery
    }

    /// Converts a delivery that was stored before or after the clock was set, which is unknown: it becomes as due and as
    /// young as it can be, since an attempt too early and one more do no harm. One that is created in the future was stored
    /// by a clock that was ahead, by as much at least; it must not hold up its lane for that long.
    func restored(_ delivery: Delivery, _ now: Moment) -> Delivery {
        let (steadyNow, moved) = (moment(now), steady(delivery, now))
        var delivery = delivery
        let created = min(delivery.created, moved.created)
        let ahead = max(0, created.milliseconds.addingClamped(-steadyNow.wall.milliseconds))
        let due = min(delivery.due, moved.due).advanced(by: .milliseconds(-ahead))
        delivery.due = steadyNow.wall(at: steadyNow.boot(at: due, most: RetryPolicy.longest))
        delivery.created = min(steadyNow.wall, max(delivery.created, moved.created))
        return delivery
    }

    /// Converts an attempt to wall time, for storing.
    func stored(_ attempt: Attempt, _ now: Moment) -> Attempt {
        var attempt = attempt
        attempt.due = attempt.due.advanced(by: jump(now))
        attempt.at = now.wall
        return attempt
    }
}

extension Moment {
    /// The wall clock's lead over the boot-time clock, in milliseconds.
    var wallOffset: Int64 { wall.milliseconds.addingClamped(-boot.milliseconds) }
}
