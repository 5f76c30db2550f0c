// SPDX-License-Identifier: Apache-2.0

/// The Gregorian calendar, as days since 1970-01-01.
enum Gregorian {
    /// The days after which dates and days of the week repeat: 400 years.
    static let cycle = 146_097

    /// - Parameter month: 1…12.
    /// - Parameter day: 1 for the first one; it may lie outside of the month.
    static func days(_ year: Int, _ month: Int, _ day: Int) -> Int {
        // Years begin in March, so that the leap day is a year's last day.
        let year = month <= 2 ? year - 1 : year
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        return 365 * year + year.floored(4) - year.floored(100) + year.floored(400) + dayOfYear - 719_468
    }

    static func date(_ days: Int) -> (year: Int, month: Int, day: Int) {
        let shifted = days + 719_468
        let era = shifted.floored(cycle)
        let dayOfEra = shifted - era * cycle
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        let day = dayOfYear - (153 * shiftedMonth + 2) / 5 + 1
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, day)
    }

    /// The number of days of a month.
    static func length(_ year: Int, _ month: Int) -> Int {
        switch month {
        case 4, 6, 9, 11: 30
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        default: 31
        }
    }

    /// The day of the week, from Monday as 0.
    static func weekday(_ days: Int) -> Int { days + 3 - 7 * (days + 3).floored(7) }
}

extension Int {
    /// The quotient, rounded down.
    func floored(_ divisor: Int) -> Int { (self >= 0 ? self : self - divisor + 1) / divisor }
}
