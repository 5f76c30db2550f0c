// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// The source files of the package.
enum Tree {
    static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    struct File {
        var target: String
        var name: String
        var lines: [String]
    }

    /// Returns every Swift file below a top-level folder, with its target.
    static func swiftFiles(in folder: String) throws -> [File] {
        let top = root.appending(path: folder)
        var files: [File] = []
        for target in try FileManager.default.contentsOfDirectory(atPath: top.path()).sorted() {
            let inside = FileManager.default.enumerator(atPath: top.appending(path: target).path())
            for case let path as String in inside ?? .init() where path.hasSuffix(".swift") {
                let text = try String(contentsOf: top.appending(path: target).appending(path: path), encoding: .utf8)
                files.append(File(target: target, name: "\(folder)/\(target)/\(path)", lines: text.lines))
            }
        }
        return files
    }
}

extension String {
    var lines: [String] { split(separator: "\n", omittingEmptySubsequences: false).map(String.init) }
}

@Suite("Walls")
struct WallsTests {
    /// The table of walls: what each target may import, of the package and of the system.
    static let walls: [String: Set<String>] = [
        "VedetteCore": ["Synchronization"],
        "VedetteSystem": ["CSystem", "Glibc", "Synchronization"],
        "VedetteText": ["VedetteCore", "CPCRE2", "Foundation", "FoundationEssentials", "Synchronization"],
        "VedetteDocument": ["CXML2", "CSimdjson", "Glibc", "Synchronization"],
        "VedetteHTTP": ["VedetteCore", "VedetteSystem", "CCurl", "CZlib", "CCrypto", "Glibc", "Synchronization"],
        "VedetteSources": ["VedetteCore", "VedetteDocument"],
        "VedetteSinks": ["VedetteCore", "VedetteSystem", "CCrypto", "Glibc", "Synchronization"],
        "VedetteDesktop": ["VedetteCore", "VedetteSystem", "CNotify", "Glibc", "Synchronization"],
        "VedetteJournal": [
            "VedetteCore", "VedetteSystem", "GRDB", "GRDBSQLite", "Glibc", "Foundation", "Synchronization",
        ],
        "VedettePostgres": ["VedetteCore", "VedetteSystem", "CPQ", "Glibc", "Synchronization"],
        "VedetteConfig": [
            "VedetteCore", "VedetteSystem", "VedetteText", "Yams", "Glibc", "Foundation", "Synchronization",
        ],
        "VedetteEngine": ["VedetteCore", "Synchronization"],
        "VedettePage": ["VedetteCore", "VedetteSystem", "CMicrohttpd", "Glibc", "Synchronization"],
        "VedetteTestSupport": ["VedetteCore", "Foundation", "Synchronization", "Testing"],
        "vedette": [
            "VedetteCore", "VedetteSystem", "VedetteText", "VedetteDocument", "VedetteHTTP", "VedetteSources",
            "VedetteSinks",
            "VedetteDesktop", "VedetteJournal", "VedettePostgres", "VedetteConfig", "VedetteEngine", "VedettePage",
            "CDelayLoad", "ArgumentParser",
            "Glibc", "Foundation", "FoundationEssentials", "Synchronization", "Dispatch",
        ],
    ]

    /// Returns the module that a line imports; nil for any other line.
    static func imported(by line: String) -> String? {
        var words = line.split(separator: " ").map(String.init)
        let modifiers: Set<String> = ["public", "package", "internal", "private", "fileprivate", "@preconcurrency"]
        while let first = words.first, modifiers.contains(first) || first.hasPrefix("@") { words.removeFirst() }
        guard words.first == "import", words.count > 1 else { return nil }
        let kinds: Set<String> = ["struct", "class", "enum", "protocol", "func", "var", "let", "typealias"]
        let module = kinds.contains(words[1]) && words.count > 2 ? words[2] : words[1]
        return module.split(separator: ".").first.map(String.init)
    }

    @Test("every target imports what its wall allows and nothing else")
    func imports() throws {
        let files = try Tree.swiftFiles(in: "Sources")
        #expect(files.count > 50)
        for file in files {
            guard let allowed = Self.walls[file.target] else {
                Issue.record("\(file.name): the target \(file.target) has no wall in this table")
                continue
            }
            for module in file.lines.compactMap(Self.imported) where !allowed.contains(module) {
                Issue.record("\(file.name) imports \(module), which the wall of \(file.target) does not allow")
            }
        }
    }

    @Test("the program names a store of the journal in App alone; all else uses the ports")
    func stores() throws {
        for file in try Tree.swiftFiles(in: "Sources") where file.target == "vedette" && !file.name.contains("/App/") {
            #expect(!file.lines.compactMap(Self.imported).contains("VedetteJournal"), "\(file.name)")
        }
    }

    @Test("an import line is recognised in every form")
    func forms() {
        #expect(Self.imported(by: "import A") == "A")
        #expect(Self.imported(by: "public import A") == "A")
        #expect(Self.imported(by: "@preconcurrency import A") == "A")
        #expect(Self.imported(by: "@testable import A") == "A")
        #expect(Self.imported(by: "internal import struct A.B") == "A")
        #expect(Self.imported(by: "/// import A") == nil)
    }
}

@Suite("House rules")
struct HouseRulesTests {
    @Test("every Swift file opens with its licence", arguments: ["Sources", "Tests"])
    func licence(folder: String) throws {
        for file in try Tree.swiftFiles(in: folder) {
            #expect(file.lines.first == "// SPDX-License-Identifier: Apache-2.0", "\(file.name)")
        }
    }

    @Test("a trap and an unchecked Sendable have their proof in a comment beside them")
    func proofs() throws {
        for file in try Tree.swiftFiles(in: "Sources") {
            #expect(Self.unproven(file.lines).map { "\(file.name):\($0)" } == [])
        }
        #expect(
            Self.unproven(["// MARK: A", "let a = try! b()", "let url = \"https://h\"", "fatalError()"]) == [2, 4])
        #expect(Self.unproven(["/// A box.", "final class A: @unchecked Sendable {"]) == [2])
        #expect(Self.unproven(["/// `@unchecked`: never changes.", "final class A: @unchecked Sendable {"]) == [])
        #expect(Self.unproven(["// B is set.", "guard let a = b else {", "    preconditionFailure()"]) == [])
    }

    /// The numbers of the lines that need a proof and have none in a comment right above, or above their `guard`.
    private static func unproven(_ lines: [String]) -> [Int] {
        let code = lines.map { $0.trimmingCharacters(in: .whitespaces) }
        let traps = ["try!", "fatalError(", "preconditionFailure(", "@unchecked", "nonisolated(unsafe)"]
        return code.indices.filter { i in
            guard !code[i].hasPrefix("//"), traps.contains(where: code[i].contains) else { return false }
            let last = i > 1 && code[i - 1].hasPrefix("guard ") ? i - 2 : i - 1
            let comment = code[...max(0, last)].reversed().prefix { $0.hasPrefix("//") && !$0.contains("MARK:") }
            return !comment.contains { !code[i].contains("@unchecked") || $0.contains("`@unchecked") }
        }.map { $0 + 1 }
    }

    @Test("the program ends in one place, which runs no exit handler of a library")
    func end() throws {
        for file in try Tree.swiftFiles(in: "Sources") where !file.name.hasSuffix("/Terminal/Exit.swift") {
            for (i, line) in file.lines.enumerated() {
                let ends = ["Glibc.exit(", "Glibc._exit("].contains { line.contains($0) }
                #expect(!ends, "\(file.name):\(i + 1): \(line)")
            }
        }
    }

    @Test("resolved versions are not kept: Package.swift pins exactly")
    func pins() throws {
        let package = try String(contentsOf: Tree.root.appending(path: "Package.swift"), encoding: .utf8)
        for line in package.lines where line.contains(".package(url:") {
            #expect(line.contains("exact:"), "\(line)")
        }
        let ignored = try String(contentsOf: Tree.root.appending(path: ".gitignore"), encoding: .utf8)
        #expect(ignored.lines.contains("Package.resolved"))
        let index = (try? Data(contentsOf: Tree.root.appending(path: ".git/index"))) ?? Data()
        #expect(index.range(of: Data("Package.resolved".utf8)) == nil, "Package.resolved is tracked")
    }
}
