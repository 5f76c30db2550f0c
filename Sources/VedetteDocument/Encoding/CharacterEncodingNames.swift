// SPDX-License-Identifier: Apache-2.0

/// Finds a character encoding by the names that servers and documents use, as the WHATWG Encoding Standard reads them
/// (https://encoding.spec.whatwg.org/#names-and-labels).
enum CharacterEncodingNames {
    struct Found {
        /// iconv's name, nil for UTF-8.
        let iconvName: String?

        var isSingleByte: Bool {
            ["CP125", "ISO-8859-", "KOI8-"].contains { iconvName?.hasPrefix($0) ?? false }
        }
    }

    static func find(_ name: String) -> Found? {
        let plain = String(
            decoding: name.utf8.map(\.lowercased).filter { $0.isLetter || $0.isDigit }, as: UTF8.self)
        return known[plain].map { Found(iconvName: $0.isEmpty ? nil : $0) }
    }

    /// Letters and digits of a name to iconv's name; the empty one is UTF-8. A closed list: a name from the network never
    /// reaches iconv, whose rarer decoders have a history of crashes. Latin-1 and ASCII are read as windows-1252 and UTF-8,
    /// the old double-byte sets as their supersets, as browsers do.
    private static let known: [String: String] = {
        var known: [String: String] = [:]
        for (name, labels) in table {
            for label in labels.split(separator: " ") { known[String(label)] = name }
        }
        for part in [2, 3, 4, 5, 6, 7, 8, 10, 13, 14, 15, 16] {
            known["iso8859\(part)"] = "ISO-8859-\(part)"
        }
        for page in 1250...1258 {
            for label in ["windows\(page)", "cp\(page)", "win\(page)", "xcp\(page)", "ansi\(page)"] {
                known[label] = "CP\(page)"
            }
        }
        return known
    }()

    private static let table = [
        // Bytes that begin with '<' cannot be UTF-16, whatever a header names.
        (
            "",
            """
            utf8 utf8mb4 unicode11utf8 xunicode20utf8 usascii ascii utf16 utf16le utf16be unicode ucs2 iso10646ucs2 utf32 \
            utf32le utf32be
            """
        ),
        ("CP1252", "iso88591 latin1 l1 isolatin1 iso885911987 cp819 ibm819 ansi"),
        ("ISO-8859-2", "latin2 l2"), ("ISO-8859-5", "cyrillic"), ("ISO-8859-7", "greek greek8 elot928"),
        ("ISO-8859-6", "arabic"), ("ISO-8859-8", "hebrew iso88598i logical visual"),
        ("ISO-8859-15", "latin9 l9"), ("CP1254", "iso88599 latin5 l5"),
        ("CP874", "iso885911 tis620 windows874 dos874 cp874"),
        ("KOI8-R", "koi8r koi8 koi"), ("KOI8-U", "koi8u koi8ru"), ("IBM866", "ibm866 cp866 866"),
        ("MACINTOSH", "macintosh mac xmacroman macroman"), ("MAC-CYRILLIC", "xmaccyrillic maccyrillic"),
        ("CP932", "shiftjis sjis xsjis windows31j ms932 cp932 mskanji csshiftjis"),
        ("EUC-JP-MS", "eucjp xeucjp cseucpkdfmtjapanese"), ("ISO-2022-JP", "iso2022jp csiso2022jp"),
        ("GB18030", "gb18030 gbk xgbk gb2312 gb231280 euccn cp936 windows936 chinese"),
        ("BIG5-HKSCS", "big5 big5hkscs cnbig5 xxbig5 cp950"),
        ("CP949", "euckr ksc56011987 ksc5601 ksc56011989 windows949 cp949 uhc korean"),
    ]
}
