// SPDX-License-Identifier: Apache-2.0

/// The rules after the last change of a zone's file, as POSIX writes them in `TZ`: `CET-1CEST,M3.5.0,M10.5.0/3` (RFC 8536 §3.3).
struct ZoneRules {
    private struct Change {
        let rule: ICalendarRule
        /// Seconds from midnight, by the clocks before the change.
        let time: Int
    }

    private let standard: Int
    /// The offset of summer, its beginning and its end; nil for a zone without one.
    private let summer: (offset: Int, start: Change, end: Change)?

    /// - Returns: nil for a text that is none.
    init?(_ text: String) {
        var rest = Substring(text)
        guard ZoneRules.skipName(&rest), let west = ZoneRules.time(&rest) else { return nil }
        standard = -west
        guard ZoneRules.skipName(&rest) else {
            summer = nil
            if !rest.isEmpty { return nil }
            return
        }
        var offset = standard + 3600
        if rest.first != ",", let west = ZoneRules.time(&rest) { offset = -west }
        guard let start = ZoneRules.change(&rest), let end = ZoneRules.change(&rest), rest.isEmpty else { return nil }
        summer = (offset, start, end)
    }

    /// - Parameter time: the last change of the file, in seconds since 1970-01-01T00:00:00Z.
    func observances(after time: Int, _ budget: ICalendarBudget) -> [ICalendarClock.Observance] {
        guard let summer else { return [] }
        let year = Gregorian.date(time.floored(86_400)).year
        let first = ICalendarTime(civil: Gregorian.days(year, 1, 1) * 86_400, isDate: false, zone: .utc)
        return [(summer.end, summer.offset, standard), (summer.start, standard, summer.offset)].map {
            change, before, after in
            ICalendarClock.Observance(
                offset: after, shift: change.time - before, listed: [],
                dates: ICalendarDates(change.rule, from: first, at: first.civil, until: nil, budget))
        }
    }

    private static func skipName(_ rest: inout Substring) -> Bool {
        let length: Int
        if rest.first == "<", let end = rest.firstIndex(of: ">") {
            length = rest.distance(from: rest.startIndex, to: end) + 1
        } else {
            length = rest.prefix(while: \.isLetter).count
        }
        rest.removeFirst(length)
        return length > 0
    }

    /// Takes `[+-]h[:m[:s]]`.
    private static func time(_ rest: inout Substring) -> Int? {
        let sign = rest.first == "-" ? -1 : 1
        if rest.first == "-" || rest.first == "+" { rest.removeFirst() }
        let text = rest.prefix { $0 == ":" || $0.isASCII && $0.isNumber }
        rest.removeFirst(text.count)
        let numbers = text.split(separator: ":").map { Int($0) ?? 1000 }
        guard (1...3).contains(numbers.count), numbers.allSatisfy({ $0 <= 167 }) else { return nil }
        return sign * zip(numbers, [3600, 60, 1]).reduce(0) { $0 + $1.0 * $1.1 }
    }

    /// Takes `,Mm.w.d[/time]`, `,Jn[/time]` or `,n[/time]`.
    private static func change(_ rest: inout Substring) -> Change? {
        guard rest.popFirst() == "," else { return nil }
        let date = rest.prefix { $0 != "/" && $0 != "," }
        rest.removeFirst(date.count)
        var seconds = 7200
        if rest.first == "/" {
            rest.removeFirst()
            guard let time = time(&rest) else { return nil }
            seconds = time
        }
        return rule(date).map { Change(rule: $0, time: seconds) }
    }

    private static func rule(_ date: Substring) -> ICalendarRule? {
        let numbers = date.drop { $0 == "M" || $0 == "J" }.split(separator: ".").compactMap { Int($0) }
        switch (date.first, numbers.count) {
        case ("M", 3):
            let days = ["SU", "MO", "TU", "WE", "TH", "FR", "SA"]
            guard days.indices.contains(numbers[2]), (1...5).contains(numbers[1]) else { return nil }
            let week = numbers[1] == 5 ? -1 : numbers[1]
            return ICalendarRule("FREQ=YEARLY;BYMONTH=\(numbers[0]);BYDAY=\(week)\(days[numbers[2]])")
        case ("J", 1):
            // The days of a year without the 29th of February.
            guard (1...365).contains(numbers[0]) else { return nil }
            let date = Gregorian.date(Gregorian.days(2001, 1, numbers[0]))
            return ICalendarRule("FREQ=YEARLY;BYMONTH=\(date.month);BYMONTHDAY=\(date.day)")
        case (_, 1): return ICalendarRule("FREQ=YEARLY;BYYEARDAY=\(numbers[0] + 1)")
        default: return nil
        }
    }
}
