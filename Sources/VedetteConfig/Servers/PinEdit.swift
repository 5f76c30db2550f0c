// SPDX-License-Identifier: Apache-2.0

import Foundation
import VedetteSystem
import Yams

/// Writes a pin into a server of a configuration file, and changes nothing else in the text.
public enum PinEdit {
    /// A file that cannot be changed.
    public struct Problem: Error, Sendable {
        /// Why it must be changed by hand.
        public var detail: String
    }

    /// The result of a change.
    public struct PinRecord: Sendable, Hashable {
        /// `file:line`.
        public var place: String
        /// The pin before; nil for none.
        public var former: String?
    }

    /// Replaces the file by its changed text in one step, so that a reader gets the old text or the new one.
    /// - Parameters:
    ///   - files: the files of the configuration; the server may be in any of them.
    ///   - pin: `sha256//…`.
    public static func write(_ pin: String, to server: String, in files: [String]) throws(Problem) -> PinRecord {
        for path in files {
            guard case .success(let file) = BoundedFile.read(path, most: ConfigurationFile.maximumSize),
                let text = String(validating: file.bytes, as: UTF8.self), !AliasGuard.isBomb(text),
                let root = try? Parser(yaml: text, resolver: .basic).singleRoot(),
                let node = root.member("servers")?.member(server)
            else { continue }
            var lines = PinText(text)
            guard let (changed, line) = lines.setting(pin, of: node), isOnlyChange(changed, root, server, pin)
            else {
                let line = node.mark.map { ":\($0.line)" } ?? ""
                throw Problem(
                    detail: "the server '\(server)' at \(path)\(line) is not written simply enough to be changed")
            }
            try replace(path, by: changed, mode: file.mode)
            return PinRecord(place: "\(path):\(line)", former: node.member("tls")?.member("pin")?.scalar?.string)
        }
        throw Problem(detail: "the server '\(server)' is in no file of the configuration")
    }

    /// Returns whether the texts differ in meaning by the pin only. An anchor, an alias or a comment can make an edit change
    /// more.
    static func isOnlyChange(_ text: String, _ root: Node, _ server: String, _ pin: String) -> Bool {
        guard let after = try? Parser(yaml: text, resolver: .basic).singleRoot() else { return false }
        var expected = Tree(root)
        expected.set(pin, at: ["servers", server, "tls", "pin"])
        return Tree(after) == expected
    }

    /// Replaces the file. A symbolic link is kept.
    private static func replace(_ path: String, by text: String, mode: UInt32) throws(Problem) {
        let target = URL(fileURLWithPath: path).resolvingSymlinksInPath().path
        do throws(AtomicFile.Failure) {
            try AtomicFile.write(Array(text.utf8), to: target, mode: mode, keepsOwner: true)
        } catch {
            throw Problem(detail: "\(path) cannot be written: \(error.reason)")
        }
    }
}

/// A document without marks and styles, to compare the meaning of two texts.
private indirect enum Tree: Equatable {
    case text(String)
    case list([Tree])
    case map([String: Tree])

    init(_ node: Node) {
        switch node {
        case .mapping(let mapping):
            self = .map(
                Dictionary(
                    mapping.map { ($0.key.scalar?.string ?? "\(Tree($0.key))", Tree($0.value)) },
                    uniquingKeysWith: { first, _ in first }))
        case .sequence(let sequence): self = .list(sequence.map(Tree.init))
        default: self = .text(node.scalar?.string ?? "")
        }
    }

    mutating func set(_ text: String, at path: ArraySlice<String>) {
        guard let name = path.first else {
            self = .text(text)
            return
        }
        var members: [String: Tree] = [:]
        if case .map(let own) = self { members = own }
        var child = members[name] ?? .map([:])
        child.set(text, at: path.dropFirst())
        members[name] = child
        self = .map(members)
    }
}

extension Node {
    /// The value of a key; nil when it comes from a merge.
    fileprivate func member(_ name: String) -> Node? { mapping?.first { $0.key.scalar?.string == name }?.value }
}

/// The lines of a file, and the places where a pin can be written.
private struct PinText {
    private var lines: [String]

    /// Splits by Unicode scalars, since CR LF is one Character in Swift.
    init(_ text: String) {
        lines = text.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false).map { String($0) }
    }

    /// Writes the pin.
    /// - Returns: the whole text, and the line of the change, from 1.
    mutating func setting(_ pin: String, of server: Node) -> (String, Int)? {
        guard let mapping = server.mapping, let first = mapping.first?.key else { return nil }
        let line: Int?
        if let tls = server.mapping?.first(where: { $0.key.scalar?.string == "tls" })?.value {
            line = setPin(pin, in: tls)
        } else if isFlow(mapping) {
            line = insert("tls: {pin: \"\(pin)\"}, ", behindBraceOf: mapping)
        } else {
            line = insertLine("tls: {pin: \"\(pin)\"}", before: first)
        }
        return line.map { (lines.joined(separator: "\n"), $0) }
    }

    private mutating func setPin(_ pin: String, in tls: Node) -> Int? {
        guard let mapping = tls.mapping, let first = mapping.first?.key else { return nil }
        // Both verify the certificate in another way, and exclude a pin.
        guard !mapping.contains(where: { ["ca", "insecure"].contains($0.key.scalar?.string) }) else { return nil }
        if let old = mapping.first(where: { $0.key.scalar?.string == "pin" })?.value.scalar {
            return replace(old, by: pin)
        }
        return isFlow(mapping)
            ? insert("pin: \"\(pin)\", ", behindBraceOf: mapping) : insertLine("pin: \"\(pin)\"", before: first)
    }

    private func isFlow(_ mapping: Node.Mapping) -> Bool {
        guard let mark = mapping.mark else { return false }
        return tail(mark)?.hasPrefix("{") == true
    }

    private func tail(_ mark: Mark) -> Substring.UnicodeScalarView? {
        guard lines.indices.contains(mark.line - 1) else { return nil }
        return lines[mark.line - 1][...].unicodeScalars.dropFirst(mark.column - 1)
    }

    private func head(_ mark: Mark) -> String {
        String(String.UnicodeScalarView(lines[mark.line - 1].unicodeScalars.prefix(mark.column - 1)))
    }

    private mutating func insert(_ text: String, behindBraceOf mapping: Node.Mapping) -> Int? {
        guard let mark = mapping.mark, let tail = tail(mark) else { return nil }
        lines[mark.line - 1] = head(mark) + "{" + text + String(tail.dropFirst())
        return mark.line
    }

    private mutating func insertLine(_ text: String, before key: Node) -> Int? {
        guard let mark = key.mark, lines.indices.contains(mark.line - 1) else { return nil }
        let head = head(mark)
        guard head.allSatisfy({ $0 == " " }) else { return nil }
        let end = lines[mark.line - 1].unicodeScalars.last == "\r" ? "\r" : ""
        lines.insert(head + text + end, at: mark.line - 1)
        return mark.line
    }

    /// Replaces a scalar on one line, with or without quotes.
    private mutating func replace(_ old: Node.Scalar, by pin: String) -> Int? {
        guard let mark = old.mark, let tail = tail(mark) else { return nil }
        for written in ["\"\(old.string)\"", "'\(old.string)'", old.string]
        where tail.starts(with: written.unicodeScalars) {
            lines[mark.line - 1] = head(mark) + "\"\(pin)\"" + String(tail.dropFirst(written.unicodeScalars.count))
            return mark.line
        }
        return nil
    }
}

extension Substring.UnicodeScalarView {
    fileprivate func hasPrefix(_ text: String) -> Bool { starts(with: text.unicodeScalars) }
}
