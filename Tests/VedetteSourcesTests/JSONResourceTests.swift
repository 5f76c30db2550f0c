// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteCore

@testable import VedetteSources

@Suite("The json kind")
struct JSONResourceTests {
    private func read(
        _ options: [String: OptionValue], _ json: String, headers: ResponseHeaders = .init()
    ) throws -> Page {
        var page = PageBody(bytes: Array(json.utf8), headers: headers, url: "https://ci.example.org/api/runs?page=1")
        return try Fixture.kind("json", options).read(&page)
    }

    @Test("items, composite key and state, nested fields and a relative link")
    func runs() throws {
        let page = try read(
            [
                "items": .text("workflow_runs"), "key": .list([.text("id"), .text("attempt")]),
                "title": .text("display_title"), "state": .list([.text("status"), .text("conclusion")]),
                "link": .text("html_url"), "time": .text("at"),
                "fields": .map([("branch", .text("head_branch")), ("actor", .text("actor.login"))]),
                "notes": .map([("labels", .text("labels"))]),
            ],
            """
            {"total": 2, "workflow_runs": [
              {"id": 9007199254740993, "attempt": 1, "display_title": "Build", "status": "completed", "conclusion": "failure",
               "html_url": "/runs/1", "head_branch": "main", "actor": {"login": "ada"}, "labels": ["a", "b"], "at": 1795226400},
              {"id": 2, "attempt": 1, "status": "queued", "conclusion": null}]}
            """)
        let first = page.items[0]
        #expect(first.key == "9007199254740993/1")
        #expect(first.title == "Build")
        #expect(first.state == "completed/failure")
        #expect(first.url == "https://ci.example.org/runs/1")
        #expect(first["branch"] == "main")
        #expect(first["actor"] == "ada")
        #expect(first["labels"] == .list(["a", "b"]))
        #expect(first.time?.rfc3339 == "2026-11-21T02:00:00.000Z")
        #expect(page.items[1].state == "queued")
    }

    @Test("by default the root is the list, id the key, and title or name the title")
    func defaults() throws {
        let page = try read([:], #"[{"id": "a", "name": "n"}, {"id": "b", "title": "t", "name": "n"}]"#)
        #expect(page.items.map(\.title) == ["n", "t"])
    }

    @Test("an item without its key is a failure that says which one")
    func missingKey() {
        let error = #expect(throws: ReadError.self) { try read([:], #"[{"id": 1}, {"name": "x"}]"#) }
        #expect(error?.failure == .shape)
        #expect(error?.detail == "item number 2 has no 'id', which is its key; check 'key' and 'items'")
    }

    @Test("the next page comes from the body or from the Link header")
    func next() throws {
        let inBody = try read(
            ["items": .text("results"), "next": .text("next")], #"{"results": [], "next": "/api/runs?page=2"}"#)
        #expect(inBody.next == "https://ci.example.org/api/runs?page=2")
        let header = ResponseHeaders([("Link", #"<https://ci.example.org/p1>; rel="first", </p3>; rel="last next""#)])
        #expect(try read([:], "[]", headers: header).next == "https://ci.example.org/p3")
        #expect(try read([:], "[]").next == nil)
    }

    @Test("a path that is none is refused with the option's name")
    func badPath() {
        let error = #expect(throws: OptionProblem.self) { try Fixture.kind("json", ["items": .text("a..b")]) }
        #expect(error?.path == ["items"])
    }
}
