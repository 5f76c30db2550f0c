// SPDX-License-Identifier: Apache-2.0

/// A recurrence rule (RFC 5545 §3.3.10) as it is written.
struct ICalendarRule {
    enum Frequency: String {
        case secondly = "SECONDLY"
        case minutely = "MINUTELY"
        case hourly = "HOURLY"
        case daily = "DAILY"
        case weekly = "WEEKLY"
        case monthly = "MONTHLY"
        case yearly = "YEARLY"

        /// Its length in seconds; nil for one that is longer than a day.
        var seconds: Int? {
            switch self {
            case .secondly: 1
            case .minutely: 60
            case .hourly: 3600
            case .daily: 86_400
            case .weekly, .monthly, .yearly: nil
            }
        }
    }

    /// A value of `BYDAY`.
    struct Weekday: Hashable {
        /// From Monday as 0.
        let day: Int
        /// Which one of its month or year: from 1, from -1 backwards, 0 for each.
        let ordinal: Int
    }

    let frequency: Frequency
    let interval: Int
    /// Dates in all, the first one included; nil for no such bound.
    let count: Int?
    let until: ICalendarTime?
    /// The parts `BYMONTH`, `BYWEEKNO`, `BYYEARDAY`, `BYMONTHDAY` and `BYDAY`; an absent one is empty.
    var months: [Int]
    let weekNumbers: [Int]
    let yearDays: [Int]
    var monthDays: [Int]
    var weekdays: [Weekday]
    /// The parts `BYHOUR`, `BYMINUTE`, `BYSECOND` and `BYSETPOS`, in order.
    let hours: [Int]
    let minutes: [Int]
    let seconds: [Int]
    let positions: [Int]
    /// The day on which weeks begin, from Monday as 0.
    let weekStart: Int

    private static let weekdayNames = ["MO", "TU", "WE", "TH", "FR", "SA", "SU"]
    private static let maximumInterval = 100_000_000

    /// - Returns: nil for a rule that is not read: one that breaks the grammar, and one by another calendar (RFC 7529).
    init?(_ value: String) {
        guard value.utf8.count <= 4096, var parts = ICalendarRule.parts(value),
            let frequency = parts.removeValue(forKey: "FREQ").flatMap({ Frequency(rawValue: String($0)) })
        else { return nil }
        func numbers(_ name: Substring, _ range: ClosedRange<Int>) -> [Int]? {
            guard let text = parts.removeValue(forKey: name) else { return [] }
            let numbers = text.split(separator: ",").map { Int($0) }
            // Of a list that counts from the end, too, 0 is no value.
            guard numbers.allSatisfy({ $0.map { range.contains($0) && ($0 != 0 || range.lowerBound == 0) } ?? false })
            else { return nil }
            return Set(numbers.compactMap { $0 }).sorted()
        }
        guard let intervals = numbers("INTERVAL", 1...ICalendarRule.maximumInterval),
            let counts = numbers("COUNT", 1...(.max)),
            let months = numbers("BYMONTH", 1...12), let weekNumbers = numbers("BYWEEKNO", -53...53),
            let yearDays = numbers("BYYEARDAY", -366...366), let monthDays = numbers("BYMONTHDAY", -31...31),
            let hours = numbers("BYHOUR", 0...23), let minutes = numbers("BYMINUTE", 0...59),
            let seconds = numbers("BYSECOND", 0...60), let positions = numbers("BYSETPOS", -366...366),
            intervals.count <= 1, counts.count <= 1
        else { return nil }
        var weekdays: [Weekday] = []
        for text in parts.removeValue(forKey: "BYDAY")?.split(separator: ",") ?? [] {
            let number = text.dropLast(2)
            guard let day = ICalendarRule.weekdayNames.firstIndex(of: String(text.suffix(2))),
                let ordinal = number.isEmpty ? 0 : Int(number), (-53...53).contains(ordinal),
                number.isEmpty || ordinal != 0
            else { return nil }
            weekdays.append(Weekday(day: day, ordinal: ordinal))
        }
        let end = parts.removeValue(forKey: "UNTIL")
        let start = parts.removeValue(forKey: "WKST").map { ICalendarRule.weekdayNames.firstIndex(of: String($0)) } ?? 0
        until = end.flatMap { ICalendarTime($0) }
        guard let start, (end == nil) == (until == nil), parts.keys.allSatisfy({ $0.hasPrefix("X-") }) else {
            return nil
        }
        (self.frequency, interval, count, weekStart) = (frequency, intervals.first ?? 1, counts.first, start)
        (self.months, self.weekNumbers, self.yearDays, self.monthDays) = (months, weekNumbers, yearDays, monthDays)
        (self.hours, self.minutes, self.positions, self.weekdays) = (hours, minutes, positions, weekdays)
        // Second 60 is a leap second, which is read as the one before it.
        self.seconds = Set(seconds.map { min($0, 59) }).sorted()
    }

    private static func parts(_ value: String) -> [Substring: Substring]? {
        var parts: [Substring: Substring] = [:]
        for part in value.uppercased().split(separator: ";") {
            let pair = part.split(separator: "=", maxSplits: 1)
            guard pair.count == 2, parts.updateValue(pair[1], forKey: pair[0]) == nil else { return nil }
        }
        return parts
    }

    /// Whether the dates are at most one for each day, as far as the rule tells.
    var isDaily: Bool {
        frequency.seconds ?? 86_400 == 86_400 && hours.isEmpty && minutes.isEmpty && seconds.isEmpty
    }

    /// Whether a part chooses days.
    var choosesDays: Bool { ![weekNumbers, yearDays, monthDays].allSatisfy(\.isEmpty) || !weekdays.isEmpty }

    /// Whether it fits the definition of a time zone: yearly, with few dates in a year.
    var isForZone: Bool {
        let other = [weekNumbers, yearDays, hours, minutes, seconds, positions]
        return frequency == .yearly && other.allSatisfy(\.isEmpty) && max(monthDays.count, weekdays.count) <= 12
    }

    /// Whether `BYMONTHDAY` has days that none of the months has, such as the 31st of April.
    var isImpossible: Bool {
        !monthDays.isEmpty
            && (months.isEmpty ? Array(1...12) : months).allSatisfy { month in
                // The year 2000 is a leap year.
                monthDays.allSatisfy { abs($0) > Gregorian.length(2000, month) }
            }
    }

    /// Returns the end of the rule by the clocks of its first date; nil for none.
    /// - Parameter civil: converts a time of UTC to these clocks.
    func last(for first: ICalendarTime, _ civil: (Int) -> Int) -> Int? {
        guard let until else { return nil }
        if until.isDate { return first.isDate ? until.civil : until.civil + 86_399 }
        let end = until.zone == .utc ? civil(until.civil) : until.civil
        return first.isDate ? end.floored(86_400) * 86_400 : end
    }
}
