// SPDX-License-Identifier: Apache-2.0

/// The offsets of one time zone from UTC. The changes of its rules are found as far as times are asked for.
final class ICalendarClock {
    /// A change of the offset and its dates.
    struct Observance {
        /// Seconds from UTC after each change.
        let offset: Int
        /// What is added to a date of the rule or list for the time of UTC.
        let shift: Int
        /// The dates that are listed, the first one last.
        var listed: [Int]
        var dates: ICalendarDates?
        /// A date of the rule that was found and is not yet asked for.
        fileprivate var pending: Int?

        init(offset: Int, shift: Int, listed: [Int], dates: ICalendarDates?) {
            (self.offset, self.shift, self.dates) = (offset, shift, dates)
            self.listed = listed.sorted(by: >)
        }

        fileprivate mutating func next(through end: Int, _ budget: ICalendarBudget) -> Int? {
            if let date = listed.last, date + shift <= end { return listed.removeLast() + shift }
            guard let date = pending ?? dates?.next(budget) else { return nil }
            pending = date + shift <= end ? nil : date
            return pending == nil ? date + shift : nil
        }
    }

    private static let year = 366 * 86_400
    /// A change is kept, which costs memory as well as time.
    private static let stepsOfChange = 16

    private let name: String
    /// The offset before the first change.
    private let initial: Int
    private var changes: [(at: Int, offset: Int)]
    private var observances: [Observance]
    /// The changes up to here are found.
    private var end: Int

    /// - Parameters:
    ///   - changes: the first changes, in order. After the last of them the observances decide.
    init(_ name: String, initial: Int, changes: [(at: Int, offset: Int)] = [], _ observances: [Observance]) {
        (self.name, self.initial, self.changes, self.observances) = (name, initial, changes, observances)
        end = changes.last?.at ?? .min
    }

    /// Returns seconds from UTC at a time of UTC.
    func offset(at utc: Int, _ budget: ICalendarBudget) -> Int {
        if utc > end, !observances.isEmpty { extend(to: utc + ICalendarClock.year, budget) }
        var (low, high) = (0, changes.count)
        while low < high {
            let middle = (low + high) / 2
            if changes[middle].at <= utc { low = middle + 1 } else { high = middle }
        }
        return low == 0 ? initial : changes[low - 1].offset
    }

    private func extend(to newEnd: Int, _ budget: ICalendarBudget) {
        guard budget.take(observances.count) else { return }
        var found: [(at: Int, index: Int)] = []
        for index in observances.indices {
            while let at = observances[index].next(through: newEnd, budget), budget.take(ICalendarClock.stepsOfChange) {
                if at > end { found.append((at, index)) }
            }
        }
        budget.blame("the definition of the time zone '\(name.prefix(100))'")
        changes += found.sorted { $0 < $1 }.map { ($0.at, observances[$0.index].offset) }
        end = newEnd
    }
}
