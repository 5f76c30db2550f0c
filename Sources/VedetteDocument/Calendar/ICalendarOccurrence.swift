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

    init(_ component: ICalendarComponent, uid: String, date: String?, _ span: ICalendarSpan?, _ zones: ICalendarZones) {
        func moment(_ time: ICalendarTime) -> Moment {
            let utc = zones.utc(time)
            return Moment(text: time.isDate ? time.extended : zones.text(utc), seconds: utc, isDate: time.isDate)
        }
        (self.component, self.uid, self.date) = (component, uid, date)
        let hasStart = component["DTSTART"] != nil
        (start, end) = (
            hasStart ? span.map { moment($0.start) } : nil, (span?.end ?? (hasStart ? nil : span?.start)).map(moment)
        )
        var alarms: [Int] = []
        for alarm in component.children where alarm.name == "VALARM" {
            guard let trigger = alarm["TRIGGER"] else { continue }
            if let (days, seconds) = ICalendarDuration.parse(trigger.value) {
                let anchor = trigger.parameters["RELATED"] == "END" ? end ?? start : start ?? end
                if let anchor { alarms.append(anchor.seconds + days * 86_400 + seconds) }
            } else if date == nil, let time = ICalendarTime(trigger) {
                alarms.append(zones.utc(time))
            }
        }
        alarm = alarms.min()
    }

    /// Whether it is a to-do.
    public var isToDo: Bool { component.name == "VTODO" }

    /// When it is over, in seconds since 1970-01-01T00:00:00Z; nil for a to-do, which waits until it is done.
    public var over: Int? { isToDo && date == nil ? nil : (end ?? start)?.seconds }

    func isOver(at time: Int) -> Bool { over.map { $0 <= time } ?? false }

    func begins(before time: Int) -> Bool { order < time }

    var order: Int { (start ?? end)?.seconds ?? .max }
}
