// SPDX-License-Identifier: Apache-2.0

/// The dates of a recurrence rule in order (RFC 5545 §3.3.10), found one period of the rule after the other.
///
/// All parts that choose days are a filter: `fitting` has the days of one month that pass it, and each frequency takes its days from
/// there. So a part expands or limits by the table of the RFC without a case for each frequency. Times are seconds by the clocks of the
/// first date.
struct ICalendarDates {
    /// The days of one month that fit, as bits from its first day.
    private struct Month {
        var first = 0
        var length = 0
        var days: UInt64 = 0
    }

    /// The end of the year 9999, behind which no date can be written.
    private static let end = (Gregorian.days(10_000, 1, 1)) * 86_400

    private let rule: ICalendarRule
    private let first: Int
    private let lower: Int
    private let last: Int
    private let origin: Int
    private let step: Int
    /// The times of a period that begins at 0.
    private let times: (hours: [Int], minutes: [Int], seconds: [Int])
    /// The times of a day at which a period may begin, as bits.
    private var limits: (hours: UInt64, minutes: UInt64, seconds: UInt64) = (1, 1, 1)
    /// Whether each period has as many dates as any other.
    private let isSteady: Bool

    /// Dates that `COUNT` leaves.
    private var left: Int
    /// The next period: a year, a month from the year 0, the first day of a week, or a time.
    private var cursor: Int
    private var month = Month()
    /// The beginnings of the days, or of the hour, minute or second, of this period.
    private var bases: [Int] = []
    /// The dates of the period that `BYSETPOS` chooses; nil for all.
    private var chosen: [Int]?
    private var index = 0
    /// When the last period with a date began.
    private var hit: Int
    private var hasFound = false
    /// Whether the search has ended without any date: the rule fits none, or none from there on.
    private(set) var isFruitless = false

    /// - Parameters:
    ///   - lower: dates before it are left out.
    ///   - last: the end of the rule; nil for none.
    init(
        _ rule: ICalendarRule, from first: ICalendarTime, at lower: Int, until last: Int?, _ budget: ICalendarBudget
    ) {
        let rule = ICalendarDates.completed(rule, by: first.civil)
        let unit = rule.frequency.seconds
        (self.rule, self.first, self.lower, self.last) = (rule, first.civil, lower, last ?? .max)
        step = rule.interval * (unit ?? (rule.frequency == .weekly ? 7 : 1))
        left = rule.count ?? .max
        let time = first.civil - first.civil.floored(86_400) * 86_400
        // A part for times means nothing for whole days.
        func part(_ values: [Int], above length: Int, _ start: Int) -> [Int] {
            guard unit ?? .max > length else { return [0] }
            return first.isDate ? [0] : values.isEmpty ? [start] : values
        }
        func limit(_ values: [Int], from length: Int, _ count: UInt64) -> UInt64 {
            guard let unit, unit <= length else { return 1 }
            return values.isEmpty ? (1 << count) - 1 : values.reduce(0) { $0 | 1 << UInt64($1) }
        }
        times = (
            part(rule.hours, above: 3600, time / 3600), part(rule.minutes, above: 60, time / 60 % 60),
            part(rule.seconds, above: 1, time % 60)
        )
        limits = (
            limit(rule.hours, from: 3600, 24), limit(rule.minutes, from: 60, 60), limit(rule.seconds, from: 1, 60)
        )
        let isUnlimited = [(rule.hours, 3600), (rule.minutes, 60), (rule.seconds, 1)].allSatisfy { part, length in
            part.isEmpty || unit ?? .max > length
        }
        isSteady =
            rule.months.isEmpty && isUnlimited && rule.yearDays.isEmpty && rule.monthDays.isEmpty
            && (rule.frequency == .weekly || unit != nil && rule.weekdays.isEmpty) && rule.weekNumbers.isEmpty
        origin = ICalendarDates.period(first.civil, rule)
        cursor = origin
        if rule.count == nil {
            cursor += max(0, (ICalendarDates.period(max(lower, first.civil), rule) - origin) / step * step)
        }
        hit = 0
        hit = start(of: cursor)
        let isForDays = unit ?? 86_400 >= 86_400
        if rule.isImpossible || positionsAreImpossible || first.isDate && !isForDays
            || !(isUnlimited || meetsLimits(budget))
        {
            (left, isFruitless) = (0, true)
        }
    }

    /// Adds what the first date says and the rule does not.
    private static func completed(_ rule: ICalendarRule, by first: Int) -> ICalendarRule {
        var rule = rule
        let day = first.floored(86_400)
        let date = Gregorian.date(day)
        let weekday = ICalendarRule.Weekday(day: Gregorian.weekday(day), ordinal: 0)
        switch rule.frequency {
        case .yearly where !rule.choosesDays:
            if rule.months.isEmpty { rule.months = [date.month] }
            rule.monthDays = [date.day]
        case .yearly where rule.yearDays.isEmpty && rule.monthDays.isEmpty && rule.weekdays.isEmpty,
            .weekly where !rule.choosesDays:
            rule.weekdays = [weekday]
        case .monthly where !rule.choosesDays: rule.monthDays = [date.day]
        default: break
        }
        return rule
    }

    /// Returns the period that a time lies in, as `cursor` has it.
    private static func period(_ time: Int, _ rule: ICalendarRule) -> Int {
        let day = time.floored(86_400)
        if let unit = rule.frequency.seconds { return time.floored(unit) * unit }
        let date = Gregorian.date(day)
        switch rule.frequency {
        case .yearly: return date.year
        case .monthly: return 12 * date.year + date.month - 1
        default: return day - (Gregorian.weekday(day) - rule.weekStart + 7) % 7
        }
    }

    private func start(of period: Int) -> Int {
        switch rule.frequency {
        case .yearly: Gregorian.days(period, 1, 1) * 86_400
        case .monthly: Gregorian.days(period / 12, period % 12 + 1, 1) * 86_400
        case .weekly: period * 86_400
        default: period
        }
    }

    /// Returns the next date; nil behind the last one, and when the budget is exhausted.
    mutating func next(_ budget: ICalendarBudget) -> Int? {
        while left > 0, budget.take() {
            guard index < size else {
                if !advance(budget) {
                    isFruitless = !hasFound && !budget.isExhausted
                    left = 0
                }
                continue
            }
            let date = self[index]
            guard date <= last else {
                left = 0
                return nil
            }
            index += 1
            left -= 1
            return date
        }
        return nil
    }

    /// The number of dates in this period.
    private var size: Int {
        chosen?.count ?? bases.count * times.hours.count * times.minutes.count * times.seconds.count
    }

    /// A date of this period.
    private subscript(index: Int) -> Int {
        let index = chosen?[index] ?? index
        let (minutes, second) = index.quotientAndRemainder(dividingBy: times.seconds.count)
        let (hours, minute) = minutes.quotientAndRemainder(dividingBy: times.minutes.count)
        let (day, hour) = hours.quotientAndRemainder(dividingBy: times.hours.count)
        return bases[day] + 3600 * times.hours[hour] + 60 * times.minutes[minute] + times.seconds[second]
    }

    /// Returns how many dates of this period are before a time.
    private func dates(before time: Int) -> Int {
        var (low, high) = (0, size)
        while low < high {
            let middle = (low + high) / 2
            if self[middle] < time { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// Goes to the next period and in it to the first date that counts; false when there is none.
    private mutating func advance(_ budget: ICalendarBudget) -> Bool {
        // The first period may begin before the first date, the second one may not.
        if isSteady, rule.count != nil, cursor > origin + step {
            let periods = max(0, (ICalendarDates.period(lower, rule) - cursor) / step)
            cursor += periods * step
            left -= min(left, periods * size)
        }
        bases.removeAll(keepingCapacity: true)
        chosen = nil
        if rule.frequency.seconds == nil {
            guard takeDays(budget) else { return false }
        } else {
            guard let base = onGrid(from: cursor, budget) else { return false }
            bases.append(base)
            cursor = base + step
        }
        if !rule.positions.isEmpty {
            guard budget.take(rule.positions.count) else { return false }
            let count = size
            chosen = Set(rule.positions.map { $0 > 0 ? $0 - 1 : count + $0 }.filter { (0..<count).contains($0) })
                .sorted()
        }
        guard size > 0 else { return true }
        hit = bases[0]
        hasFound = true
        index = dates(before: max(first, lower))
        if rule.count != nil { left -= min(left, index - dates(before: first)) }
        return true
    }

    /// The end of the search: the calendar repeats after 400 years, and so do the periods of whole days after as many times 400 years as
    /// their interval has.
    private var searchEnd: Int {
        let isLong = rule.frequency.seconds ?? 86_400 == 86_400
        return min(ICalendarDates.end, isLong ? hit + Gregorian.cycle * 86_400 * rule.interval : .max)
    }

    /// Takes the days of a week, a month or a year.
    private mutating func takeDays(_ budget: ICalendarBudget) -> Bool {
        index = 0
        guard start(of: cursor) < searchEnd else { return false }
        switch rule.frequency {
        case .weekly:
            for day in cursor..<cursor + 7 {
                guard load(day, budget) else { return false }
                if month.days >> UInt64(day - month.first) & 1 == 1 { bases.append(day * 86_400) }
            }
        default:
            let months =
                rule.frequency == .monthly ? [cursor % 12 + 1] : rule.months.isEmpty ? Array(1...12) : rule.months
            for number in months {
                let year = rule.frequency == .monthly ? cursor / 12 : cursor
                guard load(Gregorian.days(year, number, 1), budget) else { return false }
                var days = month.days
                while days != 0 {
                    bases.append((month.first + days.trailingZeroBitCount) * 86_400)
                    days &= days - 1
                }
            }
        }
        cursor += step
        return true
    }

    /// Returns the first time that fits, in steps from one that is a multiple of them; nil for none.
    private mutating func onGrid(from time: Int, _ budget: ICalendarBudget) -> Int? {
        index = 0
        var time = time
        while time < searchEnd, budget.take() {
            let day = time.floored(86_400)
            guard let fitting = fittingDay(from: day, budget) else { return nil }
            let second = time - day * 86_400
            guard fitting == day, let next = beginning(from: second) else {
                time = ceiled(86_400 * (fitting == day ? day + 1 : fitting), from: time)
                continue
            }
            if next == second { return time }
            time = ceiled(day * 86_400 + next, from: time)
        }
        return nil
    }

    private func ceiled(_ target: Int, from time: Int) -> Int { time + (target - time + step - 1) / step * step }

    /// Returns the first day that fits from one on; nil when none fits in 400 years.
    private mutating func fittingDay(from day: Int, _ budget: ICalendarBudget) -> Int? {
        var day = day
        for _ in 0...4800 {
            guard load(day, budget) else { return nil }
            let days = month.days >> UInt64(day - month.first)
            if days != 0 { return day + days.trailingZeroBitCount }
            day = month.first + month.length
        }
        return nil
    }

    /// Returns the first second of a day from one on at which a period may begin; nil for none.
    private func beginning(from second: Int) -> Int? {
        func next(_ bits: UInt64, _ from: Int) -> Int? {
            let rest = bits >> UInt64(from)
            return rest == 0 ? nil : from + rest.trailingZeroBitCount
        }
        let (hour, minute) = (second / 3600, second / 60 % 60)
        let (firstMinute, firstSecond) = (limits.minutes.trailingZeroBitCount, limits.seconds.trailingZeroBitCount)
        if limits.hours >> UInt64(hour) & 1 == 1 {
            if limits.minutes >> UInt64(minute) & 1 == 1, let second = next(limits.seconds, second % 60) {
                return 3600 * hour + 60 * minute + second
            }
            if let minute = next(limits.minutes, minute + 1) { return 3600 * hour + 60 * minute + firstSecond }
        }
        return next(limits.hours, hour + 1).map { 3600 * $0 + 60 * firstMinute + firstSecond }
    }

    /// Whether the steps ever meet a time of day that the limits allow: both repeat after the greatest common divisor.
    private func meetsLimits(_ budget: ICalendarBudget) -> Bool {
        var (divisor, rest) = (step, 86_400)
        while rest != 0 { (divisor, rest) = (rest, divisor % rest) }
        guard divisor > 1 else { return true }
        guard budget.take(86_400 / divisor) else { return false }
        let second = origin - origin.floored(divisor) * divisor
        return stride(from: second, to: 86_400, by: divisor).contains { beginning(from: $0) == $0 }
    }

    /// Whether no period has as many dates as each position of `BYSETPOS` asks for.
    private var positionsAreImpossible: Bool {
        let days =
            switch rule.frequency {
            case .yearly: 366
            case .monthly: 31
            case .weekly: 7
            default: 1
            }
        let most = days * times.hours.count * times.minutes.count * times.seconds.count
        return !rule.positions.isEmpty && rule.positions.allSatisfy { abs($0) > most }
    }

    /// Finds the days that fit in the month of a day, unless they are known; false when the budget is exhausted.
    private mutating func load(_ day: Int, _ budget: ICalendarBudget) -> Bool {
        guard day < month.first || day >= month.first + month.length else { return true }
        let values = rule.monthDays.count + rule.weekdays.count + rule.yearDays.count + rule.weekNumbers.count
        guard budget.take(1 + values) else { return false }
        let date = Gregorian.date(day)
        month = Month(first: day - date.day + 1, length: Gregorian.length(date.year, date.month))
        if rule.months.isEmpty || rule.months.contains(date.month) { month.days = fitting(date.year) }
        return true
    }

    /// Returns the days of the loaded month that all parts allow.
    private func fitting(_ year: Int) -> UInt64 {
        let (first, length) = (month.first, month.length)
        var days: UInt64 = (1 << UInt64(length)) - 1
        func keep(_ body: (_ add: (Int) -> Void) -> Void) {
            var kept: UInt64 = 0
            body { day in
                if (first..<first + length).contains(day) { kept |= 1 << UInt64(day - first) }
            }
            days &= kept
        }
        let yearStart = Gregorian.days(year, 1, 1)
        let nextYear = Gregorian.days(year + 1, 1, 1)
        if !rule.monthDays.isEmpty {
            keep { add in for day in rule.monthDays { add(day > 0 ? first + day - 1 : first + length + day) } }
        }
        if !rule.yearDays.isEmpty {
            keep { add in for day in rule.yearDays { add(day > 0 ? yearStart + day - 1 : nextYear + day) } }
        }
        if !rule.weekdays.isEmpty {
            let isOfYear = rule.frequency == .yearly && rule.months.isEmpty
            let (start, end) = isOfYear ? (yearStart, nextYear) : (first, first + length)
            keep { add in for weekday in rule.weekdays { self.days(weekday, from: start, to: end, add) } }
        }
        if !rule.weekNumbers.isEmpty {
            keep { add in
                for week in stride(
                    from: first - (Gregorian.weekday(first) - rule.weekStart + 7) % 7, to: first + length, by: 7)
                where isChosen(week: week) {
                    for day in week..<week + 7 { add(day) }
                }
            }
        }
        return days
    }

    /// The days of the loaded month that are a weekday, or the nth one of a range.
    private func days(_ weekday: ICalendarRule.Weekday, from start: Int, to end: Int, _ add: (Int) -> Void) {
        let isNumbered = weekday.ordinal != 0 && [.monthly, .yearly].contains(rule.frequency)
        guard isNumbered else {
            let first = month.first + (weekday.day - Gregorian.weekday(month.first) + 7) % 7
            for day in stride(from: first, to: month.first + month.length, by: 7) { add(day) }
            return
        }
        let day =
            weekday.ordinal > 0
            ? start + (weekday.day - Gregorian.weekday(start) + 7) % 7 + 7 * (weekday.ordinal - 1)
            : end - 1 - (Gregorian.weekday(end - 1) - weekday.day + 7) % 7 + 7 * (weekday.ordinal + 1)
        if (start..<end).contains(day) { add(day) }
    }

    /// Whether a week is chosen by its number. It belongs to the year that has most of its days.
    private func isChosen(week: Int) -> Bool {
        func firstWeek(_ year: Int) -> Int {
            let day = Gregorian.days(year, 1, 4)
            return day - (Gregorian.weekday(day) - rule.weekStart + 7) % 7
        }
        let year = Gregorian.date(week + 3).year
        let start = firstWeek(year)
        return rule.weekNumbers.contains((week - start) / 7 + 1)
            || rule.weekNumbers.contains((week - firstWeek(year + 1)) / 7)
    }
}
