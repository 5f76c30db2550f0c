// SPDX-License-Identifier: Apache-2.0

/// Makes untrusted text safe for a terminal.
public enum TerminalText {
    /// Returns one line in which nothing moves the cursor, changes colours, rings or reorders text: control characters,
    /// line separators and bidirectional controls become visible escapes (`\n`, `\x1b`, `\u202e`).
    /// - Parameter limit: in Unicode scalars; longer text ends with `…`.
    public static func safe(_ text: String, limit: Int = 500) -> String {
        // Most text is harmless and needs no copy; its bytes are at least as many as its scalars.
        var bytes = text
        if text.utf8.count <= limit, bytes.withUTF8({ $0.allSatisfy { (32..<127).contains($0) } }) { return text }
        if text.utf8.count <= limit, text.unicodeScalars.allSatisfy(isHarmless) { return text }
        var out = String.UnicodeScalarView()
        for (i, scalar) in text.unicodeScalars.enumerated() {
            if i == limit {
                out.append("…")
                break
            }
            if isHarmless(scalar) { out.append(scalar) } else { out.append(contentsOf: escape(scalar).unicodeScalars) }
        }
        return String(out)
    }

    /// The characters that are not: C0, DEL and C1 (the general category Cc), line and paragraph separator, and those with
    /// the property Bidi_Control (PropList.txt of Unicode). By number, since to look up properties takes ten times as long.
    private static func isHarmless(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0..<32, 0x7F..<0xA0, 0x061C, 0x200E...0x200F, 0x2028...0x202E, 0x2066...0x2069: false
        default: true
        }
    }

    private static func escape(_ scalar: Unicode.Scalar) -> String {
        switch scalar {
        case "\n": return #"\n"#
        case "\r": return #"\r"#
        case "\t": return #"\t"#
        default:
            let hex = String(scalar.value, radix: 16)
            let (prefix, width) = scalar.value < 256 ? (#"\x"#, 2) : (#"\u"#, 4)
            return prefix + String(repeating: "0", count: max(0, width - hex.count)) + hex
        }
    }
}
