// SPDX-License-Identifier: Apache-2.0

import VedetteCore
import VedetteDocument

/// One event or to-do of a calendar, as an item.
struct CalendarEntry {
    static let fields = [
        "type", "start", "end", "due", "all_day", "location", "organizer", "categories", "priority", "remind_at",
    ]
    static let notes = ["uid", "date", "description", "attendees", "over_at"]
    /// The states of events; RFC 5545 §3.8.1.11 has them in capitals. Without one an event takes place.
    static let eventStates = ["confirmed", "tentative", "cancelled"]
    /// The states of to-dos. Without one there is something to do.
    static let toDoStates = ["needs-action", "in-process", "completed"]

    let item: Item

    /// - Parameter common: what the component says of all its dates.
    init(_ occurrence: ICalendarOccurrence, remind: Duration?, common: Item) {
        var item = common
        item.key = TextLimit.bounded(ItemKey.joined([occurrence.uid] + [occurrence.date].compactMap { $0 }))
        item.fields["start"] = occurrence.start.map { .text($0.text) }
        item.fields[occurrence.isToDo ? "due" : "end"] = occurrence.end.map { .text($0.text) }
        if (occurrence.start ?? occurrence.end)?.isDate == true { item.fields["all_day"] = "true" }
        item.fields["remind_at"] = CalendarEntry.reminder(occurrence, remind).map { .text($0.rfc3339) }
        item.notes["uid"] = .text(TextLimit.bounded(occurrence.uid))
        item.notes["date"] = occurrence.date.map(Value.text)
        item.notes["over_at"] = occurrence.over.map { .text(Timestamp(seconds: $0).rfc3339) }
        self.item = item
    }

    /// Reads what all dates of a component share, which may be long.
    static func common(_ component: ICalendarComponent, isToDo: Bool) -> Item {
        func text(_ name: String) -> Value? {
            guard let text = component[name]?.text.trimmed(), !text.isEmpty else { return nil }
            return .text(TextLimit.bounded(HTMLText.withoutControls(text)))
        }
        var (fields, notes, measures) = (Fields(), Fields(), Fields())
        fields["type"] = .text(isToDo ? "to-do" : "event")
        fields["location"] = text("LOCATION")
        fields["organizer"] = component["ORGANIZER"].map { .text(TextLimit.bounded(CalendarEntry.person($0))) }
        fields["categories"] = CalendarEntry.list(component.all("CATEGORIES").flatMap(\.texts))
        fields["priority"] = text("PRIORITY")
        notes["description"] = text("DESCRIPTION")
        notes["attendees"] = CalendarEntry.list(component.all("ATTENDEE").map(CalendarEntry.person))
        if let percent = component["PERCENT-COMPLETE"].flatMap({ Int($0.value) }) {
            measures["percent"] = .text("\(percent)")
        }
        let changed = (component["LAST-MODIFIED"] ?? component["CREATED"]).flatMap { FeedDate.parse($0.value) }
        return Item(
            key: "",
            title: component["SUMMARY"].map { HTMLText.collapse($0.text, limit: TextLimit.title) }.flatMap {
                $0.isEmpty ? nil : $0
            },
            state: CalendarEntry.state(component, isToDo: isToDo),
            url: component["URL"].map { $0.value.trimmed() }.flatMap { WebURL($0)?.text }, time: changed,
            fields: fields, notes: notes, measures: measures)
    }

    /// Returns the part of a key that all dates of a recurring event have; nil for what does not recur.
    static func series(_ key: String) -> Substring? { key.lastIndex(of: "/").map { key[..<$0] } }

    private static func state(_ component: ICalendarComponent, isToDo: Bool) -> String {
        let status = component["STATUS"]?.text.trimmed().lowercased() ?? ""
        guard isToDo else { return eventStates.contains(status) ? status : eventStates[0] }
        if toDoStates.contains(status) || status == "cancelled" { return status }
        let isDone = component["COMPLETED"] != nil || component["PERCENT-COMPLETE"]?.value == "100"
        return isDone ? "completed" : toDoStates[0]
    }

    private static func reminder(_ occurrence: ICalendarOccurrence, _ remind: Duration?) -> Timestamp? {
        guard let remind else { return occurrence.alarm.map(Timestamp.init(seconds:)) }
        let moment = occurrence.isToDo ? occurrence.end ?? occurrence.start : occurrence.start
        return moment.map { Timestamp(seconds: $0.seconds).advanced(by: .zero - remind) }
    }

    /// The name of a calendar user, else the address.
    private static func person(_ property: ICalendarProperty) -> String {
        let address = property.value.trimmed()
        let isMail = address.lowercased().hasPrefix("mailto:")
        return HTMLText.collapse(
            property.parameters["CN"] ?? String(address.dropFirst(isMail ? 7 : 0)), limit: TextLimit.title)
    }

    private static func list(_ texts: [String]) -> Value? {
        let texts = texts.prefix(1000).map { HTMLText.collapse($0, limit: TextLimit.title) }
        return texts.isEmpty ? nil : .list(texts)
    }
}

extension Timestamp {
    fileprivate init(seconds: Int) { self.init(milliseconds: Int64(seconds) * 1000) }
}
