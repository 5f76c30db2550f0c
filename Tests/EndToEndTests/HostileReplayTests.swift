// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// Bodies as successive polls of one source, through the whole program.
struct Replayed: Sendable {
    var code: Int32
    /// `item.appeared a`, in their order.
    var events: [String]
    var said: String
    /// Of all that was printed.
    var bytes: Int

    /// - Parameter options: of the source, beside its kind: `, mode: window`.
    static func of(_ kind: String, _ options: String = "", _ bodies: [Data]) async throws -> Replayed {
        let home = try Home()
        try home.write(
            "sources: {s: {kind: \(kind), url: \"https://host.example.org/list\", every: 10m\(options)}}")
        let files = try bodies.enumerated().map { number, body in
            let file = home.directory.appending(path: "\(number + 1)")
            try body.write(to: file)
            return file.path
        }
        let result = try await Program.run(["replay", "s", "--json"] + files + home.places)
        let events = result.json.map { event in
            let type = (event.text("type") ?? "").replacingOccurrences(of: "io.vedette.", with: "")
            return event.text("subject").map { "\(type) \($0)" } ?? type
        }
        return Replayed(code: result.code, events: events, said: result.err, bytes: result.out.utf8.count)
    }

    static func of(_ kind: String, _ options: String = "", _ bodies: String...) async throws
        -> Replayed
    {
        try await of(kind, options, bodies.map { Data($0.utf8) })
    }
}

/// A good body of each kind that reads documents, with a place where more can stand.
struct Document: Sendable {
    var kind: String
    var options = ""
    /// With `%` where the name of a second item stands.
    var text: String

    var good: String { text.replacingOccurrences(of: "%", with: "second") }
    func with(_ inner: String) -> String { text.replacingOccurrences(of: "%", with: inner) }

    static let atom =
        "<feed xmlns='http://www.w3.org/2005/Atom'><title>t</title><entry><id>a</id><title>first</title></entry>"
        + "<entry><id>b</id><title>%</title></entry></feed>"
    static let rss =
        "<rss version='2.0'><channel><item><guid>a</guid><title>first</title></item>"
        + "<item><guid>b</guid><title>%</title></item></channel></rss>"
    static let rows = "<r><i id='a'><title>first</title></i><i id='b'><title>%</title></i></r>"
    static let page = "<html><body><ul><li id='a'>first</li><li id='b'>%</li></ul></body></html>"

    static let xml = [
        Document(kind: "feed", text: atom), Document(kind: "feed", text: rss),
        Document(kind: "connections", text: atom),
        Document(kind: "xml", options: ", items: /r/i", text: rows),
    ]
    static let html = Document(kind: "html", options: ", items: //li", text: page)
    static let json = [
        Document(kind: "json", text: #"[{"id": "a", "title": "first"}, {"id": "b", "title": "%"}]"#),
        Document(
            kind: "cloudburst",
            text: #"[{"id": 1, "currentstatus": "RM01006", "name": "first"}, "#
                + #"{"id": 2, "currentstatus": "RM01006", "name": "%"}]"#),
        Document(
            kind: "feed",
            text: #"{"version": "https://jsonfeed.org/version/1.1", "title": "t", "items": "#
                + #"[{"id": "a", "title": "first"}, {"id": "b", "title": "%"}]}"#),
    ]
}

@Suite("Hostile bodies, through the whole program", .timeLimit(.minutes(10)))
struct HostileReplayTests {
    /// Good, bad, good: the bad one is a failed poll of its class, and nothing is said of any item.
    private func fails(_ document: Document, _ bad: String, _ failure: String) async throws {
        let seen = try await Replayed.of(
            document.kind, document.options, document.good, bad, document.good)
        #expect(seen.code == 65, "\(document.kind): \(seen)")
        #expect(
            seen.said.contains("poll 2: \(failure): "), "\(document.kind): \(seen.said.prefix(300))")
        #expect(seen.events == [], "\(document.kind)")
    }

    @Test("case 7: entities that multiply are refused, nested or plain, and no event comes of them")
    func entities() async throws {
        let nested = (1...9).map {
            "<!ENTITY e\($0) '\(String(repeating: "&e\($0 - 1);", count: 10))'>"
        }.joined()
        let laughs = "<!DOCTYPE x [<!ENTITY e0 'ha'>\(nested)]>"
        let quadratic = "<!DOCTYPE x [<!ENTITY e9 '\(String(repeating: "x", count: 50_000))'>]>"
        for document in Document.xml {
            try await fails(document, laughs + document.with("&e9;"), "malformed")
            let many = String(repeating: "&e9;", count: 50_000)
            try await fails(document, quadratic + document.with(many), "malformed")
        }
    }

    @Test("case 9: a hundred thousand levels are an error, not the end of the program")
    func depth() async throws {
        func nest(_ open: String, _ close: String) -> String {
            String(repeating: open, count: 100_000) + String(repeating: close, count: 100_000)
        }
        for document in Document.xml {
            try await fails(document, document.with(nest("<a>", "</a>")), "too-large")
        }
        try await fails(Document.html, Document.html.with(nest("<b>", "</b>")), "too-large")
        for document in Document.json {
            let deep = document.good.replacingOccurrences(
                of: "\"second\"", with: "\"second\", \"x\": \(nest("[", "]"))")
            try await fails(document, deep, "too-large")
            if document.kind != "feed" { try await fails(document, nest("[", "]"), "too-large") }
        }
    }

    @Test("case 10: fifty thousand attributes, and a text of forty megabytes, are refused")
    func size() async throws {
        let attributes = "<a" + (0..<50_000).map { " a\($0)='1'" }.joined() + "/>"
        let long = String(repeating: "x", count: 40 << 20)
        for document in Document.xml + [Document.html] {
            try await fails(document, document.with(attributes), "too-large")
        }
        for document in Document.xml + [Document.html] + Document.json {
            try await fails(document, document.with(long), "too-large")
        }
    }

    @Test("case 10: a text of eleven megabytes in a tree fails the poll, and never ends the list before its end")
    func textOfATree() async throws {
        let long = String(repeating: "word ", count: 2_200_000)
        let script = "<script>\(long)</script>"
        for document in [Document.html, Document.xml[3]] {
            try await fails(document, document.with(long), "too-large")
        }
        let page = Document.html.good.replacingOccurrences(of: "<ul>", with: "<ul>\(script)")
        try await fails(Document.html, page, "too-large")
    }

    @Test("case 10: a text of eleven megabytes in JSON keeps its beginning and a digest", arguments: Document.json)
    func textOfJSON(document: Document) async throws {
        let long = String(repeating: "word ", count: 2_200_000)
        let seen = try await Replayed.of(document.kind, document.options, document.good, document.with(long))
        #expect(seen.code == 0, "\(document.kind): \(seen.said)")
        #expect(seen.bytes < 400_000, "\(document.kind)")
    }

    @Test("case 14: a document that is cut fails the poll, wherever it was cut")
    func cut() async throws {
        for document in Document.xml + [Document.html] + Document.json {
            let good = document.good
            for count in [good.count / 3, good.count - 1] {
                try await fails(document, String(good.prefix(count)), "truncated")
            }
        }
    }

    @Test("case 16: a page to sign in is a failed poll, not an empty list")
    func login() async throws {
        let login =
            "<!DOCTYPE html><html><head><title>Sign in</title></head><body><form></form></body></html>"
        for document in Document.xml + Document.json { try await fails(document, login, "wrong-type") }
        let page = try await Replayed.of(
            "html", Document.html.options, Document.html.good, login, Document.html.good)
        #expect(page.events == ["source.suspect"])
        var demanding = Document.html
        demanding.options += ", require: {'count(//ul)': '1'}"
        try await fails(demanding, login, "body-status")
    }
}
