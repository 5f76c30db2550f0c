// SPDX-License-Identifier: Apache-2.0

/// The place of a value in a JSON document: names joined by dots, numbers index arrays (`nics.0.ip_address`), a literal dot
/// in a name is written `\.`, a literal backslash `\\`. The empty path, also written `.`, is the value itself. A `*` in place of
/// a name stands for every element of an array (`labels.*.name`); it may stand once, and a literal one is written `\*`.
public struct JSONPath: Hashable, Sendable, CustomStringConvertible {
    /// A path that cannot be read, with the byte offset in its text.
    public struct Invalid: Error, Equatable, Sendable, CustomStringConvertible {
        public let offset: Int
        public let reason: String
        public var description: String { reason }
    }

    /// The names from the root down. A name that is a whole number matches an array index and a member of that name.
    public let steps: [String]
    /// The names inside each element of the array that `steps` lead to; nil without a `*`.
    public let elementSteps: [String]?

    /// The root, or a row itself.
    public static let root = JSONPath(steps: [])

    /// `$name`: the name of the member that a row is, where the rows are the members of an object.
    public static let memberName = JSONPath(steps: ["$name"])

    public init(steps: [String], elementSteps: [String]? = nil) {
        (self.steps, self.elementSteps) = (steps, elementSteps)
    }

    public init(_ text: String) throws(Invalid) {
        guard text != "." else {
            self = .root
            return
        }
        var parts: [[String]] = [[]]
        var name: [UInt8] = []
        var bytes = Array(text.utf8).makeIterator()
        var (offset, isLiteral) = (0, false)
        while let byte = bytes.next() {
            switch byte {
            case UInt8(ascii: "."):
                try Self.add(name, isLiteral, to: &parts, text, offset)
                (name, isLiteral) = ([], false)
            case UInt8(ascii: "\\"):
                guard let next = bytes.next(), ".\\*[]".utf8.contains(next) else {
                    throw Invalid(
                        offset: offset, reason: "'\\' in path '\(text)' must be followed by '.', '\\', '*', '[' or ']'")
                }
                name.append(next)
                isLiteral = true
                offset += 1
            case UInt8(ascii: "["), UInt8(ascii: "]"):
                throw Invalid(
                    offset: offset,
                    reason:
                        "write path '\(text)' with dots, without '$', '[' and ']': 'items' is a whole list, 'items.0' its first element; a literal '[' is '\\['"
                )
            default:
                name.append(byte)
            }
            offset += 1
        }
        if !text.isEmpty {
            try Self.add(name, isLiteral, to: &parts, text, offset)
        }
        self.init(steps: parts[0], elementSteps: parts.count > 1 ? parts[1] : nil)
    }

    private static func add(
        _ name: [UInt8], _ isLiteral: Bool, to parts: inout [[String]], _ text: String, _ offset: Int
    ) throws(Invalid) {
        if name.isEmpty {
            throw Invalid(offset: offset, reason: "path '\(text)' has an empty name; write a literal dot as '\\.'")
        }
        if isLiteral || name != [UInt8(ascii: "*")] {
            parts[parts.count - 1].append(String(decoding: name, as: UTF8.self))
        } else if parts.count == 1 {
            parts.append([])
        } else {
            throw Invalid(offset: offset, reason: "path '\(text)' has two '*'; write one, or use 'jq'")
        }
    }

    public var description: String {
        guard let elementSteps else { return JSONPath.text(steps) }
        return ([JSONPath.text(steps), "*", JSONPath.text(elementSteps)].filter { !$0.isEmpty }).joined(separator: ".")
    }

    private static func text(_ steps: [String]) -> String {
        steps.map { step in
            if step == "*" { return "\\*" }
            var name = ""
            for character in step {
                if ".\\[]".contains(character) { name.append("\\") }
                name.append(character)
            }
            return name
        }.joined(separator: ".")
    }
}
