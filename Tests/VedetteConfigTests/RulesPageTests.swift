// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import VedetteCore

@testable import VedetteConfig

@Suite("The page of rules")
struct RulesPageTests {
    private static let page = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "Sources/vedette/Documentation.docc/Rules.md")

    private static let head = """
        sources:
          lab-systems: {kind: json, url: "https://wca.example.com"}
          site: {kind: json, url: "https://www.example.com"}
          ci-runs: {kind: json, url: "https://ci.example.com"}
          blog-updates: {kind: json, url: "https://blog.example.com"}
        sinks: {desktop: {kind: desktop}, team: {kind: desktop}, colleague: {kind: desktop}, mail: {kind: desktop}}
        windows:
          night: {daily: "22:00-07:00"}
        rules:

        """

    @Test("its ten sentences are rules that pass their own tests")
    func sentences() throws {
        let text = try String(contentsOf: Self.page, encoding: .utf8)
        let part = try #require(
            text.components(separatedBy: "## Ten sentences").last?.components(separatedBy: "\n## ").first)
        let blocks = part.components(separatedBy: "```yaml\n").dropFirst().compactMap {
            $0.components(separatedBy: "```").first
        }
        #expect(part.components(separatedBy: "\n**").count - 1 == blocks.count && !blocks.isEmpty)
        let loaded = load(Self.head + blocks.joined())
        #expect(loaded.problems.map(\.description) == [])
        let rules = try #require(loaded.configuration?.rules)
        #expect(rules.count == blocks.joined().components(separatedBy: "- name:").count - 1)
        for rule in rules { #expect(!rule.tests.isEmpty, "\(rule.name) has no test") }
    }

    @Test("its other examples are rules that pass their own tests")
    func examples() throws {
        let text = try String(contentsOf: Self.page, encoding: .utf8)
        let parts = text.components(separatedBy: "\n## ").filter { !$0.hasPrefix("Ten sentences") }.dropFirst()
        let blocks = parts.flatMap { part in
            part.components(separatedBy: "```yaml\n").dropFirst().compactMap {
                $0.components(separatedBy: "```").first
            }
        }
        let configuration = Self.head.replacing(
            "sources:\n", with: "sources:\n  backups: {kind: json, url: \"https://backups.example.com\"}\n")
        let loaded = load(configuration + blocks.joined())
        #expect(loaded.problems.map(\.description) == [])
        let rules = try #require(loaded.configuration?.rules)
        #expect(rules.count == blocks.joined().components(separatedBy: "- name:").count - 1 && rules.count >= 2)
    }
}
