// SPDX-License-Identifier: Apache-2.0
import CIcal
import Glibc

/// A recurrence rule (RFC 5545 §3.3.10). libical finds its dates, within bounds that are kept here: a rule that no date fits, such as
/// the 30th of February, keeps libical searching to the year 2582.
struct ICalendarRule {
    private enum Frequency: String {
        case minutely = "MINUTELY", hourly = "HOURLY"
        case daily = "DAILY", weekly = "WEEKLY", monthly = "MONTHLY", yearly = "YEARLY"

        /// Its length in seconds, where it has a fixed one that is shorter than a day.
        var seconds: Int? {
            switch self {
            case .minutely: 60
            case .hourly: 3600
            case .daily, .weekly, .monthly, .yearly: nil
            }
        }
    }

    /// Dates of a range, at most: more than are read of a series, since a range begins before what is not over.
    private static let maximumDates = 5 * ICalendarSeries.maximumDates

    private let frequency: Frequency
    private let interval: Int
    /// Dates in all, the first one included; nil for no such bound.
    private let count: Int?
    private let until: ICalendarTime?
    /// The rule without its end.
    private let text: String
    private let parts: [String: String]

    /// - Returns: nil for a rule that is not read: one that breaks the grammar, one by another calendar (RFC 7529), one by
    ///   the second, and one by the hour or minute that selects among them.
    init?(_ value: String) {
        var (parts, kept) = ([String: String](), [String]())
        guard value.utf8.count <= 4096 else { return nil }
        for part in value.uppercased().split(separator: ";") {
            let pair = part.split(separator: "=", maxSplits: 1).map(String.init)
            guard pair.count == 2, parts.updateValue(pair[1], forKey: pair[0]) == nil,
                part.utf8.allSatisfy({ $0.isLetter || $0.isDigit || "=,+-".utf8.contains($0) })
            else { return nil }
            if pair[0] != "UNTIL" { kept.append(String(part)) }
        }
        guard let frequency = parts["FREQ"].flatMap(Frequency.init), parts["RSCALE"] == nil else { return nil }
        let selects = parts.keys.contains { $0.hasPrefix("BY") }
        if frequency.seconds != nil, selects { return nil }
        until = parts["UNTIL"].flatMap { ICalendarTime($0) }
        if parts["UNTIL"] != nil, until == nil { return nil }
        count = parts["COUNT"].flatMap { Int($0) }
        if parts["COUNT"] != nil, (count ?? 0) < 1 { return nil }
        interval = parts["INTERVAL"].flatMap { Int($0) } ?? 1
        guard (1...32_767).contains(interval) else { return nil }
        (self.frequency, self.parts, text) = (frequency, parts, kept.joined(separator: ";"))
    }

    /// Whether the dates are at most one for each day, as far as the rule tells.
    var isDaily: Bool {
        frequency.seconds == nil && ["BYHOUR", "BYMINUTE", "BYSECOND"].allSatisfy { parts[$0] == nil }
    }

    /// Whether it fits the definition of a time zone: yearly, with few dates in a year.
    var isForZone: Bool {
        let known: Set<String> = ["FREQ", "UNTIL", "COUNT", "INTERVAL", "BYMONTH", "BYMONTHDAY", "BYDAY", "WKST"]
        return frequency == .yearly && Set(parts.keys).isSubset(of: known)
            && parts.values.allSatisfy { $0.split(separator: ",").count <= 12 }
    }

    /// Returns dates by the clocks of the first one, in order.
    /// - Parameters:
    ///   - range: seconds of the same clocks.
    ///   - behind: how many dates behind the range are returned as well.
    ///   - last: the end of the rule by the same clocks; nil for none.
    func dates(
        from first: ICalendarTime, in range: ClosedRange<Int>, behind: Int, until last: Int?,
        _ budget: inout ICalendarBudget
    ) throws(DocumentError) -> [Int] {
        if let last, last < range.lowerBound { return [] }
        if let seconds = frequency.seconds {
            return first.isDate
                ? [] : steps(from: first.civil, by: seconds * interval, in: range, behind: behind, until: last)
        }
        guard let iterator = ci_iterator(text, ICalendarRule.time(first)) else { return [] }
        defer { icalrecur_iterator_free(iterator) }
        if count == nil, range.lowerBound > first.civil {
            let start = ICalendarTime(civil: range.lowerBound, isDate: first.isDate, zone: .floating)
            icalrecur_iterator_set_start(iterator, ICalendarRule.time(start))
        }
        var (found, more) = ([Int](), behind)
        while found.count < ICalendarRule.maximumDates + behind, more > 0 {
            try budget.check()
            let next = icalrecur_iterator_next(iterator)
            guard icaltime_is_null_time(next) == 0 else { break }
            let civil = ICalendarRule.civil(next)
            if let last, civil > last { break }
            if civil >= range.lowerBound { found.append(civil) }
            if civil > range.upperBound { more -= 1 }
        }
        return found
    }

    /// Returns the end of the rule by the clocks of its first date; nil for none.
    func last(for first: ICalendarTime, _ zones: ICalendarZones) -> Int? {
        guard let until else { return nil }
        if until.isDate { return first.isDate ? until.civil : until.civil + 86_399 }
        let civil = until.zone == .utc ? zones.civil(at: until.civil, in: first.zone) : until.civil
        return first.isDate ? civil - ((civil % 86_400) + 86_400) % 86_400 : civil
    }

    private func steps(
        from first: Int, by step: Int, in range: ClosedRange<Int>, behind: Int, until last: Int?
    ) -> [Int] {
        var (found, more) = ([Int](), behind)
        var index = max(0, (range.lowerBound - first + step - 1) / step)
        while found.count < ICalendarRule.maximumDates + behind, more > 0, count.map({ index < $0 }) ?? true {
            let civil = first + index * step
            if let last, civil > last { break }
            found.append(civil)
            if civil > range.upperBound { more -= 1 }
            index += 1
        }
        return found
    }

    private static func time(_ time: ICalendarTime) -> icaltimetype {
        let fields = ICalendarTime.fields(time.civil)
        var result = icaltime_null_time()
        (result.year, result.month, result.day) = (fields.tm_year + 1900, fields.tm_mon + 1, fields.tm_mday)
        if time.isDate {
            result.is_date = 1
        } else {
            (result.hour, result.minute, result.second) = (fields.tm_hour, fields.tm_min, fields.tm_sec)
        }
        return result
    }

    private static func civil(_ time: icaltimetype) -> Int {
        var fields = tm()
        (fields.tm_year, fields.tm_mon, fields.tm_mday) = (time.year - 1900, time.month - 1, time.day)
        if time.is_date == 0 { (fields.tm_hour, fields.tm_min, fields.tm_sec) = (time.hour, time.minute, time.second) }
        return timegm(&fields)
    }
}
