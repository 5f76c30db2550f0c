// SPDX-License-Identifier: Apache-2.0

/// A time of day, in minutes since midnight.
public struct CivilTimeOfDay: Sendable, Hashable, Comparable {
    /// Minutes since midnight, 0…1440; 1440 is the next day's midnight.
    public var minutes: Int
    /// A tz database name; nil for the machine's own zone.
    public var zone: String?

    /// Creates a time of day.
    /// - Parameter minutes: 0…1440.
    public init(minutes: Int, zone: String? = nil) { (self.minutes, self.zone) = (minutes, zone) }

    /// Reads `7:30`, `07:30` and `24:00`; returns nil for anything else.
    public init?(_ text: String, zone: String? = nil) {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2, parts[1].utf8.count == 2, (1...2).contains(parts[0].utf8.count),
            parts.allSatisfy({ $0.allSatisfy { $0.isASCII && $0.isNumber } }), let hour = Int(parts[0]),
            let minute = Int(parts[1]), minute < 60, hour < 24 || (hour == 24 && minute == 0)
        else { return nil }
        self.init(minutes: hour * 60 + minute, zone: zone)
    }

    /// Orders times within one day, whatever their zones.
    public static func < (a: CivilTimeOfDay, b: CivilTimeOfDay) -> Bool { a.minutes < b.minutes }

    /// Returns the first time after `now` at which local clocks show this time of day.
    /// - Parameter days: the days of the week, 1 for Monday to 7 for Sunday; empty for all.
    public func next(after now: Timestamp, days: Set<Int> = [], _ civil: any CivilTime) -> Timestamp {
        let today = CivilDay(now, zone, civil)
        for distance in -1...8 {
            let day = today.advanced(by: Int64(distance))
            let time = day.instant(minutes, zone, civil)
            if time > now, days.isEmpty || days.contains(day.weekday) { return time }
        }
        return today.advanced(by: 9).instant(minutes, zone, civil)
    }
}
