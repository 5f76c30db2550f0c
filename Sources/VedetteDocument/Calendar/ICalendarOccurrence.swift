// SPDX-License-Identifier: Apache-2.0
/// An event, a to-do, or one date of a recurring one.
public struct ICalendarOccurrence: Sendable {
    /// A time, as text and as seconds since 1970-01-01T00:00:00Z.
    public struct Moment: Sendable {
        /// RFC 3339 by the clock of the person; a date for a whole day.
        public let text: String
        /// Of a date: its midnight.
        public let seconds: Int
        /// Whether it is a date without a time of day.
        public let isDate: Bool
    }

    /// The component that describes it.
    public let component: ICalendarComponent
    /// The UID of the component, or what stands for it.
    public let uid: String
    /// The date of a recurring event, as `20261123`, or with its time; nil for what does not recur.
    public let date: String?
    /// The beginning; nil for a to-do without one.
    public let start: Moment?
    /// The end, exclusive; of a to-do when it is due. Nil where it is the beginning.
    public let end: Moment?
    /// When the first alarm goes off, in seconds since 1970-01-01T00:00:00Z; nil without an alarm.
    public let alarm: Int?

    init(
        _ component: ICalendarComponent, uid: String, date: String?, _ span: ICalendarSpan?, _ alarms: ICalendarAlarms,
        _ zones: ICalendarZones
    ) {
        func moment(_ time: ICalendarTime) -> Moment {
            let utc = zones.utc(time)
            return Moment(text: time.isDate ? time.extended : zones.text(utc), seconds: utc, isDate: time.isDate)
        }
        (self.component, self.uid, self.date) = (component, uid, date)
        let hasStart = component["DTSTART"] != nil
        (start, end) = (
            hasStart ? span.map { moment($0.start) } : nil, (span?.end ?? (hasStart ? nil : span?.start)).map(moment)
        )
        alarm = alarms.first(start: (start ?? end)?.seconds, end: (end ?? start)?.seconds, recurs: date != nil)
    }

    /// Whether it is a to-do.
    public var isToDo: Bool { component.name == "VTODO" }

    /// When it is over, in seconds since 1970-01-01T00:00:00Z; nil for a to-do, which waits until it is done.
    public var over: Int? { isToDo && date == nil ? nil : (end ?? start)?.seconds }

    func begins(before time: Int) -> Bool { order < time }

    var order: Int { (start ?? end)?.seconds ?? .max }
}

/// When the alarms of a component go off.
struct ICalendarAlarms {
    /// Seconds from the start and from the end, and times of UTC: of each sort the first.
    private var fromStart: Int?
    private var fromEnd: Int?
    private var fixed: Int?

    init(_ component: ICalendarComponent, _ zones: ICalendarZones) {
        func earlier(_ one: inout Int?, _ other: Int) { one = min(one ?? other, other) }
        for alarm in component.children where alarm.name == "VALARM" && alarm.isTimed {
            guard let trigger = alarm["TRIGGER"] else { continue }
            if let (days, seconds) = ICalendarDuration.parse(trigger.value) {
                let seconds = days * 86_400 + seconds
                if trigger.parameters["RELATED"] == "END" {
                    earlier(&fromEnd, seconds)
                } else {
                    earlier(&fromStart, seconds)
                }
            } else if let time = ICalendarTime(trigger) {
                earlier(&fixed, zones.utc(time))
            }
        }
    }

    /// The first alarm. One at a fixed time is none of an event that recurs.
    func first(start: Int?, end: Int?, recurs: Bool) -> Int? {
        [
            fromStart.flatMap { alarm in start.map { $0 + alarm } },
            fromEnd.flatMap { alarm in end.map { $0 + alarm } },
            recurs ? nil : fixed,
        ].compactMap { $0 }.min()
    }
}

extension ICalendarComponent {
    /// Whether an alarm goes off at its trigger. Apple writes `ACTION:NONE` with a trigger in 1976 for an event that has no alarm,
    /// and a trigger without meaning beside a place at which the alarm goes off (RFC 9074 §8).
    fileprivate var isTimed: Bool {
        self["ACTION"]?.value.uppercased() != "NONE" && self["X-APPLE-PROXIMITY"] == nil && self["PROXIMITY"] == nil
    }
}
