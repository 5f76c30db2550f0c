// SPDX-License-Identifier: Apache-2.0

/// The place of a value in a JSON document: names joined by dots, numbers index arrays (`nics.0.ip_address`), a literal dot
/// in a name is written `\.`, a literal backslash `\\`. The empty path, also written `.`, is the value itself.
public struct JSONPath: Hashable, Sendable, CustomStringConvertible {
    /// A path that cannot be read, with the byte offset in its text.
    public struct Invalid: Error, Equatable, Sendable, CustomStringConvertible {
        public let offset: Int
        public let reason: String
        public var description: String { reason }
    }

    /// The names from the root down. A name that is a whole number matches an array index and a member of that name.
    public let steps: [String]

    /// The root, or a row itself.
    public static let root = JSONPath(steps: [])

    /// `$name`: the name of the member that a row is, where the rows are the members of an object.
    public static let memberName = JSONPath(steps: ["$name"])

    public init(steps: [String]) { self.steps = steps }

    public init(_ text: String) throws(Invalid) {
        guard text != "." else {
            self = .root
            return
        }
        var steps: [String] = []
        var name: [UInt8] = []
        var bytes = Array(text.utf8).makeIterator()
        var offset = 0
        while let byte = bytes.next() {
            switch byte {
            case UInt8(ascii: "."):
                try Self.check(name, text, offset)
                steps.append(String(decoding: name, as: UTF8.self))
                name = []
            case UInt8(ascii: "\\"):
                guard let next = bytes.next(), next == UInt8(ascii: ".") || next == UInt8(ascii: "\\") else {
                    throw Invalid(offset: offset, reason: "'\\' in path '\(text)' must be followed by '.' or '\\'")
                }
                name.append(next)
                offset += 1
            case UInt8(ascii: "["), UInt8(ascii: "]"):
                throw Invalid(
                    offset: offset,
                    reason:
                        "write path '\(text)' with dots, without '$', '[' and ']': 'items' is a whole list, 'items.0' its first element"
                )
            default:
                name.append(byte)
            }
            offset += 1
        }
        if !text.isEmpty {
            try Self.check(name, text, offset)
            steps.append(String(decoding: name, as: UTF8.self))
        }
        self.steps = steps
    }

    private static func check(_ name: [UInt8], _ text: String, _ offset: Int) throws(Invalid) {
        if name.isEmpty {
            throw Invalid(offset: offset, reason: "path '\(text)' has an empty name; write a literal dot as '\\.'")
        }
    }

    public var description: String {
        steps.map { step in
            var name = ""
            for character in step {
                if character == "." || character == "\\" { name.append("\\") }
                name.append(character)
            }
            return name
        }.joined(separator: ".")
    }
}
