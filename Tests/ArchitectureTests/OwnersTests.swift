// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@Suite("Owners")
struct OwnersTests {
    @Test("no extension assigns to a stored property that another file declares")
    func owners() throws {
        let files = try Tree.swiftFiles(in: "Sources")
        #expect(Self.assignments(in: files) == [])
    }

    @Test("an assignment is recognised in every form, and no declaration, comparison or initialiser is one")
    func forms() {
        let owner = """
            public final class A {
                var a = 0
                weak var b: A?
                public internal(set) var c = [0]
                private(set) var own = 0
                var computed: Int { 0 }
                func change() { a = 1 }
            }
            """
        let other = """
            extension A {
                init(a: Int) {
                    self.a = a
                }
                func changed(x: Int) {
                    a = x
                    if x > 0 { self.a += x }
                    (x, c) = (1, [])
                    for i in c.indices where c[i] == a { c[i] = 2 }
                    b?.a = 3
                    guard a == x, let y = b else { return c.append(a) }
                }
                func local() {
                    var a = 0
                    a = 1
                }
                func shadowed(a: inout Int) { a = 2 }
            }
            """
        let files = [("A", owner), ("A+B", other)].map { Tree.File(target: "T", name: $0, lines: $1.lines) }
        #expect(Self.assignments(in: files) == ["A+B:6: a", "A+B:7: a", "A+B:8: c", "A+B:9: c", "A+B:10: b"])
    }

    /// Returns the file, line and property of each assignment in an extension in another file. Initialisers make the value.
    private static func assignments(in files: [Tree.File]) -> [String] {
        var owners: [String: Set<String>] = [:]
        for file in files {
            for (type, _, member) in members(of: file) where !type.isExtension {
                guard member[0].contains("var "), let name = member[0].firstMatch(of: stored)?.name else { continue }
                owners["\(file.target) \(type.name).\(name)", default: []].insert(file.name)
            }
        }
        var found: [String] = []
        for file in files {
            for (type, first, member) in members(of: file) where type.isExtension {
                for (i, line) in member.enumerated() where line.contains("= ") {
                    for name in assigned(in: line) {
                        let isElsewhere = owners["\(file.target) \(type.name).\(name)"]?.contains(file.name) == false
                        guard isElsewhere, member[0].firstMatch(of: /\binit[?(<]/) == nil,
                            !locals(of: member).contains(name)
                        else { continue }
                        found.append("\(file.name):\(first + i): \(name)")
                    }
                }
            }
        }
        return found
    }

    /// A stored property that other files of its target can assign to. Public data can be assigned to everywhere.
    private static var stored: Regex<(Substring, name: Substring)> {
        /^    (?:(?:nonisolated|weak|unowned|lazy|(?:public|package) internal\(set\)) )?var (?<name>\w+)(?:[^{]*|[^={]*=.*)$/
    }

    private typealias Member = (type: (name: String, isExtension: Bool), first: Int, lines: [String])

    /// Returns the members of the types and extensions at the top of a file, each with the number of its first line.
    ///
    /// Patterns are slow in a debug build, so most lines are told apart without one.
    private static func members(of file: Tree.File) -> [Member] {
        var members: [Member] = []
        var type: (name: String, isExtension: Bool)?
        for (i, line) in file.lines.enumerated() {
            if !line.hasPrefix(" "), !line.isEmpty {
                type = line.hasSuffix("{") ? head(line) : nil
            }
            guard let type, line.hasPrefix("    ") else { continue }
            let first = line.dropFirst(4).first ?? " "
            if first.isLetter || first == "@" {
                members.append((type, i + 1, [line]))
            } else if !members.isEmpty {
                members[members.count - 1].lines.append(line)
            }
        }
        return members
    }

    private static func head(_ line: String) -> (name: String, isExtension: Bool)? {
        let match = line.firstMatch(of: /^(?:[\w@()]+ )*(actor|class|struct|extension) ([\w.]+).*\{$/)
        return match.map { (String($0.2), $0.1 == "extension") }
    }

    /// Returns the parameters and the local names of a member.
    private static func locals(of member: [String]) -> Set<String> {
        let body = member.firstIndex { $0.hasSuffix("{") } ?? 0
        let parameters = member[...body].flatMap { $0.matches(of: /(\w+):/).map { String($0.1) } }
        let declared = member.flatMap { line in
            line.matches(of: /\b(?:let|var) (?:(\w+)|\(([^)]*)\))/).flatMap { match in
                (match.1 ?? match.2 ?? "").matches(of: /\w+/).map { String($0.0) }
            }
        }
        return Set(parameters + declared)
    }

    /// Returns the names that a line assigns to: `name = `, `self.name.part += `, `(name, other[0]) = `.
    private static func assigned(in line: String) -> [String] {
        guard !line.trimmingCharacters(in: .whitespaces).hasPrefix("//") else { return [] }
        return line.matches(of: #/ [-+*|&/]?= /#).flatMap { match -> [String] in
            let left = line[..<match.range.lowerBound].replacing(#/.*[{;] /#, with: "")
                .trimmingCharacters(in: .whitespaces)
            let isTuple = left.hasPrefix("(") && left.hasSuffix(")")
            let targets = isTuple ? left.dropFirst().dropLast().components(separatedBy: ", ") : [left]
            return targets.compactMap { $0.wholeMatch(of: /(?:self\.)?(\w+)(?:[.\[?!].*)?/).map { String($0.1) } }
        }
    }
}
