// SPDX-License-Identifier: Apache-2.0

/// What was left out of a calendar, for warnings.
struct ICalendarProblems {
    /// Lines of components whose time is absent or cannot be read.
    var unread: [Int] = []
    /// Rules that are not read.
    var rules = 0
    /// Rules that fit no date.
    var fruitless = 0
    /// Changes that are meant for all later dates.
    var ranges = 0
    /// Series with more dates than are read.
    var cut = 0
    /// Components that repeat another.
    var repeats = 0
}

extension ICalendar {
    /// The occurrences that are read at most.
    private static let maximumOccurrences = 20_000
    /// Steps of all recurrences of a calendar. A step is at most about 100 ns of computing, so all together take less than a second.
    public static let maximumSteps = 10_000_000

    /// Returns whether the system knows a time zone by this name, such as `Europe/Berlin`.
    public static func isZone(_ name: String) -> Bool { ICalendarZones.isKnown(name) }

    /// Returns what is not over, in the order of time, and of recurring events the dates that begin before the end of the range and at
    /// least the next one.
    ///
    /// - Parameters:
    ///   - range: seconds since 1970-01-01T00:00:00Z.
    ///   - home: the person's zone; nil for the calendar's, else this machine's.
    ///   - steps: what all recurrences and time zones may take.
    /// - Returns: the occurrences, and a sentence about each sort of what was left out.
    /// - Throws: `.tooLarge` beyond the steps or 20,000 occurrences.
    public func occurrences(
        in range: ClosedRange<Int>, home: String?, steps: Int = ICalendar.maximumSteps
    ) throws(DocumentError) -> (found: [ICalendarOccurrence], warnings: [String]) {
        var series: [ICalendarSeries] = []
        var places: [String: Int] = [:]
        for component in components {
            let named = component["UID"]?.text ?? ""
            let uid = named.isEmpty ? ICalendar.substitute(component) : named
            let place = places[uid] ?? series.count
            if place == series.count {
                places[uid] = place
                series.append(ICalendarSeries(uid))
            }
            series[place].add(component)
        }
        let zones = ICalendarZones(self.zones, home: home ?? zone, ICalendarBudget(steps: steps))
        var (found, problems) = ([ICalendarOccurrence](), ICalendarProblems())
        for series in series {
            found += series.occurrences(in: range, zones, &problems)
            problems.repeats += series.repeats
            zones.budget.blame("the recurring event in line \(series.line)")
            try zones.budget.check()
            guard found.count <= ICalendar.maximumOccurrences else {
                throw DocumentError(
                    .tooLarge, "it has more than \(ICalendar.maximumOccurrences) events that are not over")
            }
        }
        return (found.sorted { ($0.order, $0.uid) < ($1.order, $1.uid) }, warnings(problems, zones))
    }

    /// A key for a component without the UID that RFC 5545 asks for.
    private static func substitute(_ component: ICalendarComponent) -> String {
        let text = [component["DTSTART"]?.value, component["SUMMARY"]?.text].compactMap { $0 }.joined(separator: " ")
        return text.isEmpty ? component.name.lowercased() : text
    }

    private func warnings(_ problems: ICalendarProblems, _ zones: ICalendarZones) -> [String] {
        func times(_ count: Int, _ one: String, _ many: String) -> String {
            count == 1 ? "1 \(one)" : "\(count) \(many)"
        }
        var warnings: [String] = []
        if let (count, first) = badLines {
            warnings.append("\(times(count, "line is", "lines are")) no property and skipped, first line \(first)")
        }
        if let first = problems.unread.min() {
            let what = times(problems.unread.count, "event has", "events have")
            warnings.append("\(what) no time that can be read and left out, the first in line \(first)")
        }
        if problems.rules > 0 {
            let what = times(problems.rules, "recurrence rule is", "recurrence rules are")
            warnings.append("\(what) not read; the first date of such an event counts")
        }
        if problems.fruitless > 0 {
            let what = times(problems.fruitless, "recurrence rule fits", "recurrence rules fit")
            warnings.append("\(what) no date; the first date of such an event counts")
        }
        if problems.ranges > 0 { warnings.append("a change of a date and all later ones is read for that date alone") }
        if problems.cut > 0 {
            warnings.append("of an event with more than \(ICalendarSeries.maximumDates) dates the first ones are read")
        }
        if problems.repeats > 0 {
            warnings.append("\(times(problems.repeats, "event repeats", "events repeat")) the UID of another one")
        }
        for (names, what) in [(zones.unknown, "is unknown"), (zones.unread, "has a definition that is not read")] {
            guard let first = names.min() else { continue }
            let more = names.count > 1 ? " and \(names.count - 1) more" : ""
            warnings.append("the time zone '\(first)'\(more) \(what); its times are read by the clock of 'timezone'")
        }
        return warnings
    }
}
