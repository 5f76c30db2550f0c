// SPDX-License-Identifier: Apache-2.0

/// Finds a character encoding by the names that servers and documents use, as the WHATWG Encoding Standard reads them
/// (https://encoding.spec.whatwg.org/#names-and-labels).
enum CharacterEncodingNames {
    struct Found {
        /// iconv's name, nil for UTF-8.
        let iconvName: String?

        var isSingleByte: Bool { iconvName.map { !CharacterEncodingNames.multibyte.contains($0) } ?? false }
    }

    static func find(_ name: String) -> Found? {
        known[plain(name)].map { Found(iconvName: $0.isEmpty ? nil : $0) }
    }

    /// Finds UTF-16 or UTF-32 by its name. Servers give that name to UTF-8, too. The bytes tell them apart: UTF-16 and UTF-32
    /// write Latin letters with zeros, and UTF-8 has none.
    static func findWide(_ name: String, in bytes: ArraySlice<UInt8>) -> Found? {
        // A `<` without a zero behind it begins no markup in UTF-16, whatever a header names.
        let isNarrowMarkup = bytes.first == UInt8(ascii: "<") && bytes.dropFirst().first != 0
        guard !isNarrowMarkup, bytes.contains(0) else { return nil }
        return wide[plain(name)].map { Found(iconvName: $0) }
    }

    private static func plain(_ name: String) -> String {
        String(decoding: name.utf8.map(\.lowercased).filter { $0.isLetter || $0.isDigit }, as: UTF8.self)
    }

    private static let wide = [
        "utf16": "UTF-16LE", "utf16le": "UTF-16LE", "unicode": "UTF-16LE", "ucs2": "UTF-16LE",
        "iso10646ucs2": "UTF-16LE",
        "utf16be": "UTF-16BE", "utf32": "UTF-32LE", "utf32le": "UTF-32LE", "utf32be": "UTF-32BE",
    ]

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
        for page in [437, 737, 775, 850, 852, 855, 857, 858, 860, 861, 862, 863, 864, 865, 869] {
            for label in ["cp\(page)", "ibm\(page)", "dos\(page)", "csibm\(page)"] { known[label] = "CP\(page)" }
        }
        for page in 1250...1258 {
            for label in ["windows\(page)", "cp\(page)", "win\(page)", "xcp\(page)", "ansi\(page)"] {
                known[label] = "CP\(page)"
            }
        }
        return known
    }()

    private static let multibyte: Set<String> = [
        "CP932", "EUC-JP-MS", "ISO-2022-JP", "GB18030", "BIG5-HKSCS", "CP949", "JOHAB", "EUC-TW",
    ]

    private static let table = [
        // UTF-16 is recognised by its bytes; see `findWide`.
        (
            "",
            """
            utf8 utf8mb4 unicode11utf8 xunicode20utf8 usascii ascii utf16 utf16le utf16be unicode ucs2 iso10646ucs2 utf32 \
            utf32le utf32be
            """
        ),
        ("CP1252", "iso88591 latin1 l1 isolatin1 iso885911987 cp819 ibm819 ansi msansi csisolatin1"),
        ("CP1250", "msee"), ("CP1251", "mscyrl"), ("CP1253", "msgreek"), ("CP1255", "mshebr"), ("CP1256", "msarab"),
        ("CP1257", "winbaltrim"),
        ("ISO-8859-2", "latin2 l2 csisolatin2"), ("ISO-8859-3", "latin3 l3 csisolatin3"),
        ("ISO-8859-4", "latin4 l4 csisolatin4"), ("ISO-8859-5", "cyrillic csisolatincyrillic"),
        ("ISO-8859-7", "greek greek8 elot928 ecma118 csisolatingreek"),
        ("ISO-8859-6", "arabic ecma114 asmo708 csisolatinarabic"),
        ("ISO-8859-8", "hebrew iso88598i logical visual csisolatinhebrew"),
        ("ISO-8859-10", "latin6 l6 csisolatin6"), ("ISO-8859-13", "latin7 l7"), ("ISO-8859-14", "latin8 l8"),
        ("ISO-8859-16", "latin10 l10"),
        ("ISO-8859-15", "latin9 l9"), ("CP1254", "iso88599 latin5 l5 msturk csisolatin5"),
        ("CP874", "iso885911 tis620 tis6200 windows874 dos874 cp874"),
        ("KOI8-R", "koi8r koi8 koi cskoi8r"), ("KOI8-U", "koi8u"), ("KOI8-RU", "koi8ru"), ("KOI8-T", "koi8t"),
        ("IBM866", "ibm866 cp866 866 csibm866"),
        ("MACINTOSH", "macintosh mac xmacroman macroman csmacintosh"),
        ("MAC-CYRILLIC", "xmaccyrillic maccyrillic msmaccyrillic"), ("MACUKRAINIAN", "xmacukrainian macukrainian"),
        ("MAC-CENTRALEUROPE", "xmaccentraleurroman xmacce macce maccentraleurope"), ("MAC-IS", "xmacicelandic macis"),
        ("PT154", "pt154 ptcp154 cp154 cyrillicasian"), ("RK1048", "rk1048 strk1048 kz1048"),
        ("ECMA-CYRILLIC", "ecmacyrillic isoir111 koi8e"), ("ARMSCII-8", "armscii8"), ("GEORGIAN-PS", "georgianps"),
        ("GEORGIAN-ACADEMY", "georgianacademy"), ("TCVN", "tcvn tcvn5712 tcvn57121"), ("VISCII", "viscii"),
        ("HP-ROMAN8", "hproman8 roman8 r8"), ("MIK", "mik"),
        ("JOHAB", "johab cp1361 ms1361"), ("EUC-TW", "euctw"),
        ("CP932", "shiftjis sjis xsjis windows31j ms932 cp932 mskanji csshiftjis"),
        ("EUC-JP-MS", "eucjp xeucjp cseucpkdfmtjapanese"), ("ISO-2022-JP", "iso2022jp csiso2022jp"),
        ("GB18030", "gb18030 gbk xgbk gb2312 gb231280 euccn cp936 windows936 chinese"),
        ("BIG5-HKSCS", "big5 big5hkscs cnbig5 xxbig5 cp950"),
        ("CP949", "euckr ksc56011987 ksc5601 ksc56011989 windows949 cp949 uhc korean"),
    ]
}
