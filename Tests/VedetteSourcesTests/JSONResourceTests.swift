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

    @Test("a change behind the limit of a stored text is a change, of HTML too", arguments: [false, true])
    func longText(isHTML: Bool) throws {
        let long = String(repeating: "word ", count: 20_000)
        func digest(_ end: String) throws -> UInt64? {
            let options: [String: OptionValue] = [
                "key": .text("id"), "fields": .map([("text", .text("text"))]),
                "html": .list(isHTML ? [.text("text")] : []),
            ]
            return try read(options, #"[{"id": 1, "text": "\#(long)\#(end)"}]"#).items.first?.digest
        }
        #expect(try digest("a") != digest("b"))
    }

    @Test("JSON in UTF-16 without a mark is read by the name that the server or 'encoding' gives")
    func wide() throws {
        let bytes = #"[{"id": 1, "title": "Zürich"}]"#.utf16.flatMap { [UInt8($0 & 255), UInt8($0 >> 8)] }
        var body = PageBody(
            bytes: bytes, headers: ResponseHeaders([("Content-Type", "application/json; charset=utf-16le")]),
            url: "https://a.example/")
        #expect(try Fixture.kind("json", [:]).read(&body).items.map(\.title) == ["Zürich"])
        var named = PageBody(bytes: bytes, headers: .init(), url: "https://a.example/")
        #expect(try Fixture.kind("json", ["encoding": .text("UTF-16LE")]).read(&named).items.map(\.title) == ["Zürich"])
    }

    @Test("members of which none has what the options name are doubtful, as an error in the place of the map is")
    func valuelessMembers() throws {
        let options: [String: OptionValue] = ["map": .text("."), "state": .list([.text("state")])]
        for error in [#"{"error": "x"}"#, #"{"error": {"message": "x"}}"#] {
            #expect(try read(options, error).doubt == .valueless)
        }
        #expect(try read(options, #"{"a": {"state": "UP"}, "error": "x"}"#).doubt == nil)
        #expect(try read(options, "{}").doubt == nil)
    }

    @Test("items, composite key and state, nested fields and a relative link")
    func runs() throws {
        let page = try read(
            [
                "items": .text("workflow_runs"), "key": .list([.text("id"), .text("attempt")]),
                "title": .list([.text("display_title")]), "state": .list([.text("status"), .text("conclusion")]),
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

    @Test(
        "a field that is one expression is a list where it leads to one, in braces or not",
        arguments: ["tags", "{{tags}}"])
    func list(_ text: String) throws {
        var page = PageBody(
            bytes: Array(#"[{"id":1,"tags":["a","b"]},{"id":2,"tags":""}]"#.utf8), url: "https://x.example.com/")
        let items = try Fixture.kind("json", ["fields": .map([("tags", .text(text))])]).read(&page).items
        #expect(items.map { $0["tags"] } == [.list(["a", "b"]), .text("")])
    }

    @Test("by default the root is the list, id the key, and title or name the title")
    func defaults() throws {
        let page = try read([:], #"[{"id": "a", "name": "n"}, {"id": "b", "title": "t", "name": "n"}]"#)
        #expect(page.items.map(\.title) == ["n", "t"])
    }

    @Test("the members of an object are items: the member's name is the key, and a path like any other")
    func map() throws {
        let hosts = #"{"hosts": {"web/1": {"state": "UP", "ip": "::1"}, "db": {"state": "DOWN", "name": "Database"}}}"#
        let options: [String: OptionValue] = ["map": .text("hosts"), "state": .list([.text("state")])]
        let page = try read(options, hosts)
        #expect(page.items.map(\.key) == ["web/1", "db"] && page.items.map(\.state) == ["UP", "DOWN"])
        #expect(page.items.map(\.title) == ["web/1", "Database"])
        let root = try read(
            ["map": .text("."), "key": .list([.text("$name"), .text("ip")]), "fields": .map([("value", .text("."))])],
            #"{"a": 1, "b": 2}"#)
        #expect(root.items.map(\.key) == ["a/", "b/"] && root.items.map { $0["value"] } == ["1", "2"])
        #expect(try read(["map": .text("hosts")], #"{"hosts": []}"#).items.isEmpty, "PHP writes an empty map so")
        #expect(throws: OptionProblem.self) { try read(["map": .text("a"), "items": .text("b")], "{}") }
        #expect(throws: ReadError.self) { try read(["map": .text("hosts")], #"{"hosts": [1]}"#) }
        let list = try Fixture.kind("json", ["items": .text("a")])
        #expect(try Fixture.kind("json", ["map": .text("a")]).identity != list.identity)
    }

    @Test("single values in a list are items: the value is the key and the title")
    func singleValues() throws {
        let page = try read(["items": .text("names")], #"{"names": ["vedette", "alpine", 7, true, {"id": "x"}]}"#)
        #expect(page.items.map(\.key) == ["vedette", "alpine", "7", "true", "x"])
        #expect(page.items.map(\.title) == ["vedette", "alpine", "7", "true", nil])
        #expect(throws: ReadError.self) { try read(["items": .text("names")], #"{"names": [null]}"#) }
    }

    @Test("an object as a key is its canonical form: the order of its members makes no other item")
    func objectKey() throws {
        func keys(_ json: String) throws -> [String] {
            try read(["key": .list([.text("metric")]), "mode": .text("window")], json).items.map(\.key)
        }
        let one = try keys(#"[{"metric": {"job": "node", "tags": [{"b": 1, "a": 1.0}]}}]"#)
        #expect(one == [#"{"job":"node","tags":[{"a":1.0,"b":1}]}"#])
        #expect(try keys(#"[{"metric": { "tags" : [ {"a":1.0, "b": 1} ], "job": "no\u0064e"}}]"#) == one)
    }

    @Test("an absent part of a composite key is empty; an item without any part has no key")
    func emptyParts() throws {
        let options: [String: OptionValue] = ["key": .list([.text("a"), .text("b"), .text("c")])]
        let page = try read(options, #"[{"a": 1, "c": 3}, {"b": "x/y"}, {"a": 1, "b": null, "c": 4}]"#)
        #expect(page.items.map(\.key) == ["1//3", "/x%2Fy/", "1//4"])
        let error = #expect(throws: ReadError.self) { try read(options, #"[{"a": 1}, {"c": ""}]"#) }
        #expect(error?.detail.contains("item number 2 has no 'a' and 'b' and 'c'") == true)
    }

    @Test("title, link and fields are templates over the item; what follows the beginning of a link is encoded")
    func templates() throws {
        let page = try read(
            [
                "title": .list([.text("{{ builder.name }} #{{number}}")]),
                "link": .text("/builders/{{builder.name}}/builds/{{number}}?q={{q}}"),
                "fields": .map([("who", .text("{{by.first}} {{by.last}}")), ("plain", .text("q"))]),
            ],
            #"[{"id": 1, "number": 7, "builder": {"name": "a b/c"}, "q": "x&y", "by": {"first": "Ada"}}, {"id": 2}]"#)
        #expect(page.items[0].title == "a b/c #7" && page.items[0]["who"] == "Ada " && page.items[0]["plain"] == "x&y")
        #expect(page.items[0].url == "https://ci.example.org/builders/a%20b%2Fc/builds/7?q=x%26y")
        #expect(page.items[1].title == nil && page.items[1].url == nil && page.items[1]["who"] == nil)
        let whole = try read(["link": .text("{{url}}#top")], #"[{"id": 1, "url": "https://x.example.org/a?b"}]"#)
        #expect(whole.items[0].url == "https://x.example.org/a?b#top")
        for bad in ["{{", "{{}}", "a {{#x}}b{{/x}}", "{{a..b}}"] {
            #expect(throws: OptionProblem.self, "\(bad)") { try read(["link": .text(bad)], "[]") }
        }
    }

    @Test("an object at the root without a key is one item, when it has a value that an option names")
    func wholeDocument() throws {
        let state = OptionValue.list([.text("status")])
        let page = try read(["state": state], #" {"status": "ok"}"#)
        #expect(page.items.map(\.key) == [""] && page.items.first?.state == "ok")
        #expect(try read(["state": state], #"{"id": 7, "status": "ok"}"#).items.map(\.key) == ["7"])
        for (options, body): ([String: OptionValue], String) in [
            (["state": state], #"{"message": "rate limited"}"#),
            (["state": state], #"[{"status": "ok"}]"#),
            (["state": state, "key": .list([.text("id")])], #"{"status": "ok"}"#),
        ] {
            let error = #expect(throws: ReadError.self) { try read(options, body) }
            #expect(error?.detail == "item number 1 has no 'id', which is its key; check 'key' and 'items'")
        }
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

    @Test("an invalid path is refused with the option's name")
    func badPath() {
        let error = #expect(throws: OptionProblem.self) { try Fixture.kind("json", ["items": .text("a..b")]) }
        #expect(error?.path == ["items"])
        let inList = #expect(throws: OptionProblem.self) {
            try Fixture.kind("json", ["key": .list([.text("a"), .text("b[0]")])])
        }
        #expect(inList?.path == ["key", "b[0]"])
        let dollar = #expect(throws: OptionProblem.self) { try Fixture.kind("json", ["items": .text("$.data.items")]) }
        #expect(
            dollar?.detail
                == "'$.data.items' begins with the '$' of another kind of path; write the names alone, as data.items")
        #expect(throws: Never.self) { _ = try Fixture.kind("json", ["fields": .map([("id", .text("$.id"))])]) }
    }

    @Test("names are taken once: by an option, a field, a note or a measure")
    func names() {
        let both: [String: OptionValue] = ["fields": .map([("n", .text("a"))]), "measures": .map([("n", .text("b"))])]
        let twice = #expect(throws: OptionProblem.self) { try Fixture.kind("json", both) }
        #expect(twice?.path == ["measures", "n"])
        let reserved = #expect(throws: OptionProblem.self) {
            try Fixture.kind("json", ["notes": .map([("state", .text("a"))])])
        }
        #expect(reserved?.path == ["notes", "state"])
        #expect(throws: OptionProblem.self) { try Fixture.kind("json", ["html": .list([.text("content")])]) }
    }
}

@Suite("An item of the json kind")
struct JSONItemTests {
    private func read(_ options: [String: OptionValue], _ json: String) throws -> Page {
        var page = PageBody(bytes: Array(json.utf8), url: "https://ci.example.org/api/json")
        return try Fixture.kind("json", options).read(&page)
    }

    private func failure(_ options: [String: OptionValue], _ json: String) throws -> Failure? {
        do {
            var page = PageBody(bytes: Array(json.utf8), url: "https://ci.example.org/api/json")
            _ = try Fixture.kind("json", options).read(&page)
            return nil
        } catch let error as ReadError {
            return error.failure
        }
    }

    @Test("states get their names by text or glob, the first that matches; others stay as they are")
    func states() throws {
        let options: [String: OptionValue] = [
            "state": .list([.text("color")]),
            "states": .map([("*_anime", .text("building")), ("blue", .text("success")), ("b*", .text("never"))]),
        ]
        let page = try read(
            options,
            #"[{"id":1,"color":"blue_anime"},{"id":2,"color":"blue"},{"id":3,"color":"red"},{"id":4,"color":null}]"#)
        #expect(page.items.map(\.state) == ["building", "success", "red", nil])
    }

    @Test("measures are numbers; another value is absent")
    func measures() throws {
        let page = try read(
            ["measures": .map([("ms", .text("t")), ("pct", .text("p"))])],
            #"[{"id":1,"t":12.50,"p":"99.5"},{"id":2,"t":"fast","p":null},{"id":3,"t":true,"p":[1]}]"#)
        #expect(page.items[0].measures == ["ms": "12.50", "pct": "99.5"])
        #expect(page.items[1].measures.isEmpty && page.items[2].measures.isEmpty)
        #expect(page.items[0].digest == Item(key: "1").digest)
    }

    @Test("a state, title or measure that no item of a list has is a warning; of two items it may well be absent")
    func absent() throws {
        let options: [String: OptionValue] = [
            "state": .list([.text("stat")]), "title": .list([.text("nam"), .text("nome")]),
            "measures": .map([("cpu", .text("cpuu")), ("mem", .text("mem"))]),
            "fields": .map([("lock", .text("lock"))]),
        ]
        #expect(
            try read(options, #"[{"id":1,"mem":1},{"id":2,"mem":"x"},{"id":3}]"#).absences == [
                "no item has 'stat' of 'state'; correct it", "no item has 'nam' and 'nome' of 'title'; correct it",
                "no item has 'cpuu' of 'measures', or a number there; correct it",
            ])
        #expect(try read(options, #"[{"id":1},{"id":2}]"#).absences.isEmpty)
        #expect(
            try read(["state": .list([.text("a"), .text("b")])], #"[{"id":1},{"id":2},{"id":3,"b":1}]"#)
                .absences.isEmpty)
    }

    @Test("the title is the first that is not empty, and HTML is read as text where 'html' names it")
    func html() throws {
        let options: [String: OptionValue] = [
            "title": .list([.text("spoiler"), .text("content")]), "html": .list([.text("title"), .text("body")]),
            "fields": .map([("body", .text("content")), ("raw", .text("content"))]),
        ]
        let page = try read(options, #"[{"id":1,"spoiler":"","content":"<p>Ready &amp; <b>up</b></p>"}]"#)
        #expect(page.items[0].title == "Ready & up")
        #expect(page.items[0]["body"] == "Ready & up")
        #expect(page.items[0]["raw"] == "<p>Ready &amp; <b>up</b></p>")
    }

    @Test("the first of two items with one key counts, with a warning")
    func duplicates() throws {
        let page = try read([:], #"[{"id":1,"name":"a"},{"id":1,"name":"b"},{"id":2},{"id":"1","name":"c"}]"#)
        #expect(page.items.map(\.title) == ["a", nil])
        #expect(page.warnings == ["2 items repeat a key and are left out, first '1'; check 'key'"])
    }

    @Test("the parts of a composite key cannot be mistaken for one another")
    func composite() throws {
        let page = try read(
            ["key": .list([.text("a"), .text("b")])],
            #"[{"a":"x/y","b":"z"},{"a":"x","b":"y/z"},{"a":"x%2Fy","b":"z"},{"a":1,"b":true},{"a":"/","b":"%"}]"#)
        #expect(page.items.map(\.key) == ["x%2Fy/z", "x/y%2Fz", "x%252Fy/z", "1/true", "%2F/%25"])
        #expect(page.warnings.isEmpty)
        #expect(try read([:], #"[{"id":"qemu/100"}]"#).items.map(\.key) == ["qemu/100"])
    }

    @Test(
        "a key must be present",
        arguments: [#"[{"id":null}]"#, "[{}]", #"[{"id":""}]"#, "[null]", "[[1]]", #"[""]"#])
    func badKey(json: String) throws {
        #expect(try failure([:], json) == .shape)
    }

    @Test("keys may be numbers as written, booleans, and anything in Unicode; paths reach names with dots")
    func keys() throws {
        let page = try read(
            ["key": .list([.text(#"größe.a\.b"#)])],
            #"[{"größe":{"a.b":1.0}},{"größe":{"a.b":false}},{"größe":{"a.b":"東京"}}]"#)
        #expect(page.items.map(\.key) == ["1.0", "false", "東京"])
    }

    @Test("null is an empty list only with 'null_is_empty'")
    func nullItems() throws {
        #expect(try failure(["items": .text("items")], #"{"items":null}"#) == .shape)
        #expect(try read(["items": .text("items"), "null_is_empty": .flag(true)], #"{"items":null}"#).items.isEmpty)
    }

    @Test(
        "a time comes in any usual form",
        arguments: [
            ("1795226400", "2026-11-21T02:00:00.000Z"), ("1795226400.25", "2026-11-21T02:00:00.250Z"),
            ("1795226400123", "2026-11-21T02:00:00.123Z"), ("1795226400123456", "2026-11-21T02:00:00.123Z"),
            ("1795226400123456789", "2026-11-21T02:00:00.123Z"), ("2026-11-21T02:00:00Z", "2026-11-21T02:00:00.000Z"),
            ("2026-11-21T04:00:00.5+02:00", "2026-11-21T02:00:00.500Z"),
            ("Sat, 21 Nov 2026 02:00:00 GMT", "2026-11-21T02:00:00.000Z"), ("2026-11-21", "2026-11-21T00:00:00.000Z"),
            ("21 Nov 2026 03:00:00 +0100", "2026-11-21T02:00:00.000Z"),
        ])
    func times(text: String, expected: String) {
        #expect(Timestamp(anyForm: text)?.rfc3339 == expected)
    }

    @Test("a time that cannot be read is one warning, and the item stays")
    func badTimes() throws {
        for text in ["soon", "-5", "1e9", "1.2.3", ""] {
            #expect(Timestamp(anyForm: text) == nil, "\(text)")
        }
        let page = try read(["time": .text("t")], #"[{"id":1,"t":"soon"},{"id":2,"t":"later"},{"id":3,"t":null}]"#)
        #expect(page.items.count == 3)
        #expect(page.warnings == ["failed to read 'soon' as a time; check 'time'"])
    }

    @Test("a login page, a cut list, a deep one and an empty body are failures, each with its class")
    func hostile() throws {
        let deep = String(repeating: "[", count: 100_000) + String(repeating: "]", count: 100_000)
        #expect(try failure([:], "<!DOCTYPE html><html><body>Login</body></html>") == .wrongType)
        #expect(try failure([:], #"[{"id":1},{"id":2"#) == .truncated)
        #expect(try failure([:], deep) == .tooLarge)
        #expect(try failure([:], "") == .empty)
        #expect(try failure([:], #"[{"id":1}] x"#) == .malformed)
    }
}
