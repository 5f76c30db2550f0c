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
            let edits = PinText(text).edits(pin, node)
            guard
                let edit = edits.first(where: { isOnlyChange($0.text, root, ["servers", server, "tls", "pin"], pin) })
            else {
                let line = node.mark.map { ":\($0.line)" } ?? ""
                throw Problem(
                    detail: "the server '\(server)' at \(path)\(line) is not written simply enough to be changed")
            }
            try replace(path, by: edit.text, mode: file.mode)
            return PinRecord(place: "\(path):\(edit.line)", former: node.member("tls")?.member("pin")?.scalar?.string)
        }
        throw Problem(detail: "the server '\(server)' is in no file of the configuration")
    }

    /// Returns whether the texts differ in meaning by the pin only. An anchor, an alias or a comment can make an edit change
    /// more.
    private static func isOnlyChange(_ text: String, _ root: Node, _ path: [String], _ pin: String) -> Bool {
        guard let after = try? Parser(yaml: text, resolver: .basic).singleRoot() else { return false }
        return path.reduce(after) { $0?.member($1) }?.scalar?.string == pin
            && after.removing(path[...]) == root.removing(path[...])
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

extension Node {
    /// The value of a key; nil when it comes from a merge.
    fileprivate func member(_ name: String) -> Node? { mapping?.first { $0.key.scalar?.string == name }?.value }

    /// Returns the node without what stands at a path, and without the maps that are empty then.
    fileprivate func removing(_ path: ArraySlice<String>) -> Node? {
        guard let name = path.first else { return nil }
        guard let mapping else { return self }
        let pairs = mapping.compactMap { key, value -> (Node, Node)? in
            guard key.scalar?.string == name else { return (key, value) }
            return value.removing(path.dropFirst()).map { (key, $0) }
        }
        return pairs.isEmpty ? nil : Node(pairs, mapping.tag)
    }
}

/// The lines of a file. They are split by Unicode scalars, since CR LF is one Character in Swift.
private struct PinText {
    private let lines: [String]

    init(_ text: String) {
        lines = text.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false).map { String($0) }
    }

    /// Returns the ways to write a pin into a server, which may change more than the pin: each whole text, and the line of the
    /// change, from 1.
    func edits(_ pin: String, _ server: Node) -> [(text: String, line: Int)] {
        let tls = server.member("tls")
        // `ca` and `insecure` verify the certificate in another way, and exclude a pin.
        guard tls?.member("ca") == nil, tls?.member("insecure") == nil, let mapping = (tls ?? server).mapping,
            let first = mapping.first?.key
        else { return [] }
        if let old = tls?.member("pin")?.scalar {
            return ["\"", "'", ""].compactMap { replacing($0 + old.string + $0, at: old.mark, by: "\"\(pin)\"") }
        }
        let entry = tls == nil ? "tls: {pin: \"\(pin)\"}" : "pin: \"\(pin)\""
        let ways = [
            replacing("{", at: mapping.mark, by: "{\(entry), "), replacing("", at: first.mark, by: entry, isLine: true),
        ]
        return ways.compactMap { $0 }
    }

    /// - Parameter isLine: whether the new text is a line of its own, as far to the right as the old one.
    private func replacing(
        _ old: String, at mark: Mark?, by new: String, isLine: Bool = false
    ) -> (text: String, line: Int)? {
        guard let mark, lines.indices.contains(mark.line - 1) else { return nil }
        let line = lines[mark.line - 1].unicodeScalars
        let (head, tail) = (String(line.prefix(mark.column - 1)), line.dropFirst(mark.column - 1))
        guard tail.starts(with: old.unicodeScalars) else { return nil }
        let end = isLine ? (line.last == "\r" ? "\r\n" : "\n") + head : ""
        var lines = lines
        lines[mark.line - 1] = head + new + end + String(tail.dropFirst(old.unicodeScalars.count))
        return (lines.joined(separator: "\n"), mark.line)
    }
}
