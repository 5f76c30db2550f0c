// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteCore

@testable import VedetteConfig

/// Sends what its option holds.
private struct PostingKind: SourceKind {
    let body: JSON?
    var mode: ReadingMode { .list }
    var identity: UInt64 { 0 }
    var fingerprints: [String: UInt64] { [:] }
    var fieldNames: [String]? { nil }
    func request(base: String, context: PollContext) -> RequestTemplate {
        RequestTemplate(url: base, body: body?.bytes)
    }
    func read(_ page: inout PageBody) throws(ReadError) -> Page { Page(items: []) }

    static let entry = SourceKindEntry(
        name: "post", summary: "Posts.", options: [OptionSpec("body", .json, "What is sent.")],
        make: { options throws(OptionProblem) in PostingKind(body: options.json("body")) })
}

@Suite("A JSON value written in YAML")
struct JSONValueTests {
    private func load(_ body: String) -> Loaded {
        let text = "sources:\n  s:\n    kind: post\n    url: https://a.example\n    body: \(body)\n"
        return ConfigurationLoader(
            directory: nil, sourceKinds: [PostingKind.entry], sinkKinds: [], environment: [:]
        ).load([ConfigurationFile(path: "a.yaml", text: text, isPrivate: false)])
    }

    private func sent(_ body: String) -> String? {
        load(body).configuration?.sources.first?.kind.request(base: "", context: PollContext()).body
            .map { String(decoding: $0, as: UTF8.self) }
    }

    @Test("unquoted values are JSON values, quoted ones are texts, and the order is kept")
    func values() {
        #expect(
            sent(#"{z: 1.50, a: [true, "true", null, ~, no, 0x1F, 007, -3e2], t: "1", "n": , q: 'x "y"'}"#)
                == #"{"z":1.50,"a":[true,"true",null,null,"no","0x1F","007",-3e2],"t":"1","n":null,"q":"x \"y\""}"#)
        #expect(sent("[]") == "[]")
        #expect(sent("{}") == "{}")
    }

    @Test("a single value is a text, also when it looks like JSON")
    func text() {
        #expect(sent("a=1&b=2") == #""a=1&b=2""#)
        #expect(sent("12") == #""12""#)
        #expect(sent("|\n      query {\n        a\n      }\n") == #""query {\n  a\n}\n""#)
    }

    @Test("a tag is an error, and aliases are followed")
    func tags() {
        #expect(load("{a: !env X}").diagnostics.count == 1)
        #expect(sent("{a: &x {b: 1}, c: *x}") == #"{"a":{"b":1},"c":{"b":1}}"#)
    }
}
