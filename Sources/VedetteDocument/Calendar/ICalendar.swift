// SPDX-License-Identifier: Apache-2.0

/// One or more iCalendar objects (RFC 5545), read line by line.
///
/// A component that is not closed is an error, so a cut body is never taken for a shorter calendar. The dates of rules are found in counted
/// steps (``ICalendar/maximumSteps``), so no calendar computes for long.
public struct ICalendar: Sendable {
    /// The events and to-dos.
    public private(set) var components: [ICalendarComponent] = []
    /// The time zone of a person, as the calendar names it (`X-WR-TIMEZONE`).
    public private(set) var zone: String?
    /// Lines that are no property; they were skipped.
    public private(set) var badLines: (count: Int, first: Int)?
    /// The definitions of time zones by name.
    private(set) var zones: [String: ICalendarComponent] = [:]

    private static let maximumDepth = 8
    private static let maximumComponents = 100_000
    /// Bytes of one line without its folds: an attachment may be inside it.
    private static let maximumLine = 16 << 20

    private static let read: Set<String> = [
        "VCALENDAR", "VEVENT", "VTODO", "VALARM", "VTIMEZONE", "STANDARD", "DAYLIGHT",
    ]
    /// Others, such as attachments, are not kept.
    private static let kept: Set<String> = [
        "UID", "RECURRENCE-ID", "SEQUENCE", "DTSTART", "DTEND", "DUE", "DURATION", "RRULE", "RDATE", "EXDATE", "EXRULE",
        "SUMMARY", "DESCRIPTION", "LOCATION", "STATUS", "ORGANIZER", "ATTENDEE", "CATEGORIES", "URL", "PRIORITY",
        "PERCENT-COMPLETE", "COMPLETED", "CREATED", "LAST-MODIFIED", "TRIGGER", "ACTION", "PROXIMITY",
        "X-APPLE-PROXIMITY", "TZID", "TZOFFSETFROM", "TZOFFSETTO",
        "X-WR-TIMEZONE",
    ]

    /// - Parameter charset: the `charset` parameter of the response's Content-Type.
    /// - Throws: `.wrongType` for another format, `.truncated` where a component is not closed.
    public init(_ body: [UInt8], charset: String?) throws(DocumentError) {
        let bytes = try ICalendar.decoded(body, charset)
        guard bytes.contains(where: { !$0.isSpace }) else { throw DocumentError(.empty, "the calendar is empty") }
        guard Sniffer.begins(bytes.drop(while: \.isSpace), with: "begin:vcalendar") else {
            let page = Sniffer.isHTML(bytes) ? "the response is an HTML page (a login page?)" : "it begins otherwise"
            throw DocumentError(.wrongType, "a calendar (BEGIN:VCALENDAR) was expected, but \(page)")
        }
        var open: [ICalendarComponent] = []
        var (count, number, first) = (0, 0, 0)
        var line: [UInt8] = []
        // A fold may stand inside a character, so lines are unfolded as bytes.
        var rest = bytes
        while let part = rest.takeLine() {
            number += 1
            let text = part.last == 13 ? part.dropLast() : part
            if let space = text.first, space == 32 || space == 9, !line.isEmpty {
                guard line.count + text.count <= ICalendar.maximumLine else {
                    throw DocumentError(.tooLarge, "line \(first) is longer than 16 MiB")
                }
                line += text.dropFirst()
                continue
            }
            try take(line, first, &open, &count)
            (line, first) = (Array(text), number)
            guard line.count <= ICalendar.maximumLine else {
                throw DocumentError(.tooLarge, "line \(number) is longer than 16 MiB")
            }
        }
        try take(line, first, &open, &count)
        if let last = open.last {
            throw DocumentError(.truncated, "the \(last.name) that begins in line \(last.line) is not closed")
        }
    }

    private static func decoded(_ body: [UInt8], _ charset: String?) throws(DocumentError) -> ArraySlice<UInt8> {
        let encoding = try CharacterEncoding.detect(body, charset: charset)
        let bytes = body[encoding.markBytes...]
        return try encoding.iconvName.map { name throws(DocumentError) in
            try CharacterDecoder.decode(bytes, from: name).0[...]
        } ?? bytes
    }

    private mutating func take(
        _ line: [UInt8], _ number: Int, _ open: inout [ICalendarComponent], _ count: inout Int
    ) throws(DocumentError) {
        guard line.contains(where: { !$0.isSpace }) else { return }
        guard let property = ICalendarProperty(line) else {
            badLines = ((badLines?.count ?? 0) + 1, badLines?.first ?? number)
            return
        }
        let name = property.value.trimmedUppercase
        switch property.name {
        case "BEGIN":
            count += 1
            guard count <= ICalendar.maximumComponents else {
                throw DocumentError(.tooLarge, "the calendar has more than \(ICalendar.maximumComponents) components")
            }
            guard open.count < ICalendar.maximumDepth else {
                throw DocumentError(
                    .tooDeep, "line \(number): components are nested deeper than \(ICalendar.maximumDepth)")
            }
            open.append(ICalendarComponent(name, line: number))
        case "END":
            guard let closed = open.popLast(), closed.name == name else {
                throw DocumentError(.syntax, "line \(number): END:\(name.prefix(40)) closes no component")
            }
            close(closed, in: &open)
        default:
            guard let last = open.indices.last else {
                throw DocumentError(.syntax, "line \(number) stands outside of BEGIN:VCALENDAR … END:VCALENDAR")
            }
            if ICalendar.kept.contains(property.name) { open[last].add(property) }
        }
    }

    private mutating func close(_ component: ICalendarComponent, in open: inout [ICalendarComponent]) {
        guard ICalendar.read.contains(component.name) else { return }
        switch (component.name, open.last?.name) {
        case ("VCALENDAR", nil): zone = zone ?? component["X-WR-TIMEZONE"]?.text
        case ("VEVENT", "VCALENDAR"), ("VTODO", "VCALENDAR"): components.append(component)
        case ("VTIMEZONE", "VCALENDAR"): if let name = component["TZID"]?.text { zones[name] = component }
        case (_, .some): open[open.count - 1].children.append(component)
        default: break
        }
    }
}

extension String {
    fileprivate var trimmedUppercase: String { String(filter { !$0.isWhitespace }).uppercased() }
}
