// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteCore

@testable import VedetteConfig

@Suite("replace, ignore and sort of a source")
struct TextFilterOptionTests {
    private static func filter(_ text: String, kind: String = "json") -> TextFilter? {
        let loaded = load("sources: {s: {kind: \(kind), url: 'https://h/', \(text)}}")
        #expect(loaded.problems.isEmpty)
        return loaded.configuration?.sources.first?.filter
    }

    @Test("replacements come first, in their order, then what is ignored")
    func values() throws {
        let filter = try #require(
            Self.filter(
                "ignore: [{regex: c, in: author}], replace: [{regex: '(a)', with: '<$1>'}, {regex: b, with: '', in: [title, state]}], sort: true",
                kind: "feed"))
        #expect(filter.steps.map(\.pattern.source) == ["(a)", "b", "c"])
        #expect(filter.steps.map(\.replacement) == ["<$1>", "", ""])
        #expect(filter.steps.map(\.names) == [nil, ["title", "state"], ["author"]])
        #expect(filter.sorts)
        #expect(Self.filter("every: 60s")?.isEmpty == true)
    }

    @Test("a kind whose own 'ignore' has texts takes both in one list")
    func own() throws {
        let filter = try #require(Self.filter("ignore: [\"//nav\", {regex: x}]", kind: "markup"))
        #expect(filter.steps.map(\.pattern.source) == ["x"])
    }

    @Test("an option that the kind doubts is a warning at its place")
    func doubted() {
        let loaded = load("sources: {s: {kind: markup, url: 'https://h/', ignore: ['//nav'], sort: true}}")
        #expect(loaded.problems.map(\.description) == ["a.yaml:1:73: warning: 'sort' orders nothing; remove it"])
        #expect(loaded.configuration != nil)
    }

    @Test("what is wrong is refused with its place and the remedy")
    func refused() {
        func said(_ source: String) -> [String] { problems("sources: {s: {url: 'https://h/', \(source)}}") }
        #expect(
            said("kind: json, replace: [{regex: a, with: $1}]") == [
                "1:73: 'a' has no group '1' for '$1'; write '$$' for a '$' itself"
            ])
        #expect(
            said("kind: json, replace: [{regex: a}]") == [
                "1:56: 'replace' lacks 'with': what takes its place; `$1` or `${name}` is what a group matched, `$$` a `$`"
            ])
        #expect(
            said("kind: json, ignore: [{regex: '('}]").first?.contains("in 'regex': bad regular expression")
                == true)
        #expect(
            said("kind: json, ignore: ['//nav']") == [
                "1:55: an element of 'ignore' is a map, not the text '//nav'; write it as {regex: …}"
            ])
        #expect(
            said("kind: feed, ignore: [{regex: a, in: [author, autor]}]") == [
                "1:79: unknown field 'autor'; did you mean 'author'?"
            ])
        #expect(
            said("kind: json, ignore: [{regex: a, in: key}]") == [
                "1:70: the keys of this kind are the server's, and stay; remove 'key' from 'in'"
            ])
    }
}
