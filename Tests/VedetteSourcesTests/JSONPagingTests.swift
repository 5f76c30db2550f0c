// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteCore

@testable import VedetteSources

@Suite("Paging of the json kind")
struct JSONPagingTests {
    private static let url = "https://api.example.org/v1/pods?limit=2"

    private func paging(_ pairs: KeyValuePairs<String, String>) -> OptionValue {
        .map(pairs.map { (name: $0.key, value: .text($0.value)) })
    }

    private func next(
        _ options: [String: OptionValue], _ json: String, page: Int = 1, url: String = url,
        headers: ResponseHeaders = .init()
    ) throws -> NextPage? {
        var body = PageBody(bytes: Array(json.utf8), headers: headers, url: url, number: page)
        return try Fixture.kind("json", options).read(&body).next
    }

    private func problem(_ options: [String: OptionValue]) -> OptionProblem? {
        do {
            _ = try Fixture.kind("json", options)
            return nil
        } catch {
            return error as? OptionProblem
        }
    }

    @Test("a cursor from the body goes into the query, encoded, in place of the one before")
    func cursor() throws {
        let options: [String: OptionValue] = [
            "items": .text("items"), "paging": paging(["cursor": "metadata.continue", "parameter": "continue"]),
        ]
        let body = #"{"items": [{"id": 1}], "metadata": {"continue": "a/b+c=="}}"#
        #expect(try next(options, body)?.url == Self.url + "&continue=a%2Fb%2Bc%3D%3D")
        #expect(
            try next(options, body, page: 2, url: Self.url + "&continue=x")?.url == Self.url
                + "&continue=a%2Fb%2Bc%3D%3D")
        for last in [#""""#, "null", "false"] {
            #expect(try next(options, #"{"items": [], "metadata": {"continue": \#(last)}}"#) == nil)
        }
        #expect(try next(options, #"{"items": [], "metadata": {}}"#) == nil)
        #expect(try next(options, #"{"items": [], "metadata": {"continue": 17}}"#)?.url == Self.url + "&continue=17")
        #expect(throws: ReadError.self) { try next(options, #"{"items": [], "metadata": {"continue": [1]}}"#) }
    }

    @Test("with 'more' the cursor counts only while there is more, and a missing one is a failure")
    func more() throws {
        let options: [String: OptionValue] = [
            "items": .text("items"), "paging": paging(["cursor": "end", "more": "more", "parameter": "after"]),
        ]
        #expect(try next(options, #"{"items": [], "end": "z", "more": true}"#)?.url == Self.url + "&after=z")
        #expect(try next(options, #"{"items": [], "end": "z", "more": false}"#) == nil)
        #expect(try next(options, #"{"items": [], "end": "z"}"#) == nil)
        let error = #expect(throws: ReadError.self) { try next(options, #"{"items": [], "more": true}"#) }
        #expect(error?.failure == .shape)
    }

    @Test("a GraphQL cursor is added to the body of the next POST")
    func variable() throws {
        let request = JSON.members([
            "query": .string("query($after: String) { x }"), "variables": .members(["first": .number(50)]),
        ])
        let options: [String: OptionValue] = [
            "items": .text("data.x.nodes"), "body": .json(request),
            "paging": paging([
                "cursor": "data.x.pageInfo.endCursor", "more": "data.x.pageInfo.hasNextPage",
                "variable": "variables.after",
            ]),
        ]
        let found = try next(
            options, #"{"data": {"x": {"nodes": [{"id": 1}], "pageInfo": {"endCursor": "Y3\"", "hasNextPage": true}}}}"#
        )
        #expect(found?.url == Self.url)
        let body = found?.body.map { String(decoding: $0, as: UTF8.self) }
        #expect(body == #"{"query":"query($after: String) { x }","variables":{"first":50,"after":"Y3\""}}"#)
    }

    @Test("pages are counted from the first number until one is empty, or shorter than the size")
    func pages() throws {
        let untilEmpty: [String: OptionValue] = ["paging": paging(["page": "1", "parameter": "page"])]
        #expect(try next(untilEmpty, #"[{"id": 1}]"#)?.url == Self.url + "&page=2")
        #expect(try next(untilEmpty, #"[{"id": 9}]"#, page: 7)?.url == Self.url + "&page=8")
        #expect(try next(untilEmpty, "[]", page: 8) == nil)
        let untilShort: [String: OptionValue] = ["paging": paging(["page": "0", "parameter": "p", "size": "2"])]
        #expect(try next(untilShort, #"[{"id": 1}, {"id": 2}]"#)?.url == Self.url + "&p=1")
        #expect(try next(untilShort, #"[{"id": 1}, {"id": 1}]"#)?.url == Self.url + "&p=1")
        #expect(try next(untilShort, #"[{"id": 3}]"#, page: 2) == nil)
    }

    @Test("offsets grow by the size; a total that is not reached by a short page is a failure, not an end")
    func offsets() throws {
        let options: [String: OptionValue] = [
            "items": .text("issues"),
            "paging": paging(["offset": "0", "parameter": "startAt", "size": "2", "total": "total"]),
        ]
        #expect(
            try next(options, #"{"total": 5, "issues": [{"id": 1}, {"id": 2}]}"#, page: 2)?.url == Self.url
                + "&startAt=4")
        #expect(try next(options, #"{"total": 5, "issues": [{"id": 5}]}"#, page: 3) == nil)
        #expect(try next(options, #"{"total": 4, "issues": [{"id": 1}, {"id": 2}]}"#, page: 2) == nil)
        let error = #expect(throws: ReadError.self) { try next(options, #"{"total": 5, "issues": [{"id": 1}]}"#) }
        #expect(error?.detail == "page 1 has 1 item of 5 where 'size' says 2; correct 'size'")
    }

    @Test("an invalid address of the next page is a failure, not the end of the list")
    func badAddress() {
        for reference in ["file:///etc/passwd", "ftp://a.example/2", "http://"] {
            let error = #expect(throws: ReadError.self) {
                try next(["items": .text("r"), "next": .text("next")], #"{"r": [], "next": "\#(reference)"}"#)
            }
            #expect(error?.failure == .shape)
        }
    }

    @Test("a body on disk is one page, even if it names the next")
    func file() throws {
        let body = #"{"r": [{"id": 1}], "next": "/p2", "c": "x"}"#
        let url = "file:///tmp/body.json"
        #expect(try next(["items": .text("r"), "next": .text("next")], body, url: url) == nil)
        let cursor = paging(["cursor": "c", "parameter": "after"])
        #expect(try next(["items": .text("r"), "paging": cursor], body, url: url) == nil)
    }

    @Test("the options of 'paging' are checked, each at its place")
    func words() {
        let body = OptionValue.json(.string("a=b"))
        #expect(
            problem(["paging": paging(["cursr": "x"])])?.detail
                == "unknown option 'cursr' of 'paging'; did you mean 'cursor'?")
        #expect(problem(["paging": paging(["cursor": "x"])])?.path == ["paging"])
        #expect(problem(["paging": paging(["parameter": "x"])])?.path == ["paging"])
        #expect(problem(["paging": paging(["cursor": "x", "page": "1", "parameter": "p"])])?.path == ["paging"])
        #expect(problem(["paging": paging(["page": "one", "parameter": "p"])])?.path == ["paging", "page"])
        #expect(problem(["paging": paging(["offset": "0", "parameter": "p"])])?.path == ["paging", "offset"])
        #expect(problem(["paging": paging(["cursor": "a..b", "parameter": "p"])])?.path == ["paging", "cursor"])
        #expect(
            problem(["body": body, "paging": paging(["cursor": "c", "variable": "v"])])?.path == ["paging", "variable"])
        #expect(problem(["next": .text("n"), "paging": paging(["page": "1", "parameter": "p"])])?.path == ["next"])
        #expect(problem(["paging": paging(["page": "1", "parameter": "p"])]) == nil)
    }
}
