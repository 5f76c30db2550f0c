// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteCore
import VedetteTestSupport

@testable import VedetteConfig

/// A wrong file and all that is said of it.
struct Bad: Sendable, CustomTestStringConvertible {
    var text: String
    var expected: [String]
    var testDescription: String { text }

    init(_ text: String, _ expected: String...) { (self.text, self.expected) = (text, expected) }
}

struct BadConfigurationTests {
    @Test("invalid YAML is an error with its place", arguments: Bad.syntax)
    func syntax(bad: Bad) { #expect(problems(bad.text) == bad.expected) }

    @Test("errors in servers and sources have place and remedy", arguments: Bad.sources)
    func sources(bad: Bad) { #expect(problems(bad.text) == bad.expected) }

    @Test("errors in sinks and settings have place and remedy", arguments: Bad.sinks)
    func sinks(bad: Bad) { #expect(problems(bad.text) == bad.expected) }

    @Test("errors in rules have place and remedy", arguments: Bad.rules)
    func rules(bad: Bad) {
        let head = "sources: {web: {kind: cloudburst, url: 'https://h/'}, any: {kind: json, url: 'https://h/'}}\n"
        // PCRE2's own words are another version's.
        let found = problems(head + "sinks: {desk: {kind: desktop}}\nrules:\n" + bad.text)
            .map { $0.replacing(/bad regular expression: [^;]+/, with: "bad regular expression") }
        #expect(found == bad.expected)
    }

    @Test("a name that is too long is told with its length and the limit")
    func longName() {
        let name = String(repeating: "a", count: 101)
        #expect(
            problems("sources: {\(name): {kind: feed, url: 'https://h/'}}") == [
                "1:11: '\(name.dropLast())…' cannot name a source: it has 101 characters; take at most 100"
            ])
    }

    @Test("a glob of sources where there are none says so")
    func noSources() {
        let sources = problems("rules: [{name: r, when: {source: 'n*', appears: true}, notify: [], stop: true}]")
        #expect(sources.first == "1:34: 'n*' matches no source; none is configured")
    }

    @Test("all errors are reported at once, by file and position")
    func atOnce() {
        let loaded = load(
            "sources:\n  s: {kind: jsn, url: 'https://h/'}\n  t: {kind: json}\nrulez: []",
            "sources:\n  s: {kind: json, url: 'https://h/'}\nsinks: [\n")
        #expect(loaded.configuration == nil)
        #expect(
            loaded.problems.map(\.description) == [
                "a.yaml:2:13: unknown kind 'jsn'; did you mean 'json'?",
                "a.yaml:3:6: source 't' lacks an address; write 'server' and 'path', 'url', or 'command'",
                "a.yaml:4:1: unknown key 'rulez' in the file; did you mean 'rules'?",
                "b.yaml:4:1: bad YAML: did not find expected node content; a value or a closing bracket is missing",
            ])
    }

    @Test("all that a kind refuses of its options is reported at once, but nothing that follows from another problem")
    func allProblems() {
        let names = ["a", "b", "c", "d"].map { OptionSpec($0, $0 == "d" ? .map(.text) : .oneOrMany(.text), "Some.") }
        let kind = SourceKindEntry(
            name: "strict", summary: "Refuses 'x'.", options: names,
            make: { options throws(OptionProblem) in
                for (name, value) in options.map("d") where value == "x" {
                    throw OptionProblem("d", name, detail: "'\(name)' is x; write it beside 'd'")
                }
                for name in ["a", "b"] {
                    for text in options.texts(name) where text == "x" {
                        throw OptionProblem(name, text, detail: "'\(name)' is x")
                    }
                }
                if options["c"] != nil, options["a"] == nil { throw OptionProblem("c", detail: "'c' needs 'a'") }
                return StandInKind(fieldNames: [])
            })
        func said(_ text: String) -> [String] {
            ConfigurationLoader(sourceKinds: [kind], sinkKinds: [], environment: [:])
                .load([ConfigurationFile(path: "a.yaml", text: text, isPrivate: false)]).diagnostics
                .map { $0.description.replacing("a.yaml:1:", with: "") }
        }
        let head = "sources: {s: {kind: strict, url: 'https://h/', "
        #expect(
            said(head + "a: x, b: [y, x], c: z, d: {m: x, n: y, o: x}}}") == [
                "51: 'a' is x", "61: 'b' is x", "78: 'm' is x; write it beside 'd'",
                "90: 'o' is x; write it beside 'd'",
            ])
        #expect(said(head + "c: z}}") == ["51: 'c' needs 'a'"])
    }

    @Test("a name is unique over all files, and the error names both places")
    func unique() {
        let one = "sources: {s: {kind: feed, url: 'https://h/'}}\nsinks: {d: {kind: desktop}}\n"
        let rule = "rules: [{name: r, when: {appears: true}, notify: d}]"
        let loaded = load(one + rule, one + rule + "\nservers: {s: {url: 'https://h'}}")
        #expect(
            loaded.problems.map(\.description) == [
                "b.yaml:1:11: the source 's' exists at a.yaml:1:11 already; rename one",
                "b.yaml:2:9: the sink 'd' exists at a.yaml:2:9 already; rename one",
                "b.yaml:3:16: the rule 'r' exists at a.yaml:3:16 already; rename one",
            ])
    }

    @Test("aliases of aliases of aliases are bounded", .tags(.I8), .timeLimit(.minutes(10)))
    func bombs() {
        let levels = (1...12).map { "a\($0): &a\($0) [" + String(repeating: "*a\($0 - 1),", count: 20) + "]" }
        let bomb = "a0: &a0 [x]\n" + levels.joined(separator: "\n") + "\n"
        #expect(
            problems(bomb + "? *a12\n: x").first
                == "1:1: its aliases (*name) expand too much inside a key; write the text out")
        #expect(load(bomb).configuration == nil)
        let wide =
            "sinks: {d: {kind: desktop}}\nx: &x {name: r, when: {appears: true}, notify: &n ["
            + String(repeating: "d,", count: 2000)
            + "]}\nrules: [" + String(repeating: "*x,", count: 2000) + "]"
        #expect(problems(wide).contains { $0.contains("more than 2000000 values") })
    }

    @Test("deep nesting is refused, never a crash")
    func deep() {
        for text in ["[", "{a: ", "- ", "? "] {
            #expect(load(String(repeating: text, count: 5000)).configuration == nil)
        }
        let nested = String(repeating: "{not: ", count: 40) + "{appears: true}" + String(repeating: "}", count: 40)
        #expect(
            problems("rules: [{name: r, stop: true, when: \(nested)}]").contains {
                $0.contains("nested deeper than 16")
            })
    }
}
