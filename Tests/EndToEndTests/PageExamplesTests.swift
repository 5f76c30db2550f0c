// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// The examples of configuration that pages of documentation begin with, and all of them on the page for people who come from
/// another program.
@Suite("Examples of the documentation", .timeLimit(.minutes(10)))
struct PageExamplesTests {
    private static let pages = Program.root.appending(path: "Sources/vedette/Documentation.docc")

    /// Returns the blocks of YAML of a page, in order.
    private static func examples(_ page: String) -> [String] {
        page.components(separatedBy: "```yaml\n").dropFirst().compactMap { $0.components(separatedBy: "\n```").first }
    }

    /// What an example may name without defining it.
    private static let head = """
        sources:
          lab-systems: {kind: json, url: "https://wca.example.com/systems", state: state, fields: {name: name}}
        sinks: {desktop: {kind: desktop}, team: {kind: desktop}}

        """

    private func check(_ example: String, of page: String) async throws {
        let home = try Home()
        try home.write(example.hasPrefix("rules:") ? Self.head + example : example)
        let environment = try PresetTests.environment(of: example, in: home)
        let checked = try await home.vedette("check", environment: environment)
        #expect(checked.code == 0, "\(page): \(example)\n\(checked.out)\(checked.err)")
    }

    @Test("the configuration that a page begins with is one that check accepts")
    func first() async throws {
        let pages = try FileManager.default.contentsOfDirectory(at: Self.pages, includingPropertiesForKeys: nil)
        var count = 0
        for page in pages.sorted(by: { $0.path < $1.path }) where page.pathExtension == "md" {
            let text = try String(contentsOf: page, encoding: .utf8)
            let firstFence = text.components(separatedBy: "\n```").dropFirst().first ?? ""
            guard firstFence.hasPrefix("yaml\n"), let example = Self.examples(text).first else { continue }
            count += 1
            try await check(example, of: page.lastPathComponent)
        }
        #expect(count > 25)
    }

    @Test("each converted configuration of the page for people from another program is one that check accepts")
    func converted() async throws {
        let text = try String(contentsOf: Self.pages.appending(path: "ComingFrom.md"), encoding: .utf8)
        let sections = text.components(separatedBy: "\n## ").dropFirst()
        #expect(sections.count == 8)
        for section in sections {
            let examples = Self.examples(section)
            #expect(!examples.isEmpty, "\(section.prefix(30)) has no example")
            for example in examples { try await check(example, of: "ComingFrom.md") }
        }
    }
}
