// SPDX-License-Identifier: Apache-2.0

/// HTML as people read it on one line: for titles of `type="html"`, summaries and messages.
public enum HTMLText {
    /// Strips tags, comments, scripts and styles, decodes entities and joins white space. Block elements part words, inline
    /// elements do not. Reads any text without failing, in linear time.
    /// - Parameter limit: bytes of the result, at most; what is longer is cut between characters and ends in `…`.
    public static func plain(_ html: String, limit: Int = 64 << 10) -> String {
        var html = html
        var out = Out(limit: limit)
        html.withUTF8 { bytes in
            var at = 0
            while at < bytes.count, !out.isFull {
                switch bytes[at] {
                case UInt8(ascii: "<"): at = tag(bytes, at, &out)
                case UInt8(ascii: "&"): at = reference(bytes, at, &out)
                case let byte:
                    out.append(byte)
                    at += 1
                }
            }
        }
        return out.string
    }

    /// Joins white space of a text that is no HTML.
    public static func collapse(_ text: String, limit: Int = 64 << 10) -> String {
        var out = Out(limit: limit)
        for byte in text.utf8 {
            if out.isFull { break }
            out.append(byte)
        }
        return out.string
    }

    /// The result with white space joined as it grows.
    private struct Out {
        private var bytes: [UInt8] = []
        private var spaceIsDue = false
        private let limit: Int

        init(limit: Int) { self.limit = limit }

        var isFull: Bool { bytes.count > limit }

        mutating func space() { spaceIsDue = !bytes.isEmpty }

        mutating func append(_ byte: UInt8) {
            if byte <= 0x20 || byte == 0x7F { return space() }
            if spaceIsDue { bytes.append(0x20) }
            spaceIsDue = false
            bytes.append(byte)
        }

        var string: String {
            guard isFull else { return String(decoding: bytes, as: UTF8.self) }
            var end = max(0, limit - 3)
            while end > 0, bytes[end] & 0xC0 == 0x80 { end -= 1 }
            return String(decoding: bytes[..<end], as: UTF8.self) + "…"
        }
    }

    private static func reference(_ bytes: UnsafeBufferPointer<UInt8>, _ at: Int, _ out: inout Out) -> Int {
        let name = bytes[(at + 1)...].prefix(12).prefix { $0 != UInt8(ascii: ";") }
        let end = name.endIndex
        guard end < bytes.count, bytes[end] == UInt8(ascii: ";") else {
            out.append(bytes[at])
            return at + 1
        }
        let scalar: Unicode.Scalar? =
            name.first == UInt8(ascii: "#")
            ? characterCode(name.dropFirst()).map(HTMLEntities.scalar)
            : HTMLEntities.named[String(decoding: name, as: UTF8.self)]
        guard let scalar else {
            out.append(bytes[at])
            return at + 1
        }
        if scalar == "\u{A0}" {
            out.space()
        } else {
            for byte in String(scalar).utf8 { out.append(byte) }
        }
        return end + 1
    }

    /// A tag begins with a letter, `/`, `!` or `?` after the `<`; any other `<` is text, as in `1 < 2`.
    private static func tag(_ bytes: UnsafeBufferPointer<UInt8>, _ at: Int, _ out: inout Out) -> Int {
        let rest = bytes[(at + 1)...]
        guard let first = rest.first else {
            out.append(bytes[at])
            return at + 1
        }
        if rest.starts(with: "!--".utf8) { return after("-->", bytes, at + 4) }
        let isEnd = first == UInt8(ascii: "/")
        let name = String(decoding: rest.dropFirst(isEnd ? 1 : 0).prefix(16).prefix(while: isNameByte), as: UTF8.self)
            .lowercased()
        if name.isEmpty, first != UInt8(ascii: "!"), first != UInt8(ascii: "?") {
            out.append(bytes[at])
            return at + 1
        }
        if !inline.contains(name) { out.space() }
        let end = endOfTag(bytes, at + 1)
        guard !isEnd, name == "script" || name == "style" else { return end }
        return endOfTag(bytes, after("</\(name)", bytes, end))
    }

    private static func endOfTag(_ bytes: UnsafeBufferPointer<UInt8>, _ start: Int) -> Int {
        var quote: UInt8?
        var at = start
        while at < bytes.count {
            let byte = bytes[at]
            at += 1
            if let open = quote {
                if byte == open { quote = nil }
            } else if byte == UInt8(ascii: ">") {
                return at
            } else if (byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'")) && bytes[at - 2] == UInt8(ascii: "=") {
                quote = byte
            }
        }
        return at
    }

    private static func after(_ mark: String, _ bytes: UnsafeBufferPointer<UInt8>, _ start: Int) -> Int {
        let mark = Array(mark.utf8)
        var at = start
        while at + mark.count <= bytes.count {
            if zip(bytes[at...], mark).allSatisfy({ Sniffer.lowercased($0) == $1 }) { return at + mark.count }
            at += 1
        }
        return bytes.count
    }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        let lower = Sniffer.lowercased(byte)
        return lower >= 0x61 && lower <= 0x7A || lower >= 0x30 && lower <= 0x39
    }

    private static let inline: Set<String> = [
        "a", "abbr", "b", "bdi", "bdo", "big", "cite", "code", "del", "dfn", "em", "font", "i", "ins", "kbd", "mark",
        "q", "s",
        "samp", "small", "span", "strike", "strong", "sub", "sup", "time", "tt", "u", "var", "wbr",
    ]
}
