// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@Suite("Documentation")
struct DocumentationTests {
    private static let pages = Tree.root.appending(path: "Sources/vedette/Documentation.docc")

    private static func text(_ file: URL) throws -> String {
        try String(contentsOf: file, encoding: .utf8)
    }

    /// Returns the rows of a page's tables without headings and rules.
    private static func rows(_ page: String) throws -> [String] {
        let lines = try text(pages.appending(path: page)).lines
        return lines.split { !$0.hasPrefix("|") }.flatMap { $0.dropFirst(2) }
    }

    /// Returns the texts in double quotes.
    private static func names(_ row: String) -> [String] {
        row.split(separator: "\"", omittingEmptySubsequences: false).enumerated()
            .filter { $0.offset % 2 == 1 }.map { String($0.element) }
    }

    @Test(
        "every test that a page names exists, and no row is without one",
        arguments: ["Guarantees.md", "Cases.md"])
    func promises(page: String) throws {
        let lines = try Tree.swiftFiles(in: "Tests").flatMap(\.lines)
        // What stands between two quotation marks of a line.
        let quoted = lines.flatMap {
            $0.utf8.split(separator: UInt8(ascii: "\""), omittingEmptySubsequences: false).dropFirst().dropLast()
        }
        let tests = Set(quoted.map { String(Substring($0)) })
        let rows = try Self.rows(page)
        #expect(rows.count > 25)
        for row in rows where Self.guarantee(row) == nil {
            #expect(!Self.names(row).isEmpty, "no test in: \(row)")
            for name in Self.names(row) {
                let exists = tests.contains(name)
                #expect(exists, "no test is called: \(name)")
            }
        }
    }

    /// Returns the number of the guarantee that a row states, such as `I5`.
    private static func guarantee(_ row: String) -> String? { row.firstMatch(of: /^\| (I\d+) \|/).map { String($0.1) } }

    @Test("each guarantee has its tag in its row and on tests, and no tag is without a guarantee")
    func guarantees() throws {
        let rows = try Self.rows("Guarantees.md").filter { Self.guarantee($0) != nil }
        let guarantees = Set(rows.compactMap(Self.guarantee))
        #expect(guarantees.count > 10 && guarantees.count == rows.count)
        for row in rows { #expect(row.hasSuffix("| `contrib/tagged \(Self.guarantee(row) ?? "")` |"), "\(row)") }
        func tags(_ folder: String, _ form: Regex<(Substring, Substring)>) throws -> Set<String> {
            let lines = try Tree.swiftFiles(in: folder).flatMap(\.lines)
            let tags = lines.flatMap { $0.matches(of: form) }.flatMap { $0.1.split(separator: ", ") }
            return Set(tags.map { String($0.trimmingPrefix(".")) })
        }
        #expect(try tags("Sources", /@Tag public static var (\w+): Self/) == guarantees)
        #expect(try tags("Tests", /\.tags\((\.I\d[^)]*)\)/) == guarantees)
    }

    @Test("the page of limits says what each C module that is imported may compute, and names no other")
    func cLibraries() throws {
        let section = try Self.text(Self.pages.appending(path: "Limits.md")).components(separatedBy: "\n## ")
            .first { $0.hasPrefix("Calls into C libraries\n") }
        let named = try #require(section).lines.compactMap { $0.wholeMatch(of: /\| `(C[A-Z][A-Za-z0-9]*)` \|.*/)?.1 }
        let own = try FileManager.default.contentsOfDirectory(atPath: Tree.root.appending(path: "Sources").path())
        let imported = try Tree.swiftFiles(in: "Sources").flatMap(\.lines).compactMap(WallsTests.imported)
        #expect(Set(named.map(String.init)) == Set(imported).intersection(own.filter { $0.hasPrefix("C") }))
    }

    @Test(
        "the page of cases has each of them, in order, and every test that bears a case's number is in its row"
    )
    func cases() throws {
        let rows = try Self.rows("Cases.md")
        let numbers = rows.map {
            $0.split(separator: "|").first?.trimmingCharacters(in: .whitespaces) ?? ""
        }
        #expect(numbers == (1...64).map(String.init))
        let named = /"case (\d+): [^"]*"/
        for line in try Tree.swiftFiles(in: "Tests").flatMap(\.lines) {
            guard let match = line.firstMatch(of: named), let number = Int(match.1),
                numbers.indices ~= number - 1
            else { continue }
            let isNamed = rows[number - 1].contains(match.0)
            #expect(isNamed, "missing in row \(number): \(match.0)")
        }
    }

    @Test("every page of documentation begins with an example, and the first page leads to it")
    func examples() throws {
        let pages = try FileManager.default.contentsOfDirectory(at: Self.pages, includingPropertiesForKeys: nil)
            .filter { $0.pathExtension == "md" }
        let start = try Self.text(Self.pages.appending(path: "vedette.md"))
        #expect(pages.count > 40)
        for page in pages {
            let name = page.lastPathComponent
            #expect(
                try Self.text(page).lines.prefix(10).contains { $0.hasPrefix("```") }, "\(name): no example in 10 lines"
            )
            #expect(name == "vedette.md" || start.contains("](\(name))"), "vedette.md has no link to \(name)")
        }
    }

    /// Returns the headings as links name them: lower-case letters and digits, words joined by hyphens.
    private static func anchors(_ page: String) -> Set<String> {
        Set(
            page.lines.filter { $0.hasPrefix("#") }.map { line in
                let title = line.drop { $0 == "#" || $0 == " " }.lowercased()
                return String(
                    title.filter { $0.isLetter || $0.isNumber || $0 == " " || $0 == "-" || $0 == "_" }
                )
                .replacing(" ", with: "-")
            })
    }

    @Test(
        "every relative link of the documentation leads to a file, and to a heading where it names one")
    func links() throws {
        // Pictures stand beside the pages.
        let pages = try FileManager.default.contentsOfDirectory(
            at: Self.pages, includingPropertiesForKeys: nil
        ).filter { $0.pathExtension == "md" }
        for page in pages + ["README.md", "CONTRIBUTING.md"].map({ Tree.root.appending(path: $0) }) {
            for part in try Self.text(page).components(separatedBy: "](").dropFirst() {
                guard let target = part.split(separator: ")").first, !target.hasPrefix("http") else {
                    continue
                }
                let parts = target.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
                let file =
                    parts[0].isEmpty
                    ? page : page.deletingLastPathComponent().appending(path: String(parts[0]))
                let exists = FileManager.default.fileExists(atPath: file.path)
                #expect(exists, "\(page.lastPathComponent): \(target)")
                guard exists, parts.count == 2 else { continue }
                let anchors = Self.anchors(try Self.text(file))
                #expect(
                    anchors.contains(String(parts[1])), "\(page.lastPathComponent): no heading for \(target)")
            }
        }
    }
}

@Suite("Examples")
struct ExampleTests {
    @Test("every file under rules/ begins with the line that names its schema for an editor")
    func modeline() throws {
        let top = Tree.root.appending(path: "rules")
        let paths = try #require(FileManager.default.enumerator(atPath: top.path())).compactMap { $0 as? String }
        let files = paths.filter { $0.hasSuffix(".yaml") }
        #expect(files.count > 30)
        for path in files {
            let file = top.appending(path: path)
            let first = try String(contentsOf: file, encoding: .utf8).lines.first ?? ""
            let start = "# yaml-language-server: $schema="
            let schema = file.deletingLastPathComponent().appending(path: String(first.dropFirst(start.count)))
            #expect(
                first.hasPrefix(start) && FileManager.default.fileExists(atPath: schema.path()), "\(path): \(first)")
        }
    }
}
