// SPDX-License-Identifier: Apache-2.0
import Glibc

/// A date, or a date and time of day, as a calendar writes it: by the clocks of a place (RFC 5545 §3.3.4 and §3.3.5).
struct ICalendarTime: Hashable, Sendable {
    /// The zone whose clocks show the time.
    enum Zone: Hashable, Sendable {
        case utc
        /// The zone of the person who looks at it.
        case floating
        case named(String)
    }

    /// Seconds from 1970-01-01 00:00 to the date and time, as if it were UTC.
    var civil: Int
    var isDate: Bool
    var zone: Zone

    /// Reads the value of `DTSTART` and its relatives; nil when it is none.
    init?(_ property: ICalendarProperty) { self.init(property.value, zone: property.parameters["TZID"]) }

    /// - Parameter zone: the name of the zone, unless the text says that it is UTC; nil for none.
    init?(_ text: some StringProtocol, zone: String? = nil) {
        let parts = text.split(separator: "T", omittingEmptySubsequences: false)
        guard let day = ICalendarTime.numbers(parts[0], [4, 2, 2]) else { return nil }
        var time = [0, 0, 0]
        var isUTC = false
        if parts.count == 2 {
            isUTC = parts[1].hasSuffix("Z")
            guard let read = ICalendarTime.numbers(isUTC ? parts[1].dropLast() : parts[1], [2, 2, 2]) else {
                return nil
            }
            time = [read[0], read[1], min(read[2], 59)]
        }
        guard parts.count <= 2, (1...12).contains(day[1]), day[0] > 0, time[0] < 24, time[1] < 60 else { return nil }
        var fields = tm()
        (fields.tm_year, fields.tm_mon, fields.tm_mday) = (Int32(day[0]) - 1900, Int32(day[1]) - 1, Int32(day[2]))
        (fields.tm_hour, fields.tm_min, fields.tm_sec) = (Int32(time[0]), Int32(time[1]), Int32(time[2]))
        let seconds = timegm(&fields)
        // The 31st of November is not its next day.
        guard fields.tm_mday == day[2] else { return nil }
        (civil, isDate) = (seconds, parts.count == 1)
        self.zone = isUTC ? .utc : zone.map(Zone.named) ?? .floating
    }

    init(civil: Int, isDate: Bool, zone: Zone) { (self.civil, self.isDate, self.zone) = (civil, isDate, zone) }

    private static func numbers(_ text: some StringProtocol, _ widths: [Int]) -> [Int]? {
        guard text.utf8.count == widths.reduce(0, +), text.utf8.allSatisfy(\.isDigit) else { return nil }
        var (numbers, rest) = ([Int](), Substring(text))
        for width in widths {
            numbers.append(Int(rest.prefix(width)) ?? 0)
            rest = rest.dropFirst(width)
        }
        return numbers
    }

    /// The date and time of a number of seconds, as if it were UTC.
    static func fields(_ civil: Int) -> tm {
        var (civil, fields) = (civil, tm())
        gmtime_r(&civil, &fields)
        return fields
    }

    /// Writes `20261123T090000`, or `20261123` for a date.
    var basic: String {
        let (day, time) = ICalendarTime.digits(civil)
        return isDate ? day.joined() : "\(day.joined())T\(time.joined())"
    }

    /// Writes `2026-11-23T09:00:00`, or `2026-11-23` for a date.
    var extended: String {
        let (day, time) = ICalendarTime.digits(civil)
        return day.joined(separator: "-") + (isDate ? "" : "T" + time.joined(separator: ":"))
    }

    private static func digits(_ civil: Int) -> (day: [String], time: [String]) {
        func padded(_ number: some BinaryInteger, _ width: Int) -> String {
            let text = String(number)
            return String(repeating: "0", count: max(0, width - text.count)) + text
        }
        let fields = ICalendarTime.fields(civil)
        return (
            [padded(Int(fields.tm_year) + 1900, 4), padded(fields.tm_mon + 1, 2), padded(fields.tm_mday, 2)],
            [padded(fields.tm_hour, 2), padded(fields.tm_min, 2), padded(fields.tm_sec, 2)]
        )
    }
}

/// A duration as a calendar writes it: `PT15M`, `-P1DT2H`, `P2W` (RFC 5545 §3.3.6).
enum ICalendarDuration {
    /// Returns days, which are as long as the clocks make them, and seconds; nil for another text.
    static func parse(_ text: String) -> (days: Int, seconds: Int)? {
        var rest = Substring(text)
        let sign = rest.first == "-" ? -1 : 1
        if rest.first == "-" || rest.first == "+" { rest.removeFirst() }
        guard rest.first == "P", rest.count > 1 else { return nil }
        rest.removeFirst()
        var (days, seconds, isTime) = (0, 0, false)
        while let first = rest.first {
            if first == "T", !isTime {
                isTime = true
                rest.removeFirst()
                continue
            }
            let digits = rest.prefix { $0.isASCII && $0.isNumber }
            rest = rest.dropFirst(digits.count)
            guard let number = Int(digits), number <= 1_000_000_000, let unit = rest.popFirst() else { return nil }
            switch (unit, isTime) {
            case ("W", false): days += 7 * number
            case ("D", false): days += number
            case ("H", true): seconds += 3600 * number
            case ("M", true): seconds += 60 * number
            case ("S", true): seconds += number
            default: return nil
            }
        }
        return (sign * days, sign * seconds)
    }
}
