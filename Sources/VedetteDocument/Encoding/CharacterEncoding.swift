// SPDX-License-Identifier: Apache-2.0

/// The character encoding of a document.
struct CharacterEncoding: Equatable {
    /// iconv's name, nil for UTF-8, which needs no conversion.
    let iconvName: String?
    /// The length of the byte order mark.
    var markBytes = 0
    /// The encoding that was named does not fit the bytes, and another one does.
    var contradictsName = false

    static func detect(_ body: [UInt8], charset: String?) throws(DocumentError) -> CharacterEncoding {
        if let found = marked(body) { return found }
        if let wide = charset.flatMap({ CharacterEncodingNames.findWide($0, in: body.prefix(64)) }) {
            return CharacterEncoding(iconvName: wide.iconvName)
        }
        let declared = declaredName(body)
        let names = [charset, declared].compactMap { $0 }.filter { !$0.isEmpty }
        let found = names.compactMap(CharacterEncodingNames.find)
        guard let first = found.first else {
            if names.isEmpty || UTF8Check.isValid(body) { return CharacterEncoding(iconvName: nil) }
            throw DocumentError(.encoding, "the character encoding '\(names[0].prefix(40))' is unknown")
        }
        if let better = contradiction(first, found.dropFirst().first, body) { return better }
        return CharacterEncoding(iconvName: first.iconvName)
    }

    /// Detects UTF-8, UTF-16 and UTF-32 by byte order mark, or by the zeros beside the first `<` (XML 1.0 appendix F).
    private static func marked(_ body: [UInt8]) -> CharacterEncoding? {
        if body.starts(with: [0xEF, 0xBB, 0xBF]) { return CharacterEncoding(iconvName: nil, markBytes: 3) }
        // This comes before UTF-16, whose little-endian mark is its beginning.
        if body.starts(with: [0xFF, 0xFE, 0, 0]) { return CharacterEncoding(iconvName: "UTF-32LE", markBytes: 4) }
        if body.starts(with: [0, 0, 0xFE, 0xFF]) { return CharacterEncoding(iconvName: "UTF-32BE", markBytes: 4) }
        if body.starts(with: [0xFE, 0xFF]) { return CharacterEncoding(iconvName: "UTF-16BE", markBytes: 2) }
        if body.starts(with: [0xFF, 0xFE]) { return CharacterEncoding(iconvName: "UTF-16LE", markBytes: 2) }
        if body.starts(with: [0, 0, 0, 0x3C]) { return CharacterEncoding(iconvName: "UTF-32BE") }
        if body.starts(with: [0x3C, 0, 0, 0]) { return CharacterEncoding(iconvName: "UTF-32LE") }
        if body.starts(with: [0, 0x3C]) { return CharacterEncoding(iconvName: "UTF-16BE") }
        if body.starts(with: [0x3C, 0]) { return CharacterEncoding(iconvName: "UTF-16LE") }
        return nil
    }

    /// Returns the encoding that fits better than the one named. Servers add a charset of their own to files that name theirs
    /// correctly, and a text in a single-byte encoding is hardly ever valid UTF-8 by chance, so a page that names Latin-1 and is
    /// valid UTF-8 is UTF-8.
    private static func contradiction(
        _ first: CharacterEncodingNames.Found, _ second: CharacterEncodingNames.Found?, _ body: [UInt8]
    ) -> CharacterEncoding? {
        let isUTF8 = UTF8Check.isValid(body)
        if first.iconvName != nil {
            let declaresUTF8 = second.map { $0.iconvName == nil } ?? false
            guard isUTF8, declaresUTF8 || first.isSingleByte else { return nil }
            let isASCII = body.allSatisfy { $0 < 0x80 }
            return CharacterEncoding(iconvName: nil, contradictsName: !isASCII && !declaresUTF8)
        }
        guard !isUTF8, let name = second?.iconvName else { return nil }
        return CharacterEncoding(iconvName: name, contradictsName: true)
    }

    /// Returns `utf-8` of `<?xml version="1.0" encoding="utf-8"?>`, wherever near the beginning it stands.
    private static func declaredName(_ body: [UInt8]) -> String? {
        guard let start = XMLProlog.declaration(in: body.prefix(XMLProlog.reach)) else { return nil }
        let head = body[start...].prefix(512)
        guard let end = head.firstIndex(of: UInt8(ascii: ">")) else { return nil }
        let text = String(decoding: head[..<end], as: UTF8.self)
        guard let found = text.firstRange(of: "encoding") else { return nil }
        let parts = text[found.upperBound...].split(
            omittingEmptySubsequences: false, whereSeparator: { $0 == "\"" || $0 == "'" })
        return parts.count > 2 ? String(parts[1]) : nil
    }
}
