// SPDX-License-Identifier: Apache-2.0

/// Corrects the JSON that stands in an element of a page, where it has errors that readers of structured data accept: comments,
/// CDATA marks, trailing commas, a semicolon at the end, control characters in a string, quotation marks written as `&quot;`, and
/// an assignment to a variable before it.
public struct ScriptJSON {
    private let bytes: [UInt8]
    private var at = 0
    private var depth = 0
    private var out: [UInt8] = []

    /// Marks that mean nothing to JSON. A page that is no XHTML may have `]]>` escaped.
    private static let marks = ["<![CDATA[", "]]>", "]]&gt;", "<!--", "-->"].map { Array($0.utf8) }
    private static let entities: [(name: [UInt8], character: UInt8)] = {
        let names: [(String, Unicode.Scalar)] = [
            ("&quot;", "\""), ("&#34;", "\""), ("&amp;", "&"), ("&lt;", "<"), ("&gt;", ">"), ("&apos;", "'"),
            ("&#39;", "'"),
        ]
        return names.map { (Array($0.0.utf8), UInt8(ascii: $0.1)) }
    }()
    /// Bytes before the value that an assignment may have.
    private static let longestAssignment = 200

    /// Returns the text without these errors. Any other error stays, so that the reader refuses the text.
    public static func corrected(_ text: [UInt8]) -> [UInt8] {
        var text = text
        if !text.contains(UInt8(ascii: "\"")) { text = withoutEntities(text) }
        var script = ScriptJSON(withoutAssignment(text))
        script.run()
        return script.out
    }

    private init(_ bytes: [UInt8]) {
        self.bytes = bytes
        out.reserveCapacity(bytes.count)
    }

    private static func withoutEntities(_ text: [UInt8]) -> [UInt8] {
        var (out, at) = ([UInt8](), 0)
        while at < text.count {
            let rest = text[at...]
            if text[at] == UInt8(ascii: "&"), let entity = entities.first(where: { rest.starts(with: $0.name) }) {
                out.append(entity.character)
                at += entity.name.count
            } else {
                out.append(text[at])
                at += 1
            }
        }
        return out
    }

    /// Returns what follows `window.NAME =`; the text itself where it does not begin like that.
    private static func withoutAssignment(_ text: [UInt8]) -> [UInt8] {
        guard let sign = text.prefix(longestAssignment).firstIndex(of: UInt8(ascii: "=")) else { return text }
        let isName = text[..<sign].allSatisfy { byte in
            byte.isSpace || byte.isDigit || byte.isLetter || "_$.".utf8.contains(byte)
        }
        return isName ? Array(text[(sign + 1)...]) : text
    }

    private mutating func run() {
        while at < bytes.count {
            let byte = bytes[at]
            if byte == UInt8(ascii: "\"") {
                string()
            } else if skipMark() || skipComment() {
                continue
            } else if byte == UInt8(ascii: ";"), depth == 0, !out.isEmpty {
                // What follows the statement is another one.
                return
            } else {
                take(byte)
            }
        }
    }

    private mutating func take(_ byte: UInt8) {
        switch byte {
        case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
        case UInt8(ascii: "}"), UInt8(ascii: "]"):
            depth -= 1
            if let last = out.lastIndex(where: { !$0.isSpace }), out[last] == UInt8(ascii: ",") { out.remove(at: last) }
        default: break
        }
        out.append(byte)
        at += 1
    }

    private mutating func string() {
        out.append(bytes[at])
        at += 1
        while at < bytes.count {
            let byte = bytes[at]
            at += 1
            switch byte {
            case UInt8(ascii: "\n"): out += #"\n"#.utf8
            case UInt8(ascii: "\r"): out += #"\r"#.utf8
            case UInt8(ascii: "\t"): out += #"\t"#.utf8
            case UInt8(ascii: "\\"):
                out.append(byte)
                if at < bytes.count { out.append(bytes[at]) }
                at += 1
            default: out.append(byte)
            }
            if byte == UInt8(ascii: "\"") { return }
        }
    }

    private mutating func skipMark() -> Bool {
        let rest = bytes[at...]
        guard "<]-".utf8.contains(bytes[at]), let mark = ScriptJSON.marks.first(where: { rest.starts(with: $0) }) else {
            return false
        }
        at += mark.count
        return true
    }

    private mutating func skipComment() -> Bool {
        let rest = bytes[at...]
        if rest.starts(with: "/*".utf8) {
            at += 2
            while at < bytes.count, !bytes[at...].starts(with: "*/".utf8) { at += 1 }
            at = min(at + 2, bytes.count)
            return true
        }
        guard rest.starts(with: "//".utf8) else { return false }
        // Behind `//` a mark may begin the very line that has the value.
        let next = rest.dropFirst(2).drop { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
        if ScriptJSON.marks.contains(where: { next.starts(with: $0) }) {
            at = next.startIndex
        } else {
            at = rest.firstIndex { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") } ?? bytes.count
        }
        return true
    }
}
