// SPDX-License-Identifier: Apache-2.0

/// Finds what is wrong with a document that the fast walk refused, because simdjson's own messages and offsets are vague.
/// Runs only for broken documents, and keeps its own stack, so that nesting cannot overflow it.
struct JSONDiagnosis {
    private let bytes: [UInt8]
    private var at = 0
    private var open: [UInt8] = []

    private init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// Refuses what cannot be an array or object before any parsing, so that a login page gets an error class of its own.
    static func checkStart(_ body: [UInt8]) throws(DocumentError) {
        guard let start = body.firstIndex(where: { !$0.isSpace }) else {
            throw DocumentError(.empty, "the response is empty where JSON was expected")
        }
        switch body[start] {
        case UInt8(ascii: "{"), UInt8(ascii: "["): return
        case UInt8(ascii: "<"):
            let what = Sniffer.isHTML(body[start...]) ? "an HTML page (a login page?)" : "XML"
            throw DocumentError(.wrongType, "JSON was expected, but the response is \(what)", offset: start)
        case 0xFE, 0xFF, 0:
            throw DocumentError(
                .encoding, "JSON must be UTF-8 (RFC 8259), this looks like UTF-16 or binary", offset: start)
        case UInt8(ascii: "\""), UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
            throw DocumentError(.wrongShape, "the JSON is a single value, not an array or an object", offset: start)
        default:
            let words: Set<[UInt8]> = [Array("true".utf8), Array("false".utf8), Array("null".utf8)]
            let isWord = words.contains(body[start...].filter { !$0.isSpace })
            throw isWord
                ? DocumentError(.wrongShape, "the JSON is a single value, not an array or an object", offset: start)
                : DocumentError(
                    .syntax,
                    JSONWrapping.inCall(body) == nil
                        ? "the response is not JSON"
                        : "the response is a call with JSON (JSONP); 'jsonp: true' reads it",
                    offset: start)
        }
    }

    static func explain(_ body: [UInt8]) -> DocumentError {
        var diagnosis = JSONDiagnosis(body)
        do throws(DocumentError) {
            try diagnosis.document()
        } catch {
            return error
        }
        return DocumentError(.encoding, "the JSON holds bytes that are not UTF-8 or half a surrogate pair")
    }

    private mutating func document() throws(DocumentError) {
        try value()
        while let container = open.last {
            skipSpace()
            let isObject = container == UInt8(ascii: "{")
            switch try peek() {
            case UInt8(ascii: ","):
                at += 1
                if isObject { try name() }
                try value()
            case isObject ? UInt8(ascii: "}") : UInt8(ascii: "]"):
                at += 1
                open.removeLast()
            default: throw wrong("',' or '\(isObject ? "}" : "]")' was expected")
            }
        }
        skipSpace()
        if at < bytes.count { throw wrong("there is text after the end") }
    }

    /// Reads one value; of a container only its beginning, down to the first member that is neither empty nor a container.
    private mutating func value() throws(DocumentError) {
        while true {
            skipSpace()
            switch try peek() {
            case let bracket where bracket == UInt8(ascii: "{") || bracket == UInt8(ascii: "["):
                at += 1
                skipSpace()
                let isObject = bracket == UInt8(ascii: "{")
                if try peek() == (isObject ? UInt8(ascii: "}") : UInt8(ascii: "]")) {
                    at += 1
                    return
                }
                open.append(bracket)
                if isObject { try name() }
            case UInt8(ascii: "\""): return try string()
            default: return try word()
            }
        }
    }

    private mutating func name() throws(DocumentError) {
        skipSpace()
        guard try peek() == UInt8(ascii: "\"") else { throw wrong("a member's name in quotes was expected") }
        try string()
        skipSpace()
        guard try peek() == UInt8(ascii: ":") else { throw wrong("':' was expected after a name") }
        at += 1
    }

    private mutating func string() throws(DocumentError) {
        at += 1
        while try peek() != UInt8(ascii: "\"") {
            if bytes[at] < 0x20 { throw wrong("a control character stands unescaped in a string") }
            if bytes[at] == UInt8(ascii: "\\") {
                at += 1
                if try peek() == UInt8(ascii: "u") {
                    for _ in 0..<4 {
                        at += 1
                        guard try peek().hexValue != nil else { throw wrong("'\\u' needs four hexadecimal digits") }
                    }
                } else if !Array("\"\\/bfnrt".utf8).contains(bytes[at]) {
                    throw wrong("an unknown escape stands in a string")
                }
            }
            at += 1
        }
        at += 1
    }

    private mutating func word() throws(DocumentError) {
        let start = at
        while at < bytes.count, !bytes[at].isSpace, !Array(",:[]{}\"".utf8).contains(bytes[at]) {
            at += 1
        }
        if at == bytes.count { throw cut }
        let word = bytes[start..<at]
        if ["true", "false", "null"].contains(where: { word.elementsEqual($0.utf8) }) || JSONNumber.isValid(word) {
            return
        }
        at = start
        throw wrong(word.isEmpty ? "a value was expected" : "this is no JSON value")
    }

    private mutating func skipSpace() {
        while at < bytes.count, bytes[at].isSpace { at += 1 }
    }

    private func peek() throws(DocumentError) -> UInt8 {
        guard at < bytes.count else { throw cut }
        return bytes[at]
    }

    private var cut: DocumentError {
        DocumentError(.truncated, "the JSON document is cut off before its end", offset: bytes.count)
    }

    private func wrong(_ what: String) -> DocumentError {
        DocumentError(.syntax, "the JSON document is malformed: \(what)", offset: at)
    }
}
