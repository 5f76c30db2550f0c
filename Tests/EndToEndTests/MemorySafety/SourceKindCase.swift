// SPDX-License-Identifier: Apache-2.0

/// A source kind with a body that it reads, in several states, and one that it cannot read.
struct SourceKindCase: Sendable {
    let kind: String
    /// The name of the file that holds the body; its extension gives the media type.
    let file: String
    /// Options of the source beside its address.
    var options = ""
    /// The key of the item that changes, and its field that does; nil where the address is the key.
    let key: String?
    let field: String
    /// Values of the field in the first body and in the changed one.
    var first = "a"
    var changed = "b"
    /// A body in which the field has that value.
    let body: @Sendable (String) -> String
    /// The body, or record of a stream, that the kind cannot read; nil for the beginning of a good one.
    var unreadable: String?
    /// The class of that failure; nil for a kind that observes failures instead of having them.
    var failure: String? = "truncated"
    /// A record of a stream in which the field has that value; nil for a kind that reads no stream.
    var record: (@Sendable (String) -> String)?

    func unreadable(_ good: String) -> String { unreadable ?? String(good.prefix(good.count / 2)) }

    /// A kind that is missing here is found by the suite's first test.
    static let all = [
        SourceKindCase(
            kind: "cloudburst", file: "cloudburst.json", key: "59", field: "state", first: "Starting",
            changed: "Ready for use", body: cloudBurst),
        SourceKindCase(kind: "connections", file: "connections.xml", key: "urn:e1", field: "title", body: atom),
        SourceKindCase(
            kind: "feed", file: "feed.xml", key: "urn:e1", field: "title", body: atom, record: { feed([1: $0]) }),
        SourceKindCase(
            kind: "json", file: "json.json", options: "state: state", key: "1", field: "state",
            body: { #"[{"id": 1, "state": "\#($0)"}, {"id": 2, "state": "x"}]"# },
            record: { #"{"id": 1, "state": "\#($0)"}"# }),
        SourceKindCase(
            kind: "xml", file: "xml.xml", options: "items: /rows/row, state: '@state'", key: "1", field: "state",
            body: { #"<rows><row id="1" state="\#($0)"/><row id="2" state="x"/></rows>"# },
            record: { #"<rows><row id="1" state="\#($0)"/></rows>"# }),
        SourceKindCase(
            kind: "html", file: "html.html", options: "items: //tr, state: 'td[1]'", key: "1", field: "state",
            body: {
                #"<html><body><table><tr id="1"><td>\#($0)</td></tr><tr id="2"><td>x</td></tr></table></body></html>"#
            }
        ),
        SourceKindCase(
            kind: "text", file: "text.txt", options: #"match: '^(?<key>\S+) (?<state>\S+)$', state: state"#, key: "one",
            field: "state", body: { "one \($0)\ntwo x\n" },
            unreadable: "<!DOCTYPE html><html><body>Sign in</body></html>",
            failure: "wrong-type", record: { "one \($0)" }),
        SourceKindCase(
            kind: "calendar", file: "calendar.ics", key: "one", field: "title", body: calendar,
            unreadable: "BEGIN:VCALENDAR\r\nVERSION:2.0\r\n"),
        SourceKindCase(
            kind: "http", file: "http.txt", options: "contains: it is up", key: nil, field: "state", first: "up",
            changed: "down", body: { "it is \($0)" }, unreadable: "nothing", failure: nil),
    ]

    private static let cloudBurst: @Sendable (String) -> String = { state in
        let (status, message) = state == "Starting" ? ("RM01005", "null") : ("RM01006", #""RM07045""#)
        return """
            [{"id": 59, "name": "WAS lab", "currentstatus": "\(status)", "currentmessage": \(message), "updated": 2},
             {"id": 60, "name": "Portal QA", "currentstatus": "RM01011", "currentmessage": "RM07153", "updated": 2}]
            """
    }

    private static let atom: @Sendable (String) -> String = { feed([1: $0, 2: "x", 3: "x"]) }

    /// A feed of entries with these titles, newest first.
    private static func feed(_ titles: [Int: String]) -> String {
        let entries = titles.sorted { $0.key > $1.key }.map { number, title in
            "<entry><id>urn:e\(number)</id><title>\(title)</title><updated>2026-01-01T10:0\(number):00Z</updated></entry>"
        }
        return #"<feed xmlns="http://www.w3.org/2005/Atom"><id>urn:f</id><title>News</title>"#
            + "<updated>2026-01-01T11:00:00Z</updated>\(entries.joined())</feed>"
    }

    /// An event far ahead, and one that recurs, so that its dates are computed.
    private static let calendar: @Sendable (String) -> String = { title in
        let events = [
            ["UID:one", "DTSTART:20990101T100000Z", "SUMMARY:\(title)"],
            ["UID:two", "DTSTART:20200101T100000Z", "RRULE:FREQ=DAILY", "SUMMARY:x"],
        ].flatMap { ["BEGIN:VEVENT", "DTSTAMP:20200101T000000Z"] + $0 + ["END:VEVENT"] }
        let lines = ["BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:x"] + events + ["END:VCALENDAR"]
        return lines.map { $0 + "\r\n" }.joined()
    }
}
