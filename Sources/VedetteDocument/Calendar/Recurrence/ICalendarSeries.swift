// SPDX-License-Identifier: Apache-2.0

/// The components with one UID: an event or a to-do, and the dates of it that were changed.
struct ICalendarSeries {
    let uid: String
    private var main: ICalendarComponent?
    private var changed: [ICalendarComponent] = []
    /// Components that repeat the one before them.
    private(set) var repeats = 0

    /// The dates that are read of a series at most.
    static let maximumDates = 1000
    /// A rule is read, a date is converted to UTC, and an occurrence has its texts written. Each takes as long as so many steps.
    private static let (stepsOfRule, stepsOfDate, stepsOfOccurrence) = (64, 4, 16)

    /// The line at which its first component begins.
    var line: Int { main?.line ?? changed.first?.line ?? 0 }

    init(_ uid: String) { self.uid = uid }

    mutating func add(_ component: ICalendarComponent) {
        if component["RECURRENCE-ID"] != nil {
            changed.append(component)
        } else if let known = main {
            repeats += 1
            // The later revision counts (RFC 5545 §3.8.7.4).
            if component.revision > known.revision { main = component }
        } else {
            main = component
        }
    }

    /// What is not over at the beginning of the range and begins before its end; and the next date of a recurring event, however far
    /// off.
    func occurrences(
        in range: ClosedRange<Int>, _ zones: ICalendarZones, _ problems: inout ICalendarProblems
    ) -> [ICalendarOccurrence] {
        let span = main.flatMap { ICalendarSpan($0, zones) }
        var overrides: [Int: ICalendarComponent] = [:]
        for component in changed {
            guard let id = component["RECURRENCE-ID"].flatMap(ICalendarTime.init) else {
                problems.unread.append(component.line)
                continue
            }
            if component["RECURRENCE-ID"]?.parameters["RANGE"] != nil { problems.ranges += 1 }
            overrides[zones.utc(span.map { id.timed(as: $0.start) } ?? id)] = component
        }
        let lower = range.lowerBound
        func changes() -> [ICalendarOccurrence] {
            overrides.compactMap {
                occurrence(of: $1, span: ICalendarSpan($1, zones), id: $0, isByDay: false, since: lower, zones)
            }
        }
        guard let main else { return changes() }
        guard let span else {
            if main.name == "VEVENT" || main["DTSTART"] != nil { problems.unread.append(main.line) }
            return main.name == "VTODO"
                ? [occurrence(of: main, span: nil, id: nil, isByDay: false, since: lower, zones)].compactMap { $0 } : []
        }
        guard main["RRULE"] != nil || main["RDATE"] != nil else {
            let one = occurrence(of: main, span: span, id: nil, isByDay: false, since: lower, zones)
            return [one].compactMap { $0 } + changes()
        }
        return recurring(main, span, overrides, in: range, zones, &problems)
    }

    private func recurring(
        _ main: ICalendarComponent, _ span: ICalendarSpan, _ overrides: [Int: ICalendarComponent],
        in range: ClosedRange<Int>, _ zones: ICalendarZones, _ problems: inout ICalendarProblems
    ) -> [ICalendarOccurrence] {
        let first = span.start
        // A day is added on both sides, since days are not equally long and clocks differ.
        let from = zones.civil(at: range.lowerBound, in: first.zone) - span.longest - 86_400
        let end = zones.civil(at: range.upperBound, in: first.zone) + 86_400
        func dates(_ name: String) -> [ICalendarDates] {
            let rules = main.all(name).prefix { _ in zones.budget.take(ICalendarSeries.stepsOfRule) }
                .map { ICalendarRule($0.value) }
            problems.rules += rules.count { $0 == nil }
            return rules.compactMap { $0 }.map { rule in
                let last = rule.last(for: first) { zones.civil(at: $0, in: first.zone) }
                return ICalendarDates(rule, from: first, at: from, until: last, zones.budget)
            }
        }
        let further = main.all("RDATE").flatMap(ICalendarSeries.times).map { $0.timed(as: first) }.map { time in
            time.isDate || time.zone == first.zone ? time.civil : zones.civil(at: zones.utc(time), in: first.zone)
        }
        var set = ICalendarSet(
            [first.civil] + further, dates("RRULE"), except: dates("EXRULE"), at: from, zones.budget)
        let isDaily =
            main.all("RRULE").count == 1 && main["RRULE"].flatMap { ICalendarRule($0.value) }?.isDaily == true
        // A date that is added may be the second of its day.
        let added = Set(further).subtracting([first.civil])
        let exceptions = main.all("EXDATE").flatMap(ICalendarSeries.times)
        let excluded = Set(exceptions.map(zones.utc))
        let excludedDays = Set(first.isDate ? [] : exceptions.filter(\.isDate).map(\.day))
        let alarms = ICalendarAlarms(main, zones)
        var (found, used, next) = ([ICalendarOccurrence](), Set<Int>(), ICalendarOccurrence?.none)
        while let start = set.next(zones.budget) {
            if start > end, !found.isEmpty || next != nil { break }
            let time = ICalendarTime(civil: start, isDate: first.isDate, zone: first.zone)
            guard zones.budget.take(ICalendarSeries.stepsOfDate) else { break }
            let id = zones.utc(time)
            let override = overrides[id]
            if override != nil { used.insert(id) }
            guard !excluded.contains(id), !excludedDays.contains(time.day) else { continue }
            let shown = override.map { ICalendarSpan($0, zones) } ?? span.moved(to: time)
            guard
                let one = occurrence(
                    of: override ?? main, span: shown, id: id, time, isByDay: isDaily && !added.contains(start),
                    alarms: override == nil ? alarms : nil, since: range.lowerBound, zones)
            else { continue }
            if one.begins(before: range.upperBound) {
                found.append(one)
                if found.count > ICalendarSeries.maximumDates { break }
            } else if next == nil {
                next = one
            }
        }
        problems.fruitless += set.fruitless
        for (id, component) in overrides where !used.contains(id) {
            // The day is counted in the event's own zone, as its other dates are.
            let time =
                first.isDate
                ? component["RECURRENCE-ID"].flatMap(ICalendarTime.init)
                : ICalendarTime(civil: zones.civil(at: id, in: first.zone), isDate: false, zone: first.zone)
            guard
                let one = occurrence(
                    of: component, span: ICalendarSpan(component, zones), id: id, time,
                    isByDay: isDaily && time.map { !added.contains($0.civil) } ?? true, since: range.lowerBound, zones),
                one.begins(before: range.upperBound)
            else { continue }
            found.append(one)
        }
        if found.count > ICalendarSeries.maximumDates {
            problems.cut += 1
            found = Array(found.sorted { $0.order < $1.order }.prefix(ICalendarSeries.maximumDates))
        }
        return found.isEmpty ? [next].compactMap { $0 } : found
    }

    /// The times of `RDATE` or `EXDATE`; of a period its beginning.
    private static func times(_ property: ICalendarProperty) -> [ICalendarTime] {
        property.value.split(separator: ",").compactMap { text in
            ICalendarTime(text.prefix { $0 != "/" }, zone: property.parameters["TZID"])
        }
    }

    /// - Parameters:
    ///   - id: when the date would be without a change; nil for what does not recur.
    ///   - isByDay: whether the day alone tells the dates apart, so that another time of day keeps the key.
    ///   - alarms: the component's alarms; nil where they are not read yet.
    /// - Returns: nil for what has no time, and for what is over at `lower`.
    private func occurrence(
        of component: ICalendarComponent, span: ICalendarSpan?, id: Int?, _ time: ICalendarTime? = nil, isByDay: Bool,
        alarms: ICalendarAlarms? = nil, since lower: Int, _ zones: ICalendarZones
    ) -> ICalendarOccurrence? {
        let isToDo = component.name == "VTODO"
        guard span != nil || isToDo else { return nil }
        // A to-do that does not recur waits until it is done.
        if let span, !isToDo || id != nil, zones.utc(span.end ?? span.start) <= lower { return nil }
        guard zones.budget.take(ICalendarSeries.stepsOfOccurrence) else { return nil }
        let date: String? = id.map { id in
            if let time, time.isDate || isByDay { return String(time.basic.prefix(8)) }
            return ICalendarTime(civil: id, isDate: false, zone: .utc).basic + "Z"
        }
        return ICalendarOccurrence(
            component, uid: uid, date: date, span, alarms ?? ICalendarAlarms(component, zones), zones)
    }
}

extension ICalendarComponent {
    fileprivate var revision: Int { self["SEQUENCE"].flatMap { Int($0.value) } ?? 0 }
}
