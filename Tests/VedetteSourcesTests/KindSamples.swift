// SPDX-License-Identifier: Apache-2.0

import VedetteCore

@testable import VedetteSources

/// What the contract of kinds goes through: a kind without a row here fails it.
struct KindSample: Sendable {
    var kind: String
    /// A good body: the name of a fixture, or the text itself.
    var body: Body
    /// How many items it holds.
    var count: Int
    /// Words inside a text of the body: what is put behind them makes that text longer.
    var words: String
    var options: [String: OptionValue] = [:]
    /// Each makes other items, or keys them otherwise.
    var identities: [[String: OptionValue]] = []
    /// Why a body that is empty, cut or huge is still an item.
    var takesAnything: String?

    enum Body: Sendable {
        case fixture(String)
        case text(String)
    }

    /// Matches lines with a blank: the group `word` is what stands before it, `rest` the rest unless that is `-`.
    struct FirstWord: Pattern {
        let source = "^(?<word>[^ ]+) (?:-|(?<rest>.*))$"
        let groupNames = ["word", "rest"]

        func matches(_ text: String) -> Bool { text.contains(" ") }

        func groups(inEach texts: [String]) -> [[String: String]?] {
            texts.map { text in
                let parts = text.split(separator: " ", maxSplits: 1).map(String.init)
                guard parts.count == 2 else { return nil }
                return parts[1] == "-" ? ["word": parts[0]] : ["word": parts[0], "rest": parts[1]]
            }
        }
    }

    func bytes() throws -> [UInt8] {
        switch body {
        case .fixture(let name): try Fixture.bytes(name)
        case .text(let text): Array(text.utf8)
        }
    }

    func made(_ more: [String: OptionValue] = [:]) throws -> any SourceKind {
        try Fixture.kind(kind, options.merging(more) { $1 })
    }

    func read(_ bytes: [UInt8]) throws -> Page {
        var page = PageBody(bytes: bytes, url: "https://host.example.org/list")
        // As after a page that had its end tag: a cut one is found by that alone.
        page.needsEndTag = true
        return try made().read(&page)
    }

    static func of(_ kind: String) -> KindSample? { all.first { $0.kind == kind } }

    static let all = [
        KindSample(
            kind: "cloudburst", body: .fixture("cloudburst-virtualSystems-1.json"), count: 8,
            words: "WAS lab clone 05"),
        KindSample(
            kind: "connections", body: .fixture("connections-public-1.xml"), count: 20,
            words: "back from leave",
            identities: [
                ["updates": .text("status")], ["source": .text("blogs")], ["userid": .text("u-1")],
                ["format": .text("json")], ["parameters": .map([("communityUUID", .text("c"))])],
            ]),
        KindSample(
            kind: "feed",
            body: .text(
                """
                <?xml version="1.0"?><rss version="2.0"><channel><title>News</title>
                <item><guid>a</guid><title>One thing</title><description>First &amp; only</description>
                <link>https://host.example.org/a</link><author>ann@example.org</author><category>x</category>
                <pubDate>Sat, 21 Nov 2026 10:00:00 GMT</pubDate>
                <enclosure url="/a.ogg" type="audio/ogg" length="1"/></item>
                <item><guid>b</guid><title>Another</title></item></channel></rss>
                """), count: 2, words: "First &amp; only",
            options: ["compare": .list([.text("content"), .text("link"), .text("categories")])],
            identities: [["key": .list([.text("link")])]]),
        KindSample(
            kind: "json",
            body: .text(
                #"{"ok": true, "runs": [{"id": 1, "name": "build one", "by": {"who": "ann"}, "s": "done", "ms": 12},"#
                    + #" {"id": 2, "name": "build two", "by": null, "s": "due", "ms": 7}]}"#),
            count: 2, words: "build one",
            options: [
                "items": .text("runs"), "state": .list([.text("s")]),
                "fields": .map([("who", .text("by.who"))]),
                "notes": .map([("label", .text("name"))]), "measures": .map([("ms", .text("ms"))]),
            ],
            identities: [
                ["items": .text("data")], ["key": .list([.text("name")])], ["mode": .text("window")],
                ["key": .list([.text("id"), .text("name")])], ["jq": .text(".runs")],
                ["body": .json(.string("query"))],
            ]),
        KindSample(
            kind: "xml",
            body: .text(
                """
                <jobs><job id="1"><name>build one</name><who>ann</who><ms>12</ms></job>
                <job id="2"><name>build two</name></job></jobs>
                """), count: 2, words: "build one",
            options: [
                "items": .text("/jobs/job"), "fields": .map([("who", .text("who"))]),
                "notes": .map([("label", .text("name"))]), "measures": .map([("ms", .text("ms"))]),
            ],
            identities: [
                ["items": .text("/jobs/*")], ["key": .list([.text("name")])], ["mode": .text("window")],
            ]),
        KindSample(
            kind: "html",
            body: .text(
                """
                <!DOCTYPE html><html><head><title>Shop</title></head><body><table>
                <tr id="p1"><td><a href="/1">Lamp of brass</a></td><td>12</td></tr>
                <tr id="p2"><td><a href="/2">Desk</a></td><td>80</td></tr></table></body></html>
                """), count: 2, words: "Lamp of brass",
            options: [
                "items": .text("//tr"), "fields": .map([("price", .text("td[2]"))]),
                "notes": .map([("label", .text("td[1]"))]), "measures": .map([("euros", .text("td[2]"))]),
            ],
            identities: [
                ["items": .text("//td")], ["key": .list([.text("td[1]")])], ["mode": .text("window")],
            ]),
        KindSample(
            kind: "text", body: .text("good morning\nand good night\n"), count: 1, words: "good morning",
            identities: [
                ["match": .pattern(FirstWord())], ["match": .pattern(FirstWord()), "key": .list([.text("word")])],
                ["match": .pattern(FirstWord()), "mode": .text("window")],
            ],
            takesAnything: "a text has no structure: what is empty, cut or huge is a text, too"),
        KindSample(
            kind: "calendar",
            body: .text(
                """
                BEGIN:VCALENDAR
                BEGIN:VEVENT
                UID:a
                SUMMARY:Release of the year
                DTSTART:20261123T090000Z
                LOCATION:Room 3
                STATUS:TENTATIVE
                END:VEVENT
                BEGIN:VTODO
                UID:b
                SUMMARY:Write it down
                PERCENT-COMPLETE:10
                END:VTODO
                END:VCALENDAR
                """), count: 2, words: "Release of the year", identities: [["ahead": .duration(.seconds(86_400))]]),
        KindSample(
            kind: "http", body: .text("good morning"), count: 1, words: "good morning",
            options: ["body": .text("compare"), "headers": .map([("version", .text("X-Version"))])],
            takesAnything: "it observes the response: whatever comes is up or down, never a failed poll"),
    ]
}
