// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteCore

@testable import VedetteSources

@Suite("Requests of the json kind, and errors inside a body")
struct JSONErrorDetectionTests {
    private func failure(_ options: [String: OptionValue], _ bytes: [UInt8]) throws -> ReadError? {
        var page = PageBody(bytes: bytes, url: "https://api.example.org/search")
        do {
            _ = try Fixture.kind("json", options).read(&page)
            return nil
        } catch let error as ReadError {
            return error
        }
    }

    private func failure(_ options: [String: OptionValue], _ json: String) throws -> ReadError? {
        try failure(options, Array(json.utf8))
    }

    private static let google: [String: OptionValue] = [
        "items": .text("responseData.results"), "key": .list([.text("unescapedUrl")]),
        "require": .map([("responseStatus", .list([.text("200")]))]), "error": .list([.text("responseDetails")]),
    ]

    @Test("a 403 inside a 200 is a failure in the server's words, not a missing list")
    func bodyStatus() throws {
        let error = try failure(Self.google, Fixture.bytes("google-search-error.json"))
        #expect(error?.failure == .bodyStatus)
        #expect(error?.detail == "the body says responseStatus is 403, not 200: Quota exceeded for this client.")
        #expect(try failure(Self.google, Fixture.bytes("google-search.json")) == nil)
    }

    @Test("a required member may have several values, and must be present")
    func required() throws {
        let options: [String: OptionValue] = [
            "items": .text("list"), "require": .map([("ok", .list([.text("true"), .text("partly")]))]),
        ]
        #expect(try failure(options, #"{"ok": true, "list": []}"#) == nil)
        #expect(try failure(options, #"{"ok": "partly", "list": []}"#) == nil)
        #expect(
            try failure(options, #"{"ok": false, "list": []}"#)?.detail
                == "the body says ok is false, not true or partly")
        #expect(try failure(options, #"{"list": []}"#)?.detail == "the body says ok is absent, not true or partly")
    }

    @Test(
        "an error text is a failure where nothing is required; an empty one is ignored",
        arguments: [
            ("null", false), ("false", false), ("0", false), (#""""#, false), ("[]", false), ("{}", false),
            (#""no access""#, true), (#"{"code": 7}"#, true), ("true", true), ("[null, 1]", true),
        ])
    func errorText(value: String, isFailure: Bool) throws {
        let options: [String: OptionValue] = ["items": .text("list"), "error": .list([.text("error")])]
        let error = try failure(options, #"{"list": [], "error": \#(value)}"#)
        #expect(error?.failure == (isFailure ? .bodyStatus : nil))
    }

    @Test("a long error text is shortened, and lines become one")
    func long() throws {
        let options: [String: OptionValue] = ["error": .list([.text("error")])]
        let error = try failure(options, #"{"error": "a\nb \#(String(repeating: "x", count: 5000))"}"#)
        #expect((error?.detail.utf8.count ?? 0) < 360)
        #expect(error?.detail.hasPrefix("the body is an error: a b x") == true)
    }

    private static let query = JSON.members(["query": .string("{ viewer { login } }")])

    @Test("errors of GraphQL fail the poll though the status is 200 and there is data beside them")
    func graphQL() throws {
        let options: [String: OptionValue] = ["body": .json(Self.query), "items": .text("data.n")]
        let error = try failure(options, #"{"data": {"n": [{"id": 1}]}, "errors": [{"message": "rate limit"}]}"#)
        #expect(error?.detail == "the body is an error: rate limit")
        #expect(try failure(options, #"{"data": null, "errors": [{"code": 7}]}"#)?.failure == .bodyStatus)
        #expect(try failure(options, #"{"data": {"n": [{"id": 1}]}, "errors": []}"#) == nil)
        #expect(try failure(["items": .text("n")], #"{"n": [], "errors": [{"message": "x"}]}"#) == nil)
    }

    private func ask(_ options: [String: OptionValue]) throws -> RequestTemplate {
        try Fixture.kind("json", options).request(base: "https://a.example/q?x=1", context: PollContext())
    }

    @Test("without a body it is a GET that accepts JSON; a body is posted with its type")
    func asks() throws {
        let get = try ask([:])
        #expect(get.method == "GET" && get.body == nil && get.url == "https://a.example/q?x=1")
        #expect(get.headers.map(\.name) == ["Accept"])
        let post = try ask(["body": .json(Self.query)])
        #expect(post.method == "POST")
        #expect(post.body.map { String(decoding: $0, as: UTF8.self) } == #"{"query":"{ viewer { login } }"}"#)
        #expect(post.headers.map(\.value) == ["application/json", "application/json"])
        let form = try ask(["body": .json(.string("a=1&b=2"))])
        #expect(form.body.map { String(decoding: $0, as: UTF8.self) } == "a=1&b=2")
        #expect(form.headers.last?.value == "application/x-www-form-urlencoded")
        #expect(try ask(["body": .json(.string(#" {"a": 1}"#))]).headers.last?.value == "application/json")
        #expect(try ask(["method": .text("POST")]).body == [])
        #expect(throws: OptionProblem.self) { try ask(["method": .text("GET"), "body": .json(Self.query)]) }
    }

    @Test("another query, another program and another paging are another list; another title is not")
    func identity() throws {
        let plain = try Fixture.kind("json").identity
        let paging = OptionValue.map([("page", .text("1")), ("parameter", .text("p"))])
        for (name, value) in [("body", .json(Self.query)), ("jq", .text(".x")), ("paging", paging)] {
            #expect(try Fixture.kind("json", [name: value]).identity != plain, "\(name)")
        }
        #expect(try Fixture.kind("json", ["title": .list([.text("x")])]).identity == plain)
        #expect(try Fixture.kind("json", ["jq": .text(".x")]).jqProgram == ".x")
    }
}
