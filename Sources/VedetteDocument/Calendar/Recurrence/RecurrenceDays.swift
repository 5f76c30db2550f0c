// SPDX-License-Identifier: Apache-2.0

/// The days of a recurrence rule that stands alone, outside of a calendar.
public enum RecurrenceDays {
    /// Returns the days in order, counted from 1970-01-01.
    /// - Parameters:
    ///   - first: the day from which the rule counts its intervals. It is among the days where the rule fits it.
    ///   - last: the last day that is asked for.
    /// - Returns: nil for a rule that cannot be read, has no day, or has several times in a day.
    public static func days(of rule: String, from first: Int, through last: Int) -> [Int]? {
        guard let rule = ICalendarRule(rule), rule.isDaily else { return nil }
        let (start, budget) = (ICalendarTime(civil: first * 86_400, isDate: true, zone: .floating), ICalendarBudget())
        let end = min(last * 86_400, rule.last(for: start) { $0 } ?? .max)
        var dates = ICalendarDates(rule, from: start, at: start.civil, until: end, budget)
        var days: [Int] = []
        while let date = dates.next(budget) { days.append(date / 86_400) }
        return days.isEmpty || budget.isExhausted ? nil : days
    }
}
