// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@Suite("The page of recipes")
struct RecipesTests {
    @Test("each wish is a rule that check accepts, with tests that pass")
    func recipes() async throws {
        let page = Program.root.appending(path: "Sources/vedette/Documentation.docc/Recipes.md")
        let sections = try String(contentsOf: page, encoding: .utf8).components(separatedBy: "\n## ")
        let blocks = sections.map { section in
            section.components(separatedBy: "```yaml\n").dropFirst().compactMap {
                $0.components(separatedBy: "```").first
            }.joined()
        }
        for (number, section) in sections.dropFirst().dropLast().enumerated() {
            #expect(section.hasPrefix("\(number + 1). ") && section.contains("\n*"), "\(section.prefix(40))")
            let rules = blocks[number + 1].components(separatedBy: "- name: ").dropFirst()
            #expect(!rules.isEmpty, "\(section.prefix(40)) has no rule")
            for rule in rules { #expect(rule.contains("expect:"), "\(rule.prefix(20)) has no test") }
        }
        #expect(sections.count > 2)
        let home = try Home()
        try home.write(blocks[0] + "rules:\n" + blocks.dropFirst().joined())
        let checked = try await home.vedette("check", environment: ["SLACK_WEBHOOK": "https://hooks.example.com/x"])
        #expect(checked.code == 0 && !checked.err.contains("warning"), "\(checked.out)\(checked.err)")
    }
}
