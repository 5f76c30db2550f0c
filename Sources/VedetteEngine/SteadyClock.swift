// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// The wall time that it would be if nobody had set the clock since the start: what waits for it waits on the boot-time
/// clock.
struct SteadyClock: Sendable {
    private let offset: Int64

    init(_ start: Moment) { offset = start.wall.milliseconds.addingClamped(-start.boot.milliseconds) }

    func moment(_ now: Moment) -> Moment {
        Moment(wall: Timestamp(milliseconds: now.boot.milliseconds.addingClamped(offset)), boot: now.boot)
    }

    /// How far the clock was set since the start.
    private func jump(_ now: Moment) -> Duration {
        .milliseconds(now.wall.milliseconds.addingClamped(-moment(now).wall.milliseconds))
    }

    /// Of a delivery that was committed just now.
    func taken(_ delivery: Delivery, _ now: Moment) -> Delivery {
        var delivery = delivery
        delivery.due = delivery.due.advanced(by: .zero - jump(now))
        delivery.created = delivery.created.advanced(by: .zero - jump(now))
        return delivery
    }

    /// Of a delivery that was stored before or after the clock was set, nobody knows which: as due as it can be and as
    /// young, for an attempt too early and one more do no harm.
    func restored(_ delivery: Delivery, _ now: Moment) -> Delivery {
        let (steady, moved) = (moment(now), taken(delivery, now))
        var delivery = delivery
        let due = min(delivery.due, moved.due)
        delivery.due = steady.wall(at: steady.boot(at: due, most: RetryPolicy.longest))
        delivery.created = min(steady.wall, max(delivery.created, moved.created))
        return delivery
    }

    /// As it is stored.
    func stored(_ attempt: Attempt, _ now: Moment) -> Attempt {
        var attempt = attempt
        attempt.due = attempt.due.advanced(by: jump(now))
        attempt.at = now.wall
        return attempt
    }
}
