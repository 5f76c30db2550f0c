// SPDX-License-Identifier: Apache-2.0

import VedetteCore
import VedetteDocument

/// The request of a calendar: of a file by GET, or of a collection by CalDAV's REPORT (RFC 4791 §7.8).
struct CalendarQuery: Sendable {
    static let options = [
        OptionSpec(
            "method", .choice(["GET", "REPORT"]),
            "How it is asked for: `GET` of a file, or CalDAV's `REPORT` of a collection, which is a folder of events.",
            default: "GET"),
        OptionSpec(
            "body", .text, "The query of REPORT, in XML, that asks for `calendar-data`.",
            default: "everything in the collection"),
    ]

    private static let everything = """
        <?xml version="1.0" encoding="utf-8"?>
        <c:calendar-query xmlns:d="DAV:" xmlns:c="urn:ietf:params:xml:ns:caldav"><d:prop><c:calendar-data/></d:prop>\
        <c:filter><c:comp-filter name="VCALENDAR"/></c:filter></c:calendar-query>
        """

    /// Nil for GET.
    private let query: String?

    init(_ options: Options) throws(OptionProblem) {
        let body = options.text("body")
        guard options.text("method") == "REPORT" else {
            if body != nil { throw OptionProblem("body", detail: "'body' is the query of 'method: REPORT'") }
            query = nil
            return
        }
        query = body ?? CalendarQuery.everything
    }

    /// What distinguishes it from a plain GET; empty for one.
    var fingerprint: [String] { query.map { [$0] } ?? [] }

    func template(_ url: String) -> RequestTemplate {
        guard let query else {
            return RequestTemplate(url: url, headers: [Header("Accept", "text/calendar, */*;q=0.5")])
        }
        let headers = [
            Header("Accept", "application/xml, text/xml;q=0.9, */*;q=0.5"),
            Header("Content-Type", "application/xml; charset=utf-8"), Header("Depth", "1"),
        ]
        return RequestTemplate(method: "REPORT", url: url, headers: headers, body: Array(query.utf8))
    }

    /// Returns the calendar in a response; nil for a collection without one.
    func calendar(in page: PageBody) throws(DocumentError) -> ICalendar? {
        guard query != nil else { return try ICalendar(page.bytes, charset: page.headers.charset) }
        let handler = CalendarDataHandler()
        _ = try CalendarDataHandler.reader.read(page.bytes, charset: page.headers.charset, handler: handler)
        return handler.data.isEmpty ? nil : try ICalendar(handler.data, charset: "utf-8")
    }
}

/// Collects the `calendar-data` of a multi-status (RFC 4791 §9.6): each is a calendar, and the text of all is one.
private final class CalendarDataHandler: XMLHandler {
    private enum Name: UInt16 {
        case multistatus = 1, data

        var token: XMLToken { XMLToken(rawValue: rawValue) }
    }

    static let reader: XMLReader = {
        var vocabulary = XMLVocabulary()
        vocabulary.add("multistatus", in: ["DAV:"], as: Name.multistatus.token)
        vocabulary.add("calendar-data", in: ["urn:ietf:params:xml:ns:caldav"], as: Name.data.token)
        return XMLReader(vocabulary)
    }()

    private(set) var data: [UInt8] = []

    func start(_ element: borrowing XMLElement) throws(DocumentError) -> XMLAction {
        let name = Name(rawValue: element.token.rawValue)
        guard element.depth > 1 || name == .multistatus else {
            throw DocumentError(
                .wrongType, "a CalDAV multi-status was expected, but the root element is '\(element.name.prefix(40))'")
        }
        return name == .data ? .text : .enter
    }

    func end(_ element: borrowing XMLEnd) throws(DocumentError) {
        guard element.token == Name.data.token else { return }
        data += element.bytes
        data.append(10)
    }
}
