// SPDX-License-Identifier: Apache-2.0

import VedetteCore

@testable import VedetteSources

/// Readers of what servers answer.
extension FuzzReader {
    private static let markup = [
        "<", ">", "/>", "</", "<!--", "-->", "<![CDATA[", "]]>", "<?xml version='1.0'?>", "<!DOCTYPE a [",
        "<!ENTITY a 'b'>",
        "&", "&#0;", "&#x10FFFF;", "&amp;", "&nbsp;", "&a;", "\"", "'", "=", " xml:base='//x'", " xmlns:a='b'", "<b>",
        "</b>",
        "<p a=1 a=2>", "<item>", "</item>", "<entry>", "<link href='x'/>", "<guid>", "<script>", "</script", "<title>",
        "\u{0}",
        "\u{FEFF}", "\u{FFFE}", "é", "\r\n", "<html>", "</html>",
    ]
    private static let json = [
        "{", "}", "[", "]", ",", ":", "\"", "\\", "\\u0000", "\\ud800", "null", "true", "1e999", "-", "0.1", "\"id\":",
        "\"items\":",
        "[[", "{\"a\":", "\u{0}", "é", "\u{FEFF}", " ", "9007199254740993",
    ]

    /// Reads a body twice and compares the results, their keys and their size.
    ///
    /// - Parameters:
    ///   - mayBeWhole: the only item may be the whole document, an object without a key; the engine names it.
    ///   - keepsControls: titles are values of JSON as they stand; each output escapes their controls.
    private static func check(
        _ kind: any SourceKind, _ bytes: [UInt8], mayBeWhole: Bool = false, keepsControls: Bool = false
    ) throws -> String? {
        func read() throws -> Page {
            var page = PageBody(
                bytes: bytes, url: "https://news.example.org/feed",
                receivedAt: Timestamp(milliseconds: 1_795_000_000_000))
            return try kind.read(&page)
        }
        let page = try read()
        let again = try read()
        if page.items != again.items { return "two readings differ" }
        // A kind whose keys are the server's ids leaves repeated ones to the paginator, which takes the first of each.
        var paginator = Paginator(mode: kind.mode, url: "https://news.example.org/feed", known: nil, newest: nil)
        _ = paginator.pageRead(page)
        let keys = paginator.observation.items.map(\.key)
        if Set(keys).count != keys.count { return "two items have one key" }
        let isWhole = mayBeWhole && page.items.count == 1 && startsObject(bytes)
        if !isWhole, page.items.contains(where: \.key.isEmpty) { return "an item has no key" }
        let titles = keepsControls ? [] : page.items.compactMap(\.title)
        if let title = titles.first(where: { $0.utf8.contains { $0 < 0x20 } }) {
            return "a title holds a control character: \(title.debugDescription)"
        }
        var size = 0
        for item in page.items {
            size += item.key.utf8.count + (item.title?.utf8.count ?? 0)
            for field in item.fields { size += field.value.description.utf8.count }
            for note in item.notes { size += note.value.description.utf8.count }
        }
        // Addresses grow by the page's own, and `&lt;` by nothing.
        return size > 64 * (bytes.count + 100) ? "\(size) bytes were read from \(bytes.count)" : nil
    }

    /// Whether the first byte that is neither of a byte order mark nor white space begins an object.
    private static func startsObject(_ bytes: [UInt8]) -> Bool {
        bytes.first { $0 > 0x20 && ![0xEF, 0xBB, 0xBF].contains($0) } == UInt8(ascii: "{")
    }

    private static func made(_ name: String, _ options: [String: OptionValue] = [:]) throws -> any SourceKind {
        guard let entry = SourceKinds.all.first(where: { $0.name == name }) else {
            throw OptionProblem("kind", detail: "no kind '\(name)'")
        }
        return try entry.make(Options(options))
    }

    private static let page = """
        <!DOCTYPE html><html><head><title>Jobs &amp; more</title><meta charset=utf-8><script>if (a < b) x("<p>");</script>
        </head><body><p id=1>One<p id=2>Two <b>bold<i>both</b></i><ul><li>a<li>b &copy;</ul><a href="/x?a=1" @click=go>l</a>
        <table><tr><td>1<td>2</table><textarea><b></textarea><!-- c --><br/></body></html>
        """

    static let documents = [
        FuzzReader(
            "feeds", words: markup + json,
            samples: {
                try files("VedetteSourcesTests/Corpus/feeds", suffixes: [".xml", ".atom", ".rdf", ".json"])
            },
            check: {
                let kind = try made("feed")
                return { try check(kind, $0) }
            }),
        FuzzReader(
            "xml", words: markup,
            samples: { try files("VedetteSourcesTests/Corpus/feeds", suffixes: [".xml", ".atom", ".rdf"]) },
            check: {
                let kind = try made(
                    "xml",
                    [
                        "items": .text("//*[local-name()='item' or local-name()='entry']"),
                        "key": .list([.text("position()")]),
                        "title": .list([.text("*[1]")]),
                        "fields": .map([("all", .text(".//text()")), ("ids", .text("@*"))]),
                    ])
                return { try check(kind, $0) }
            }),
        FuzzReader(
            "html", words: markup,
            samples: { [Array(page.utf8)] + (try files("Fixtures", suffixes: [".html"])) },
            check: {
                let kind = try made("html", ["items": .text("//p | //li | //a"), "key": .list([.text("position()")])])
                return { try check(kind, $0) }
            }),
        FuzzReader(
            "json", words: json,
            samples: {
                try files("Fixtures", suffixes: [".json"]) + [
                    Array(
                        #"{"items": [{"id": 1, "t": "a\n\ud83d\ude00", "s": null, "l": [1, "x"]}, {"id": "2"}], "next": "/p?2"}"#
                            .utf8)
                ]
            },
            check: {
                let list = try made(
                    "json", ["items": .text("items"), "next": .text("next"), "fields": .map([("l", .text("l"))])])
                let root = try made(
                    "json", ["state": .list([.text("status"), .text("l.0")]), "html": .list([.text("title")])])
                return { bytes in
                    if let finding = try? check(list, bytes) { return finding }
                    return try? check(root, bytes, mayBeWhole: true)
                }
            }),
        FuzzReader(
            "systems", words: json, samples: { try files("Fixtures", suffixes: [".json"]) },
            check: {
                let kind = try made("cloudburst")
                return { try check(kind, $0, keepsControls: true) }
            }),
        FuzzReader(
            "updates", words: markup, samples: { try files("Fixtures", suffixes: [".xml"]) },
            check: {
                let kind = try made("connections")
                return { try check(kind, $0) }
            }),
        FuzzReader(
            "values", words: json,
            samples: { try files("Fixtures", suffixes: [".json"]) },
            check: {
                { bytes in
                    let value = try JSON(parsing: bytes)
                    return try JSON(parsing: value.bytes) == value ? nil : "it is written as another value"
                }
            }),
        FuzzReader(
            "recognition", words: markup + json,
            samples: { try files("Fixtures", suffixes: [".json", ".xml", ".html"]) },
            check: {
                { bytes in
                    let proposals = Recogniser.proposals(
                        url: "https://api.example.org/", headers: .init(), body: bytes)
                    if proposals.last?.kind != "http" { return "no proposal for any answer" }
                    return proposals.count > 300 ? "\(proposals.count) proposals" : nil
                }
            }),
        FuzzReader(
            "calendars",
            words: [
                "BEGIN:VEVENT\n", "END:VEVENT\n", "BEGIN:VTIMEZONE\n", "\r\n ", "\n\t", ";TZID=Europe/Vienna:", "FREQ=",
                "BYDAY=-1MO",
                "BYSETPOS=-1", "COUNT=9", "INTERVAL=", "UNTIL=20261231", "20261123T090000Z", "99991231", "PT15M", "\\n",
                "\"",
                "RECURRENCE-ID:", "EXDATE:", "RDATE:", "DURATION:", "DTEND:", "HOURLY", "YEARLY",
            ],
            texts: [
                "BEGIN:VCALENDAR\nBEGIN:VTIMEZONE\nTZID:Z\nBEGIN:STANDARD\nDTSTART:19701101T000000\nTZOFFSETFROM:+0300\n"
                    + "TZOFFSETTO:+0230\nRRULE:FREQ=YEARLY;BYMONTH=11;BYDAY=1SU\nEND:STANDARD\nEND:VTIMEZONE\nBEGIN:VEVENT\nUID:a\n"
                    + "DTSTART;TZID=Z:20261101T090000\nRRULE:FREQ=WEEKLY;BYDAY=MO,TU\nEXDATE;TZID=Z:20261123T090000\nSUMMARY:A\\, b\n"
                    + "BEGIN:VALARM\nTRIGGER:-PT15M\nEND:VALARM\nEND:VEVENT\nEND:VCALENDAR\n",
                "BEGIN:VCALENDAR\r\nBEGIN:VTODO\r\nUID:b\r\nDUE:20261123\r\nRRULE:FREQ=MONTHLY;COUNT=3\r\nEND:VTODO\r\n"
                    + "BEGIN:VEVENT\r\nUID:c\r\nDTSTART:20261123T090000\r\nDURATION:P1DT2H\r\nRDATE:20261124T090000\r\n"
                    + "END:VEVENT\r\nEND:VCALENDAR\r\n",
            ],
            check: {
                let kind = try made("calendar", ["ahead": .duration(.seconds(86_400))])
                return { try check(kind, $0) }
            }),
        FuzzReader(
            "dates",
            words: [
                "0", "99", "-", ":", "+14:00", "Nov", "T", "Z", ".", "月", "am", " ", "\u{0}", "999999999999999999",
                "24:00:00",
            ],
            texts: [
                "Sat, 21-Nov-2026 02:00:00.5 +02:00", "2026-11-21T02:00:00,5+0100[Europe/Rome]", "2026年11月21日 02:00",
                "1795226400.25", "21. März 2026 12:30 pm MESZ", "20261121T020000Z", "11/21/2026 2:00 AM",
            ],
            check: {
                { bytes in
                    guard let time = bytes.withUnsafeBufferPointer({ FeedDate.parse($0) }) else { return nil }
                    // A year has at most four digits, so no time can leave the calendar and be written in another form.
                    return Timestamp(rfc3339: time.rfc3339) == time
                        ? nil : "\(time.milliseconds) ms cannot be written as a date"
                }
            }),
    ]
}
