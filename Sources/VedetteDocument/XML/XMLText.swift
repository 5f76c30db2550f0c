// SPDX-License-Identifier: Apache-2.0
import Glibc

/// A document as UTF-8, and what had to be healed on the way.
struct XMLText {
    var bytes: [UInt8]
    /// The first byte that is no byte order mark and no white space.
    var start = 0
    var warnings: [DocumentWarning] = []

    var text: ArraySlice<UInt8> { bytes[start...] }

    /// Decodes by byte order mark, then the response's charset, then the XML declaration, then as UTF-8 (RFC 7303 §3).
    static func decode(_ body: [UInt8], charset: String?) throws(DocumentError) -> XMLText {
        let encoding = try CharacterEncoding.detect(body, charset: charset)
        var text = XMLText(bytes: body, start: encoding.markBytes)
        if let name = encoding.iconvName {
            let (bytes, isClean) = try CharacterDecoder.decode(body[encoding.markBytes...], from: name)
            text = XMLText(bytes: bytes, warnings: isClean ? [] : [.badEncoding])
        } else if !UTF8Check.isValid(body) {
            text.bytes = Array(String(decoding: body[encoding.markBytes...], as: UTF8.self).utf8)
            text.start = 0
            text.warnings = [.badEncoding]
        }
        if encoding.contradictsName { text.warnings.append(.charset) }
        text.skipToStart()
        return text
    }

    /// An XML declaration may follow nothing, yet many a feed begins with an empty line, a second byte order mark or a
    /// message of the program that wrote it.
    private mutating func skipToStart() {
        let before = start
        start = XMLProlog.afterSpace(bytes[start...])
        if let declaration = XMLProlog.declaration(in: bytes[start...].prefix(XMLProlog.reach)), declaration > start {
            start = declaration
            warnings.append(.leadingText)
        } else if start > before, Sniffer.begins(bytes[start...], with: "<?xml") {
            warnings.append(.leadingSpace)
        }
    }
}

/// Turns bytes of another encoding into UTF-8 by iconv.
enum CharacterDecoder {
    static func decode(_ body: ArraySlice<UInt8>, from name: String) throws(DocumentError) -> ([UInt8], isClean: Bool) {
        guard let converter = iconv_open("UTF-8", name), converter != iconv_t(bitPattern: -1) else {
            throw DocumentError(.encoding, "this system cannot decode the character encoding '\(name)'")
        }
        defer { iconv_close(converter) }
        var out: [UInt8] = []
        out.reserveCapacity(body.count + body.count / 2)
        var isClean = true
        let unit = name.hasPrefix("UTF-16") ? 2 : name.hasPrefix("UTF-32") ? 4 : 1
        var input = Array(body)
        input.withUnsafeMutableBytes { input in
            var source = input.bindMemory(to: CChar.self).baseAddress
            var left = input.count
            withUnsafeTemporaryAllocation(of: CChar.self, capacity: 1 << 14) { chunk in
                while left > 0 {
                    var target = chunk.baseAddress
                    var room = chunk.count
                    let result = iconv(converter, &source, &left, &target, &room)
                    let reason = errno
                    out.append(contentsOf: chunk[..<(chunk.count - room)].lazy.map { UInt8(bitPattern: $0) })
                    guard result == -1, reason != E2BIG else { continue }
                    out.append(contentsOf: "\u{FFFD}".utf8)
                    isClean = false
                    let skipped = min(unit, left)
                    source = source.map { $0 + skipped }
                    left -= skipped
                }
            }
        }
        return (out, isClean)
    }
}
