// SPDX-License-Identifier: Apache-2.0

/// The cells that text fills in a terminal: none for a combining mark, two for a wide character (Unicode Standard Annex
/// #11). wcwidth(3) depends on the locale, and knows no character that is made of several code points.
enum CellWidth {
    static func of(_ text: String) -> Int {
        // Most text is plain ASCII.
        text.utf8.allSatisfy { (32..<127).contains($0) } ? text.utf8.count : text.reduce(0) { $0 + of($1) }
    }

    static func of(_ character: Character) -> Int {
        var width = 0
        for scalar in character.unicodeScalars {
            // VARIATION SELECTOR-16 asks for the emoji form, which is wide.
            if scalar == "\u{FE0F}" { return 2 }
            width = max(width, of(scalar))
        }
        return width
    }

    private static func of(_ scalar: Unicode.Scalar) -> Int {
        if scalar.value < 0x300 { return scalar.value < 32 || (0x7F..<0xA0).contains(scalar.value) ? 0 : 1 }
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .format, .control: return 0
        default: return isWide(scalar) ? 2 : 1
        }
    }

    private static func isWide(_ scalar: Unicode.Scalar) -> Bool {
        scalar.properties.isEmojiPresentation || wide.contains { $0.contains(scalar.value) }
    }

    /// The blocks of East_Asian_Width W and F (EastAsianWidth.txt of Unicode 16).
    private static let wide: [ClosedRange<UInt32>] = [
        0x1100...0x115F, 0x2E80...0x303E, 0x3041...0x33FF, 0x3400...0x4DBF, 0x4E00...0x9FFF, 0xA000...0xA4CF,
        0xA960...0xA97C, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE10...0xFE19, 0xFE30...0xFE6F, 0xFF01...0xFF60,
        0xFFE0...0xFFE6, 0x16FE0...0x18DFF, 0x1AFF0...0x1B2FF, 0x1F200...0x1F251, 0x20000...0x3FFFD,
    ]
}
