// SPDX-License-Identifier: Apache-2.0

/// A glob (POSIX.1 §2.14.1, without its special treatment of `/` and a leading dot): `*` matches any run, `?` one
/// character, `[a-z]` and `[!a-z]` one of a set; `\` takes the next character literally.
public struct Glob: Sendable, Hashable {
    private enum Part: Sendable, Hashable {
        case any
        case one
        case literal(Character)
        case set([ClosedRange<Character>], negated: Bool)
    }

    /// The glob as it is written.
    public let text: String
    private let parts: [Part]

    /// Compiles a glob; every text is one.
    public init(_ text: String) {
        self.text = text
        var parts: [Part] = []
        var rest = text[...]
        while let character = rest.popFirst() {
            switch character {
            case "*": if parts.last != .any { parts.append(.any) }
            case "?": parts.append(.one)
            case "\\": parts.append(.literal(rest.popFirst() ?? "\\"))
            case "[":
                let set = Glob.set(&rest)
                parts.append(set ?? .literal("["))
            default: parts.append(.literal(character))
            }
        }
        self.parts = parts
    }

    /// Returns whether `text` has a character that is special in a glob.
    public static func isGlob(_ text: String) -> Bool { text.contains { "*?[".contains($0) } }

    private static func set(_ rest: inout Substring) -> Part? {
        // A `]` that comes first, also after `!`, is a member of the set.
        let first = rest.first == "!" || rest.first == "^" ? 2 : 1
        guard let close = rest.dropFirst(first).firstIndex(of: "]") else { return nil }
        var body = rest[..<close]
        rest = rest[rest.index(after: close)...]
        let negated = body.first == "!" || body.first == "^"
        if negated { body.removeFirst() }
        var ranges: [ClosedRange<Character>] = []
        while let low = body.popFirst() {
            if body.first == "-", let high = body.dropFirst().first, low <= high {
                body.removeFirst(2)
                ranges.append(low...high)
            } else {
                ranges.append(low...low)
            }
        }
        return .set(ranges, negated: negated)
    }

    /// Returns whether the whole text matches, in time linear in text × parts: only the last star is retried.
    public func matches(_ text: String) -> Bool {
        let characters = Array(text)
        var (at, part) = (0, 0)
        var star: (at: Int, part: Int)?
        while at < characters.count {
            if part < parts.count, parts[part] == .any {
                star = (at, part)
                part += 1
            } else if part < parts.count, Glob.accepts(parts[part], characters[at]) {
                (at, part) = (at + 1, part + 1)
            } else if let last = star {
                star = (last.at + 1, last.part)
                (at, part) = (last.at + 1, last.part + 1)
            } else {
                return false
            }
        }
        return parts[part...].allSatisfy { $0 == .any }
    }

    private static func accepts(_ part: Part, _ character: Character) -> Bool {
        switch part {
        case .any: false
        case .one: true
        case .literal(let literal): literal == character
        case .set(let ranges, let negated): ranges.contains { $0.contains(character) } != negated
        }
    }
}
