// SPDX-License-Identifier: Apache-2.0
import CXML2

/// The character entities of HTML 4, from libxml2's table, with `apos` of XML.
enum HTMLEntities {
    static let named: [String: Unicode.Scalar] = {
        var named: [String: Unicode.Scalar] = ["apos": "'"]
        // The last entity is `diams`, 9830.
        for value in UInt32(34)...9830 {
            guard let entity = htmlEntityValueLookup(value), let name = entity.pointee.name else { continue }
            named[String(cString: name)] = Unicode.Scalar(value)
        }
        return named
    }()

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
