// SPDX-License-Identifier: Apache-2.0

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
