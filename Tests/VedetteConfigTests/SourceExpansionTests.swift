// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteCore

@testable import VedetteConfig

@Suite("`each` makes a source of each value")
struct SourceExpansionTests {
    private func sources(_ text: String) -> [String] {
        let loaded = load(text)
        return loaded.configuration?.sources.map { "\($0.name) \($0.url)" }
            ?? loaded.problems.map { $0.description.replacing("a.yaml:", with: "", maxReplacements: 1) }
    }

    @Test("each value is a source, in the order of the file, among others")
    func values() {
        #expect(
            sources(
                """
                sources:
                  first: {kind: json, url: "https://first.example/"}
                  site-{{host}}:
                    each: {host: [b.example, a.example]}
                    kind: json
                    url: https://{{host}}/health
                    fields: {link: "{{ host }}/{{key}}"}
                """) == [
                    "first https://first.example/", "site-b.example https://b.example/health",
                    "site-a.example https://a.example/health",
                ])
    }

    @Test("the values stand in every option: lists, maps, headers, commands, secrets, streams")
    func options() throws {
        let loaded = load(
            """
            sources:
              "{{host}}":
                each: {host: [a]}
                kind: json
                url: https://h/
                headers: {X-Host: "{{host}}", X-Token: {env: "TOKEN_{{host}}"}}
                while: {state: ["{{host}}ing"], every: 3s}
              run-{{host}}:
                each: {host: [a]}
                kind: json
                command: [ping, "{{host}}"]
            """, environment: ["TOKEN_a": "s3cret"])
        let configuration = try #require(loaded.configuration, "\(loaded.diagnostics)")
        let first = try #require(configuration.sources.first)
        #expect(first.interval.whileStates == ["aing"])
        #expect(first.server.headers.map(\.name) == ["X-Host", "X-Token"])
        #expect(configuration.sources.last.flatMap { CommandURL.arguments($0.url) } == ["ping", "a"])
    }

    @Test("of several names every combination counts; a list of maps has the combinations")
    func several() {
        #expect(
            sources("sources: {'{{a}}-{{b}}': {each: {a: [x, y], b: [1, 2]}, kind: json, url: 'https://{{a}}/{{b}}'}}")
                == ["x-1 https://x/1", "x-2 https://x/2", "y-1 https://y/1", "y-2 https://y/2"])
        #expect(
            sources("sources: {'s-{{n}}': {each: [{n: x, u: h/1}, {u: i/2, n: y}], kind: json, url: 'https://{{u}}'}}")
                == ["s-x https://h/1", "s-y https://i/2"])
    }

    @Test("a value is not read again, and other names in braces stay")
    func onePass() {
        let text = TextExpansion(["host": "{{port}}", "port": "80"])
        #expect(
            text.expand("{{host}}:{{ port }} {{item.title}} {{{host}}} {{host} {{")
                == "{{port}}:80 {{item.title}} {{{port}}} {{host} {{")
    }

    @Test("anchors and merges give the options, also `each` itself")
    func anchors() {
        #expect(
            sources(
                """
                sources:
                  site-{{host}}: &site
                    each: &hosts {host: [a, b]}
                    kind: json
                    url: https://{{host}}/
                  shop-{{host}}: {<<: *site, url: "https://{{host}}/shop"}
                """) == ["site-a https://a/", "site-b https://b/", "shop-a https://a/shop", "shop-b https://b/shop"])
    }

    @Test("rules match the sources by name and by glob")
    func rules() throws {
        let loaded = load(
            """
            sources: {"site-{{host}}": {each: {host: [a, b]}, kind: json, url: "https://{{host}}/"}}
            sinks: {k: {kind: desktop}}
            rules:
              - {name: all, when: {source: "site-*", appears: true}, notify: k}
              - {name: one, when: {source: site-b, appears: true}, notify: k}
            """)
        #expect(loaded.diagnostics == [])
        let sets = try #require(loaded.configuration).rules.map(\.when.sources)
        #expect(sets == [["site-a", "site-b"], ["site-b"]])
    }

    @Test("what is wrong names the value, and is said once where the value does not matter")
    func errors() {
        #expect(
            sources("sources: {'s-{{h}}': {each: {h: [a, b c, d e]}, kind: json, url: 'https://{{h}}/', evry: 1}}") == [
                "1:11: 's-b c' cannot name a source; take letters, digits and - _ . : + @, not beginning with '-' (with h 'b c' of 'each')",
                "1:84: unknown key 'evry' in source 's-a'; did you mean 'every'? (with h 'a' of 'each')",
            ])
        #expect(
            sources("sources: {'s-{{n}}': {each: [{n: a, u: h}, {n: b, u: 'x y'}], kind: json, url: 'https://{{u}}/'}}")
                == [
                    "1:80: 'url' must be an absolute URL as https://host/path, not 'https://x y/' (with n 'b', u 'x y' of 'each')"
                ])
    }

    @Test(
        "names that meet are refused with the place",
        arguments: [
            (
                "sources: {'s': {each: {h: [a, b]}, kind: json, url: 'https://{{h}}/'}}",
                "1:11: 'each' makes several sources of 's', so its name must hold {{h}}, as 's-{{h}}'"
            ),
            (
                "sources: {'s-{{h}}': {each: {h: [a, a]}, kind: json, url: 'https://{{h}}/'}}",
                "1:29: 'each' makes the source 's-a' twice; remove a value, or write each of its names into 's-{{h}}'"
            ),
            (
                "sources: {'s-{{h}}': {each: {h: [a, b], p: [1, 2]}, kind: json, url: 'https://{{h}}:{{p}}/'}}",
                "1:29: 'each' makes the source 's-a' twice; remove a value, or write each of its names into 's-{{h}}'"
            ),
            (
                "sources: {s-a: {kind: json, url: 'https://h/'}, 's-{{h}}': {each: {h: [a]}, kind: json, url: 'https://{{h}}/'}}",
                "1:49: the source 's-a' exists at a.yaml:1:11 already; rename one (with h 'a' of 'each')"
            ),
            (
                "sources: {'s-{{h}}': {each: {}, kind: json, url: 'https://{{h}}/'}}",
                "1:29: 'each' has no value; write one as {host: [a.example, b.example]} or remove it"
            ),
            (
                "sources: {'s-{{h}}': {each: [{h: a}, {g: b}], kind: json, url: 'https://{{h}}/'}}",
                "1:38: each element of 'each' has the same names as the first: h"
            ),
            (
                "sources: {'s-{{h}}': {each: {a-b: [a]}, kind: json, url: 'https://h/'}}",
                "1:30: 'a-b' cannot name a value of 'each'; take letters, digits and _"
            ),
        ])
    func collisions(text: String, problem: String) {
        #expect(sources(text) == [problem])
    }

    @Test("a name that `each` nearly has is warned of")
    func similar() {
        #expect(
            problems(
                "sources: {'s-{{host}}': {each: {host: [a]}, kind: json, url: 'https://{{host}}/', items: '{{hots}}'}}")
                == [
                    "1:90: warning: 'each' has no {{hots}}; did you mean 'host'?"
                ])
    }

    @Test("the number of sources and the size of what is made are bounded")
    func bounds() {
        let many = (0..<101).map(String.init).joined(separator: ", ")
        #expect(
            sources("sources: {'{{a}}-{{b}}': {each: {a: [\(many)], b: [\(many)]}, kind: json, url: 'https://h/'}}")
                == ["1:33: the lists of 'each' make more than 10000 sources; split it"])
        let long = String(repeating: "x", count: 2_000_000)
        let hosts = (0..<100).map { "h\($0)" }.joined(separator: ", ")
        let said = sources(
            "sources: {'{{a}}': {each: {a: [\(hosts)]}, kind: json, url: 'https://h/', items: '{{a}}\(long)'}}")
        #expect(said.count == 1 && said.first?.contains("the files hold more than 2000000 values") == true, "\(said)")
    }

    @Test("other commands know the names that are made")
    func names() throws {
        let directory = try TemporaryDirectory()
        try directory.write(
            "sources: {'s-{{h}}': {each: {h: [a, b]}, kind: json, url: 'https://{{h}}/'}}", to: "a.yaml")
        #expect(loader(directory: directory.path).names().sources == ["s-a", "s-b"])
    }
}
