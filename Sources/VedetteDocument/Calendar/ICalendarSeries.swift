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
        in range: ClosedRange<Int>, _ zones: ICalendarZones, _ budget: inout ICalendarBudget,
        _ problems: inout ICalendarProblems
    ) throws(DocumentError) -> [ICalendarOccurrence] {
        var overrides: [Int: ICalendarComponent] = [:]
        for component in changed {
            guard let id = component["RECURRENCE-ID"].flatMap(ICalendarTime.init) else {
                problems.unread.append(component.line)
                continue
            }
            if component["RECURRENCE-ID"]?.parameters["RANGE"] != nil { problems.ranges += 1 }
            overrides[zones.utc(id)] = component
        }
        func changes() -> [ICalendarOccurrence] {
            overrides.compactMap { occurrence(of: $1, span: ICalendarSpan($1, zones), id: $0, isByDay: false, zones) }
        }
        guard let main else { return changes().filter { !$0.isOver(at: range.lowerBound) } }
        guard let span = ICalendarSpan(main, zones) else {
            if main.name == "VEVENT" || main["DTSTART"] != nil { problems.unread.append(main.line) }
            return main.name == "VTODO"
                ? [occurrence(of: main, span: nil, id: nil, isByDay: false, zones)].compactMap { $0 } : []
        }
        guard main["RRULE"] != nil || main["RDATE"] != nil else {
            let one = [occurrence(of: main, span: span, id: nil, isByDay: false, zones)].compactMap { $0 }
            return (one + changes()).filter { !$0.isOver(at: range.lowerBound) }
        }
        return try recurring(main, span, overrides, in: range, zones, &budget, &problems)
    }

    private func recurring(
        _ main: ICalendarComponent, _ span: ICalendarSpan, _ overrides: [Int: ICalendarComponent],
        in range: ClosedRange<Int>,
        _ zones: ICalendarZones, _ budget: inout ICalendarBudget, _ problems: inout ICalendarProblems
    ) throws(DocumentError) -> [ICalendarOccurrence] {
        let rules = main.all("RRULE").map { ICalendarRule($0.value) }
        problems.rules += rules.count { $0 == nil } + main.all("EXRULE").count
        let isByDay = rules.count == 1 && rules[0]?.isDaily == true && main["RDATE"] == nil
        let excluded = Set(main.all("EXDATE").flatMap { ICalendarSeries.times($0).map(zones.utc) })
        let first = span.start
        // A day is added on both sides, since days are not equally long and clocks differ.
        let from = zones.civil(at: range.lowerBound, in: first.zone) - span.longest - 86_400
        let civil = from...(zones.civil(at: range.upperBound, in: first.zone) + 86_400)
        var starts: Set<Int> = [first.civil]
        for rule in rules.compactMap({ $0 }) {
            let last = rule.last(for: first, zones)
            // The next date may be excluded or changed: then one behind it is the next.
            let behind = min(1 + excluded.count + overrides.count, ICalendarSeries.maximumDates)
            starts.formUnion(try rule.dates(from: first, in: civil, behind: behind, until: last, &budget))
        }
        starts.formUnion(
            main.all("RDATE").flatMap(ICalendarSeries.times).map { time in
                time.isDate || time.zone == first.zone ? time.civil : zones.civil(at: zones.utc(time), in: first.zone)
            })
        var (found, used, next) = ([ICalendarOccurrence](), Set<Int>(), ICalendarOccurrence?.none)
        for start in starts.sorted() {
            let time = ICalendarTime(civil: start, isDate: first.isDate, zone: first.zone)
            let id = zones.utc(time)
            used.insert(id)
            guard !excluded.contains(id) else { continue }
            let override = overrides[id]
            let shown = override.map { ICalendarSpan($0, zones) } ?? span.moved(to: time)
            guard let one = occurrence(of: override ?? main, span: shown, id: id, time, isByDay: isByDay, zones),
                !one.isOver(at: range.lowerBound)
            else { continue }
            if one.begins(before: range.upperBound) {
                found.append(one)
            } else if next == nil {
                next = one
            }
        }
        for (id, component) in overrides where !used.contains(id) {
            let time = component["RECURRENCE-ID"].flatMap(ICalendarTime.init)
            guard
                let one = occurrence(
                    of: component, span: ICalendarSpan(component, zones), id: id, time, isByDay: isByDay, zones),
                !one.isOver(at: range.lowerBound), one.begins(before: range.upperBound)
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
    private func occurrence(
        of component: ICalendarComponent, span: ICalendarSpan?, id: Int?, _ time: ICalendarTime? = nil, isByDay: Bool,
        _ zones: ICalendarZones
    ) -> ICalendarOccurrence? {
        guard span != nil || component.name == "VTODO" else { return nil }
        let date: String? = id.map { id in
            if let time, time.isDate || isByDay { return String(time.basic.prefix(8)) }
            return ICalendarTime(civil: id, isDate: false, zone: .utc).basic + "Z"
        }
        return ICalendarOccurrence(component, uid: uid, date: date, span, zones)
    }
}

extension ICalendarComponent {
    fileprivate var revision: Int { self["SEQUENCE"].flatMap { Int($0.value) } ?? 0 }
}

/// From when to when a component is, by the clocks of its zone.
struct ICalendarSpan {
    /// The beginning; of a to-do without one when it is due.
    let start: ICalendarTime
    /// The end, or when a to-do is due; nil where it is the beginning.
    let end: ICalendarTime?
    /// Seconds of UTC between both.
    private let seconds: Int

    /// - Returns: nil without a beginning that can be read.
    init?(_ component: ICalendarComponent, _ zones: ICalendarZones) {
        let due = (component["DUE"] ?? component["DTEND"]).flatMap(ICalendarTime.init)
        guard let start = component["DTSTART"].map(ICalendarTime.init) ?? due else { return nil }
        self.start = start
        if let due {
            // An end before the beginning is a mistake (RFC 5545 §3.8.2.2): then the event has no length.
            end = zones.utc(due) > zones.utc(start) ? due : nil
        } else if let (days, seconds) = component["DURATION"].flatMap({ ICalendarDuration.parse($0.value) }),
            days >= 0, seconds >= 0, days + seconds > 0
        {
            var end = start
            end.civil += days * 86_400
            if seconds > 0 {
                let utc = zones.utc(end) + seconds
                end.civil = zones.civil(at: utc, in: start.zone)
            }
            self.end = end
        } else {
            // An event of a date lasts that day (RFC 5545 §3.6.1).
            let isDay = start.isDate && component.name == "VEVENT"
            end = isDay ? ICalendarTime(civil: start.civil + 86_400, isDate: true, zone: start.zone) : nil
        }
        seconds = end.map { zones.utc($0) - zones.utc(start) } ?? 0
    }

    private init(_ start: ICalendarTime, _ end: ICalendarTime?, _ seconds: Int) {
        (self.start, self.end, self.seconds) = (start, end, seconds)
    }

    /// Seconds of UTC from the start to the end.
    var longest: Int { max(0, seconds) }

    /// Returns the span of another date: it has as many days, or as many seconds.
    func moved(to start: ICalendarTime) -> ICalendarSpan {
        guard var end else { return ICalendarSpan(start, nil, 0) }
        end.civil += start.civil - self.start.civil
        return ICalendarSpan(start, end, seconds)
    }
}
