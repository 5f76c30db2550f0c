// SPDX-License-Identifier: Apache-2.0

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

    /// Bytes of the name of a zone. It is compared for each date, so a longer one is cut, and then no zone has it.
    private static let maximumName = 255

    /// Reads the value of `DTSTART` and its relatives; nil when it is none.
    init?(_ property: ICalendarProperty) { self.init(property.value, zone: property.parameters["TZID"]) }

    /// - Parameter zone: the name of the zone, unless the text says that it is UTC; nil for none.
    init?(_ text: some StringProtocol, zone: String? = nil) {
        let bytes = Array(text.utf8)
        func number(_ range: Range<Int>) -> Int? {
            bytes[range].reduce(0) { number, byte in byte.isDigit ? number.map { 10 * $0 + Int(byte - 48) } : nil }
        }
        guard [8, 15, 16].contains(bytes.count), let year = number(0..<4), let month = number(4..<6),
            let day = number(6..<8), year > 0, (1...12).contains(month),
            // The 31st of November is not its next day.
            (1...Gregorian.length(year, month)).contains(day)
        else { return nil }
        civil = Gregorian.days(year, month, day) * 86_400
        isDate = bytes.count == 8
        let isUTC = bytes.count == 16
        self.zone = isUTC ? .utc : zone.map { .named(ICalendarTime.cut($0)) } ?? .floating
        guard !isDate else { return }
        guard bytes[8] == UInt8(ascii: "T"), !isUTC || bytes[15] == UInt8(ascii: "Z"), let hour = number(9..<11),
            let minute = number(11..<13), let second = number(13..<15), hour < 24, minute < 60
        else { return nil }
        civil += 3600 * hour + 60 * minute + min(second, 59)
    }

    private static func cut(_ name: String) -> String {
        name.utf8.count <= maximumName ? name : String(decoding: name.utf8.prefix(maximumName), as: UTF8.self) + "…"
    }

    init(civil: Int, isDate: Bool, zone: Zone) { (self.civil, self.isDate, self.zone) = (civil, isDate, zone) }

    /// Days from 1970-01-01 to the date.
    var day: Int { civil.floored(86_400) }

    /// Returns the time that a date alone names of an event: the date with the event's time of day. Programs write such dates
    /// as exceptions of an event that has times.
    func timed(as event: ICalendarTime) -> ICalendarTime {
        guard isDate, !event.isDate else { return self }
        return ICalendarTime(civil: civil + event.civil - event.day * 86_400, isDate: false, zone: event.zone)
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
        func padded(_ number: Int, _ width: Int) -> String {
            let text = String(number)
            return String(repeating: "0", count: max(0, width - text.count)) + text
        }
        let day = civil.floored(86_400)
        let (date, second) = (Gregorian.date(day), civil - day * 86_400)
        return (
            [padded(date.year, 4), padded(date.month, 2), padded(date.day, 2)],
            [padded(second / 3600, 2), padded(second / 60 % 60, 2), padded(second % 60, 2)]
        )
    }
}

/// A duration as a calendar writes it: `PT15M`, `-P1DT2H`, `P2W` (RFC 5545 §3.3.6).
enum ICalendarDuration {
    private static let maximumDays = 3_660_000

    /// Returns days, which are as long as the clocks make them, and seconds; nil for another text, and for more than 10,000 years.
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
            guard max(days, seconds / 86_400) <= maximumDays else { return nil }
        }
        return (sign * days, sign * seconds)
    }
}
