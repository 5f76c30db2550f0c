// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteCore

@testable import VedetteConfig

@Suite("Keys that go")
struct DeprecationTests {
    private static let keys = [
        OptionSpec(
            "choose", .text, "What is read.", default: "all",
            deprecated: .init(since: "0.2.0", goes: "0.4.0", remedy: "write 'select'")),
        OptionSpec("select", .text, "What is read."),
    ]

    private func read(_ text: String, options: [OptionSpec]) throws -> (value: String?, diagnostics: [String]) {
        let findings = Findings()
        let file = ConfigurationFile(path: "a.yaml", text: text, isPrivate: true)
        let root = try #require(YAMLDocument.root(of: file, budget: AliasBudget(), findings))
        let values = ValueReader(secrets: SecretReader(environment: [:], findings: findings))
        let map = try #require(
            MapReader(root, "source 's'", keys: options.isEmpty ? DeprecationTests.keys : [], options: options, values))
        let value = options.isEmpty ? map.text("choose") : map.options(options)?.text("choose")
        return (value, findings.sorted().map(\.description))
    }

    @Test(
        "a key that goes is still read, and check names it with the versions and the remedy", arguments: [false, true])
    func warns(isOption: Bool) throws {
        let read = try read("choose: rows\nselect: a", options: isOption ? DeprecationTests.keys : [])
        #expect(read.value == "rows")
        #expect(
            read.diagnostics == [
                "a.yaml:1:1: warning: 'choose' is deprecated since 0.2.0 and goes with 0.4.0; write 'select'"
            ])
        #expect(try self.read("select: a", options: []).diagnostics == [])
    }

    @Test("the schema marks such a key, so that an editor shows it")
    func schema() throws {
        let kind = SourceKindEntry(
            name: "old", summary: "Old.", options: DeprecationTests.keys,
            make: { _ throws(OptionProblem) in StandInKind(fieldNames: nil) })
        let schema = ConfigurationSchema(sourceKinds: [kind], sinkKinds: []).json
        let sources = try #require(schema["properties"]?["sources"]?["additionalProperties"]?["anyOf"]?.array)
        let properties = try #require(sources.first?["properties"])
        #expect(properties["choose"]?["deprecated"] == .bool(true))
        #expect(
            properties["choose"]?["description"]?.string
                == "What is read. Default: all. 'choose' is deprecated since 0.2.0 and goes with 0.4.0; write 'select'."
        )
        #expect(properties["select"]?["deprecated"] == nil)
    }
}
