// SPDX-License-Identifier: Apache-2.0

/// The dates of a recurring event, each once and in order. Its rules and its list of dates name them; its exceptions leave some
/// out.
struct ICalendarSet {
    /// The dates of a rule, the next one known.
    private struct Head {
        var dates: ICalendarDates
        var date: Int?

        mutating func pass(_ time: Int, _ budget: ICalendarBudget) {
            while let known = date, known <= time { date = dates.next(budget) }
        }
    }

    private var further: [Int]
    private var rules: [Head]
    private var exceptions: [Head]

    /// - Parameter lower: further dates before it are left out.
    init(
        _ further: [Int], _ rules: [ICalendarDates], except: [ICalendarDates], at lower: Int, _ budget: ICalendarBudget
    ) {
        func head(_ dates: ICalendarDates) -> Head {
            var dates = dates
            let date = dates.next(budget)
            return Head(dates: dates, date: date)
        }
        // The first one is the last element, which is removed at little cost.
        self.further = further.filter { $0 >= lower }.sorted(by: >)
        (self.rules, exceptions) = (rules.map(head), except.map(head))
    }

    /// The rules that fit no date.
    var fruitless: Int { (rules + exceptions).count { $0.dates.isFruitless } }

    /// The first date of the rules and the further ones; nil for none.
    private var first: Int? {
        var first = further.last
        for index in rules.indices {
            if let date = rules[index].date { first = min(first ?? date, date) }
        }
        return first
    }

    /// Returns the next date, whose cost grows with the rules; nil behind the last one, and when the budget is exhausted.
    mutating func next(_ budget: ICalendarBudget) -> Int? {
        while budget.take(1 + rules.count + exceptions.count), let date = first {
            while further.last == date { further.removeLast() }
            for index in rules.indices { rules[index].pass(date, budget) }
            var isExcepted = false
            for index in exceptions.indices {
                exceptions[index].pass(date - 1, budget)
                if exceptions[index].date == date { isExcepted = true }
            }
            if !isExcepted { return date }
        }
        return nil
    }
}
