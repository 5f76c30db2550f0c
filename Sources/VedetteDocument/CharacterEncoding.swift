// SPDX-License-Identifier: Apache-2.0

/// The character encoding of a document.
struct CharacterEncoding: Equatable {
    /// iconv's name, nil for UTF-8, which needs no conversion.
    let iconvName: String?
    /// The length of the byte order mark.
    let markBytes: Int

    static let utf8 = CharacterEncoding(iconvName: nil, markBytes: 0)

    static func detect(_ body: [UInt8], charset: String?) throws(DocumentError) -> CharacterEncoding {
        if body.starts(with: [0xEF, 0xBB, 0xBF]) { return CharacterEncoding(iconvName: nil, markBytes: 3) }
        if body.starts(with: [0xFE, 0xFF]) { return CharacterEncoding(iconvName: "UTF-16BE", markBytes: 2) }
        if body.starts(with: [0xFF, 0xFE]) { return CharacterEncoding(iconvName: "UTF-16LE", markBytes: 2) }
        if body.starts(with: [0, 0x3C]) { return CharacterEncoding(iconvName: "UTF-16BE", markBytes: 0) }
        if body.starts(with: [0x3C, 0]) { return CharacterEncoding(iconvName: "UTF-16LE", markBytes: 0) }
        let declared = declaredName(body)
        let names = [charset, declared].compactMap { $0 }.filter { !$0.isEmpty }
        guard let name = names.first(where: { known[normalised($0)] != nil }) else {
            if names.isEmpty || UTF8Check.isValid(body) { return .utf8 }
            throw DocumentError(.encoding, "the character encoding '\(names[0].prefix(40))' is unknown")
        }
        let found = known[normalised(name)].flatMap { $0.isEmpty ? nil : $0 }
        // Servers add a charset of their own to files that say rightly that they are UTF-8.
        if found != nil, declared.map(normalised) == "utf8", UTF8Check.isValid(body) { return .utf8 }
        return CharacterEncoding(iconvName: found, markBytes: 0)
    }

    /// `utf-8` of `<?xml version="1.0" encoding="utf-8"?>`.
    private static func declaredName(_ body: [UInt8]) -> String? {
        let head = body.prefix(512).drop { $0 <= 0x20 }
        guard Sniffer.begins(head, with: "<?xml"), let end = head.firstIndex(of: UInt8(ascii: ">")) else { return nil }
        let text = String(decoding: head[..<end], as: UTF8.self)
        guard let found = text.firstRange(of: "encoding") else { return nil }
        let parts = text[found.upperBound...].split(
            omittingEmptySubsequences: false, whereSeparator: { $0 == "\"" || $0 == "'" })
        return parts.count > 2 ? String(parts[1]) : nil
    }

    private static func normalised(_ name: String) -> String {
        name.lowercased().filter { $0.isASCII && ($0.isLetter || $0.isNumber) }
    }

    /// Names to iconv's names; the empty one is UTF-8. A closed list: a name from the network never reaches iconv, whose rarer decoders have a history of crashes.
    /// Latin-1 and ASCII are read as windows-1252 and UTF-8, as browsers do.
    private static let known: [String: String] = {
        var known: [String: String] = [
            "utf8": "", "usascii": "", "ascii": "",
            // Bytes that begin with '<' cannot be UTF-16, whatever a header says.
            "utf16": "", "utf16le": "", "utf16be": "",
            "iso88591": "CP1252", "latin1": "CP1252", "koi8r": "KOI8-R", "koi8u": "KOI8-U",
            "shiftjis": "SHIFT_JIS", "sjis": "SHIFT_JIS", "windows31j": "CP932", "eucjp": "EUC-JP",
            "gb2312": "GB18030", "gbk": "GB18030", "gb18030": "GB18030", "big5": "BIG5", "euckr": "CP949",
            "ksc56011987": "CP949", "macintosh": "MACINTOSH", "tis620": "CP874", "windows874": "CP874",
        ]
        for part in 2...16 where part != 12 { known["iso8859\(part)"] = "ISO-8859-\(part)" }
        for page in 1250...1258 {
            for name in ["windows\(page)", "cp\(page)"] { known[name] = .some("CP\(page)") }
        }
        return known
    }()
}
