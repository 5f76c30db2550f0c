// SPDX-License-Identifier: Apache-2.0

/// A span of the day, on some days. `22:00-07:00` ends on the next morning.
public struct CivilWindow: Sendable, Hashable {
    /// The name under `windows:` in the configuration.
    public var name: String
    /// The first moment inside the window.
    public var start: CivilTimeOfDay
    /// The first moment after the window; not later than `start` when it ends on the next day.
    public var end: CivilTimeOfDay
    /// The days on which it starts, 1 for Monday to 7 for Sunday (ISO 8601); empty for all.
    public var days: Set<Int>
    /// `repeat`: the days on which it starts, counted from 1970-01-01 and in order; nil for all.
    public var dates: [Int]?
    /// The first moment of all; nil for none.
    public var from: CivilMoment?
    /// The first moment after all; nil for none.
    public var until: CivilMoment?
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
        let last = until?.instant(zone, civil)
        if let first = from?.instant(zone, civil), now < first { return nil }
        if let last, last <= now { return nil }
        if isUnbroken { return last }
        let today = CivilDay(now, zone, civil)
        var latest: Timestamp?
        for day in [today.advanced(by: -1), today] where isStart(day) {
            let from = day.instant(start.minutes, zone, civil)
            let until = (end <= start ? day.advanced(by: 1) : day).instant(end.minutes, zone, civil)
            if from <= now, now < until { latest = max(latest ?? until, until) }
        }
        return latest.map { min($0, last ?? $0) }
    }

    /// Returns when the window starts next; nil for never again.
    public func start(after now: Timestamp, _ civil: any CivilTime) -> Timestamp? {
        let first = from?.instant(zone, civil)
        if let first, now < first, end(of: first, civil) != nil { return first }
        guard !isUnbroken else { return nil }
        let base = max(now, first ?? now)
        func time(_ day: CivilDay) -> Timestamp? {
            let time = day.instant(start.minutes, zone, civil)
            return time > base && isStart(day) ? time : nil
        }
        let next =
            if let dates {
                dates.lazy.compactMap { time(CivilDay(number: Int64($0))) }.first
            } else {
                CivilTimeOfDay(minutes: start.minutes, zone: zone).next(after: base, days: days, civil)
            }
        return next.flatMap { next in until.map { next < $0.instant(zone, civil) } ?? true ? next : nil }
    }

    private func isStart(_ day: CivilDay) -> Bool {
        (days.isEmpty || days.contains(day.weekday)) && dates?.contains(Int(day.number)) != false
    }

    /// Whether it is one span from `from` to `until`.
    private var isUnbroken: Bool {
        until != nil && days.isEmpty && dates == nil && start.minutes == 0 && end.minutes == 1440
    }
}

/// A day and a time of it, by the clocks of a window.
public struct CivilMoment: Sendable, Hashable, Comparable {
    /// Counted from 1970-01-01.
    public let day: Int
    /// Since midnight.
    public let minutes: Int

    /// Reads `2026-12-24` and `2026-12-24 18:00`; returns nil for anything else.
    public init?(_ text: String) {
        let parts = text.split(separator: " ", omittingEmptySubsequences: false)
        let numbers = parts.first?.split(separator: "-", omittingEmptySubsequences: false).map { Int($0) } ?? []
        guard (1...2).contains(parts.count), parts[0].utf8.count == 10, numbers.count == 3, let year = numbers[0],
            let month = numbers[1], let day = numbers[2],
            let date = CivilDate(year: year, month: month, day: day).timestamp,
            let clock = parts.count == 1 ? CivilTimeOfDay(minutes: 0) : CivilTimeOfDay(String(parts[1]))
        else { return nil }
        (self.day, minutes) = (Int(date.milliseconds / 86_400_000), clock.minutes)
    }

    /// Orders moments of one zone.
    public static func < (a: CivilMoment, b: CivilMoment) -> Bool { (a.day, a.minutes) < (b.day, b.minutes) }

    func instant(_ zone: String?, _ civil: any CivilTime) -> Timestamp {
        CivilDay(number: Int64(day)).instant(minutes, zone, civil)
    }
}

/// Finds the days of a recurrence rule (RFC 5545 §3.3.10), counted from 1970-01-01: its text, the day from which it counts,
/// and the last day that is asked for. Returns nil for a rule that cannot be read, or that has several times in a day.
public typealias RecurrenceReader = @Sendable (_ rule: String, _ from: Int, _ through: Int) -> [Int]?

/// A local calendar day, counted from 1970-01-01.
struct CivilDay {
    let number: Int64
    private static let length: Int64 = 86_400_000

    init(_ time: Timestamp, _ zone: String?, _ civil: any CivilTime) {
        let local = time.milliseconds + Int64(civil.offset(at: time, in: zone)) * 1000
        number = (local - ((local % CivilDay.length) + CivilDay.length) % CivilDay.length) / CivilDay.length
    }

    init(number: Int64) { self.number = number }

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
