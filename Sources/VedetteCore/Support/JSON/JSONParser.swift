// SPDX-License-Identifier: Apache-2.0

extension JSON {
    /// Reads one strict JSON text of at most 64 levels.
    public init(parsing bytes: some Sequence<UInt8>) throws(JSONSyntaxError) {
        var parser = JSONParser(bytes: Array(bytes))
        self = try parser.document()
    }
}

private struct JSONParser {
    let bytes: [UInt8]
    /// Whether all of it is valid UTF-8, checked once: a check of each string takes half of the time of a short text.
    let isValid: Bool
    var at = 0
    var depth = 0

    init(bytes: [UInt8]) {
        self.bytes = bytes
        isValid = bytes.withUnsafeBytes(JSONParser.isASCII) || String(validating: bytes, as: UTF8.self) != nil
    }

    private static func isASCII(_ bytes: UnsafeRawBufferPointer) -> Bool {
        let words = bytes.count / 8
        for word in 0..<words
        where bytes.loadUnaligned(fromByteOffset: word * 8, as: UInt64.self) & 0x8080_8080_8080_8080 != 0 {
            return false
        }
        return bytes[(words * 8)...].allSatisfy { $0 < 128 }
    }

    /// Returns a part of the document; nil when it is no UTF-8. A part of valid UTF-8 that ends at a quotation mark or a
    /// backslash is valid itself.
    func text(_ part: ArraySlice<UInt8>) -> String? {
        isValid ? String(decoding: part, as: UTF8.self) : String(validating: part, as: UTF8.self)
    }

    var problem: JSONSyntaxError { JSONSyntaxError(offset: at) }

    mutating func document() throws(JSONSyntaxError) -> JSON {
        let value = try value()
        skipSpace()
        guard at == bytes.count else { throw problem }
        return value
    }

    mutating func skipSpace() {
        while at < bytes.count, bytes[at] == 32 || bytes[at] == 10 || bytes[at] == 13 || bytes[at] == 9 { at += 1 }
    }

    mutating func take(_ character: Unicode.Scalar) -> Bool {
        skipSpace()
        guard at < bytes.count, bytes[at] == UInt8(ascii: character) else { return false }
        at += 1
        return true
    }

    mutating func word(_ word: String, _ value: JSON) throws(JSONSyntaxError) -> JSON {
        guard bytes[at...].starts(with: word.utf8) else { throw problem }
        at += word.utf8.count
        return value
    }

    mutating func value() throws(JSONSyntaxError) -> JSON {
        skipSpace()
        guard at < bytes.count, depth < 64 else { throw problem }
        depth += 1
        defer { depth -= 1 }
        switch bytes[at] {
        case UInt8(ascii: "{"): return try object()
        case UInt8(ascii: "["): return try array()
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "t"): return try word("true", .bool(true))
        case UInt8(ascii: "f"): return try word("false", .bool(false))
        case UInt8(ascii: "n"): return try word("null", .null)
        default: return try number()
        }
    }

    mutating func object() throws(JSONSyntaxError) -> JSON {
        at += 1
        var members: [JSON.Member] = []
        if take("}") { return .object(members) }
        members.reserveCapacity(8)
        repeat {
            skipSpace()
            guard at < bytes.count, bytes[at] == UInt8(ascii: "\"") else { throw problem }
            let name = try string()
            guard take(":") else { throw problem }
            members.append(JSON.Member(name: name, value: try value()))
        } while take(",")
        guard take("}") else { throw problem }
        return .object(members)
    }

    mutating func array() throws(JSONSyntaxError) -> JSON {
        at += 1
        var values: [JSON] = []
        if take("]") { return .array(values) }
        repeat { values.append(try value()) } while take(",")
        guard take("]") else { throw problem }
        return .array(values)
    }

    /// Reads a number (RFC 8259 §6). Its text is kept, so that nothing is rounded.
    mutating func number() throws(JSONSyntaxError) -> JSON {
        let start = at
        skipByte("-")
        if !skipByte("0") { try digits() }
        if skipByte(".") { try digits() }
        if skipByte("e") || skipByte("E") {
            if !skipByte("-") { skipByte("+") }
            try digits()
        }
        return .number(String(decoding: bytes[start..<at], as: UTF8.self))
    }

    @discardableResult
    mutating func skipByte(_ character: Unicode.Scalar) -> Bool {
        guard at < bytes.count, bytes[at] == UInt8(ascii: character) else { return false }
        at += 1
        return true
    }

    mutating func digits() throws(JSONSyntaxError) {
        let start = at
        while at < bytes.count, (48...57).contains(bytes[at]) { at += 1 }
        guard at > start else { throw problem }
    }

    mutating func string() throws(JSONSyntaxError) -> String {
        at += 1
        let start = at
        skipPlain()
        if at < bytes.count, bytes[at] == UInt8(ascii: "\"") {
            guard let text = text(bytes[start..<at]) else { throw problem }
            at += 1
            return text
        }
        return try string(after: Array(bytes[start..<at]))
    }

    /// Goes on to the next control, quotation mark or backslash.
    mutating func skipPlain() {
        at = bytes.withUnsafeBytes { bytes in
            var at = at
            while at + 8 <= bytes.count {
                let count = JSON.plainBytes(
                    in: UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: at, as: UInt64.self)))
                at += count
                if count < 8 { return at }
            }
            while at < bytes.count, bytes[at] >= 32, bytes[at] != UInt8(ascii: "\""), bytes[at] != UInt8(ascii: "\\") {
                at += 1
            }
            return at
        }
    }

    /// Reads the rest of a string with an escape, after its plain beginning.
    mutating func string(after beginning: [UInt8]) throws(JSONSyntaxError) -> String {
        var out = beginning
        while at < bytes.count {
            let byte = bytes[at]
            at += 1
            switch byte {
            case UInt8(ascii: "\""):
                guard let text = String(validating: out, as: UTF8.self) else { throw problem }
                return text
            case UInt8(ascii: "\\"): try escape(&out)
            case 0..<32: throw problem
            default: out.append(byte)
            }
        }
        throw problem
    }

    mutating func escape(_ out: inout [UInt8]) throws(JSONSyntaxError) {
        guard at < bytes.count else { throw problem }
        let byte = bytes[at]
        at += 1
        switch byte {
        case UInt8(ascii: "n"): out.append(10)
        case UInt8(ascii: "t"): out.append(9)
        case UInt8(ascii: "r"): out.append(13)
        case UInt8(ascii: "b"): out.append(8)
        case UInt8(ascii: "f"): out.append(12)
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): out.append(byte)
        case UInt8(ascii: "u"): try scalar(&out)
        default: throw problem
        }
    }

    mutating func scalar(_ out: inout [UInt8]) throws(JSONSyntaxError) {
        var code = try hex()
        if (0xD800..<0xDC00).contains(code), bytes[at...].starts(with: #"\u"#.utf8) {
            at += 2
            let low = try hex()
            guard (0xDC00..<0xE000).contains(low) else { throw problem }
            code = 0x10000 + (code - 0xD800) << 10 + (low - 0xDC00)
        }
        guard let scalar = Unicode.Scalar(code) else { throw problem }
        out.append(contentsOf: String(Character(scalar)).utf8)
    }

    mutating func hex() throws(JSONSyntaxError) -> UInt32 {
        // `UInt32(_:radix:)` accepts a sign.
        guard at + 4 <= bytes.count, bytes[at] != UInt8(ascii: "+"), bytes[at] != UInt8(ascii: "-"),
            let code = UInt32(String(decoding: bytes[at..<at + 4], as: UTF8.self), radix: 16)
        else { throw problem }
        at += 4
        return code
    }
}
