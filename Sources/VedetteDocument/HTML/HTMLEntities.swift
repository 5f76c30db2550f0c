// SPDX-License-Identifier: Apache-2.0
import CXML2

/// The character entities of HTML 4, from libxml2's table, with `apos` of XML and what HTML 5 has for signs of ASCII and others
/// that pages use.
enum HTMLEntities {
    static let named: [String: Unicode.Scalar] = {
        var named = newer
        named["apos"] = "'"
        // The last entity is `diams`, 9830.
        for value in UInt32(34)...9830 {
            guard let entity = htmlEntityValueLookup(value), let name = entity.pointee.name else { continue }
            named[String(cString: name)] = Unicode.Scalar(value)
        }
        return named
    }()

    /// Names that HTML 5 added, which libxml2 leaves as they are.
    static let newer: [String: Unicode.Scalar] = [
        "Tab": "\t", "NewLine": "\n", "excl": "!", "num": "#", "dollar": "$", "percnt": "%", "lpar": "(", "rpar": ")",
        "ast": "*", "midast": "*", "plus": "+", "comma": ",", "period": ".", "sol": "/", "colon": ":", "semi": ";",
        "equals": "=", "quest": "?", "commat": "@", "lsqb": "[", "lbrack": "[", "bsol": "\\", "rsqb": "]",
        "rbrack": "]",
        "Hat": "^", "lowbar": "_", "UnderBar": "_", "grave": "`", "lcub": "{", "lbrace": "{", "verbar": "|",
        "vert": "|",
        "rcub": "}", "rbrace": "}", "hyphen": "\u{2010}", "dash": "\u{2010}", "horbar": "\u{2015}", "mldr": "…",
        "half": "½", "numero": "№", "check": "✓", "checkmark": "✓", "cross": "✗", "star": "☆", "starf": "★",
        "bigstar": "★", "phone": "☎",
    ]

    /// Returns the character of a reference that libxml2 reads as another one or leaves as it is, and the length of the reference.
    /// - Parameter bytes: the text from the `&` on.
    static func unread(_ bytes: ArraySlice<UInt8>) -> (character: Unicode.Scalar, length: Int)? {
        let rest = bytes.dropFirst()
        guard rest.first == UInt8(ascii: "#") else {
            let name = rest.prefix(12).prefix { $0.isLetter || $0.isDigit }
            guard !name.isEmpty, rest.dropFirst(name.count).first == UInt8(ascii: ";") else { return nil }
            return newer[String(decoding: name, as: UTF8.self)].map { ($0, name.count + 2) }
        }
        let isHex = rest.dropFirst().first.map { $0 | 0x20 == UInt8(ascii: "x") } ?? false
        let digits = rest.dropFirst(isHex ? 2 : 1).prefix(16).prefix { $0.isDigit || (isHex && $0.hexValue != nil) }
        let number = rest[(rest.startIndex + 1)..<digits.endIndex]
        guard let code = characterCode(number), (0x80...0x9F).contains(code) else { return nil }
        let hasEnd = rest.dropFirst(1 + number.count).first == UInt8(ascii: ";")
        return (scalar(code), 2 + number.count + (hasEnd ? 1 : 0))
    }

    /// Returns the character of a numeric reference. HTML reads C1 control characters as windows-1252, since no author means
    /// anything else.
    static func scalar(_ code: UInt32) -> Unicode.Scalar {
        switch code {
        case 0, 0xD800...0xDFFF, 0x110000...: "\u{FFFD}"
        case 0x80...0x9F: Unicode.Scalar(windows1252[Int(code) - 0x80]) ?? "\u{FFFD}"
        default: Unicode.Scalar(code) ?? "\u{FFFD}"
        }
    }

    private static let windows1252: [UInt32] = [
        0x20AC, 0x81, 0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160, 0x2039, 0x0152, 0x8D,
        0x017D,
        0x8F, 0x90, 0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2013, 0x2014, 0x02DC, 0x2122, 0x0161, 0x203A, 0x0153,
        0x9D,
        0x017E, 0x0178,
    ]
}
