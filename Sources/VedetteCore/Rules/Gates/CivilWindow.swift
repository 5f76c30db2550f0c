// SPDX-License-Identifier: Apache-2.0

/// A span of the day, on some days of the week. `22:00-07:00` ends on the next morning.
public struct CivilWindow: Sendable, Hashable {
    /// The name under `windows:` in the configuration.
    public var name: String
    /// The first moment inside the window.
    public var start: CivilTimeOfDay
    /// The first moment after the window; not later than `start` when it ends on the next day.
    public var end: CivilTimeOfDay
    /// The days on which it starts, 1 for Monday to 7 for Sunday (ISO 8601); empty for all.
    public var days: Set<Int>
    /// A tz database name; nil for the machine's own zone.
    public var zone: String?

    /// Creates a window.
    public init(
        name: String, start: CivilTimeOfDay, end: CivilTimeOfDay, days: Set<Int> = [], zone: String? = nil
    ) {
        (self.name, self.start, self.end, self.days, self.zone) = (name, start, end, days, zone)
    }

    /// Returns when the window that contains `now` ends, or nil when none does. The start is inside, the end is outside.
    ///
    /// Each window has one start and one end, so an hour that the clocks show twice (the end of summer time) does not
    /// open it again.
    public func end(of now: Timestamp, _ civil: any CivilTime) -> Timestamp? {
        let today = CivilDay(now, zone, civil)
        var latest: Timestamp?
        for day in [today.advanced(by: -1), today] where days.isEmpty || days.contains(day.weekday) {
            let from = day.instant(start.minutes, zone, civil)
            let until = (end <= start ? day.advanced(by: 1) : day).instant(end.minutes, zone, civil)
            if from <= now, now < until { latest = max(latest ?? until, until) }
        }
        return latest
    }

    /// Returns when the window starts next.
    public func start(after now: Timestamp, _ civil: any CivilTime) -> Timestamp? {
        CivilTimeOfDay(minutes: start.minutes, zone: zone).next(after: now, days: days, civil)
    }
}

/// A local calendar day, counted from 1970-01-01.
struct CivilDay {
    private let number: Int64
    private static let length: Int64 = 86_400_000

    init(_ time: Timestamp, _ zone: String?, _ civil: any CivilTime) {
        let local = time.milliseconds + Int64(civil.offset(at: time, in: zone)) * 1000
        number = (local - ((local % CivilDay.length) + CivilDay.length) % CivilDay.length) / CivilDay.length
    }

    private init(number: Int64) { self.number = number }

    func advanced(by days: Int64) -> CivilDay { CivilDay(number: number + days) }

    /// 1 for Monday to 7 for Sunday. 1970-01-01 was a Thursday.
    var weekday: Int { Int(((number + 3) % 7 + 7) % 7) + 1 }

    /// Returns when the clocks show that time: the first of two; for a time that they skip, as much later as they jump.
    func instant(_ minutes: Int, _ zone: String?, _ civil: any CivilTime) -> Timestamp {
        let shown = number * CivilDay.length + Int64(minutes) * 60_000
        func offset(_ distance: Int64) -> Int64 {
            let time = Timestamp(milliseconds: shown + distance)
            return Int64(civil.offset(at: time, in: zone)) * 1000
        }
        // No zone is a day or more from UTC, and none changes its clocks twice within two days.
        let (before, after) = (offset(-CivilDay.length), offset(CivilDay.length))
        let candidates = [before, after].map { Timestamp(milliseconds: shown - $0) }.sorted()
        let exact = candidates.first { time in
            time.milliseconds + Int64(civil.offset(at: time, in: zone)) * 1000 == shown
        }
        return exact ?? Timestamp(milliseconds: shown - before)
    }
}
