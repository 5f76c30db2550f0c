// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@Suite("Documentation")
struct DocumentationTests {
    private static let pages = Tree.root.appending(path: "Sources/vedette/Documentation.docc")

    private static func text(_ file: URL) throws -> String { try String(contentsOf: file, encoding: .utf8) }

    @Test("every test that the page of invariants names exists, and no row is empty")
    func invariants() throws {
        let page = try Self.text(Self.pages.appending(path: "Invariants.md"))
        let tests = try Tree.swiftFiles(in: "Tests").flatMap(\.lines).joined(separator: "\n")
        let rows = page.lines.filter { $0.hasPrefix("| ") && !$0.hasPrefix("| | ") }
        #expect(rows.count > 25)
        for row in rows {
            let names = row.split(separator: "\"", omittingEmptySubsequences: false).enumerated()
                .filter { $0.offset % 2 == 1 }.map { String($0.element) }
            let isHeader = row.contains("| class | tests |") || row.hasPrefix("| promise")
            #expect(!names.isEmpty || isHeader, "no test in: \(row)")
            for name in names { #expect(tests.contains("\"\(name)\""), "no test is called: \(name)") }
        }
    }

    @Test("every relative link of the documentation leads to a file")
    func links() throws {
        let pages = try FileManager.default.contentsOfDirectory(at: Self.pages, includingPropertiesForKeys: nil)
        for page in pages + [Tree.root.appending(path: "README.md")] {
            for part in try Self.text(page).components(separatedBy: "](").dropFirst() {
                guard let target = part.split(separator: ")").first, !target.hasPrefix("http") else { continue }
                let file = page.deletingLastPathComponent().appending(path: String(target.split(separator: "#")[0]))
                #expect(FileManager.default.fileExists(atPath: file.path), "\(page.lastPathComponent): \(target)")
            }
        }
    }
}
