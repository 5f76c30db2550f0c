// SPDX-License-Identifier: Apache-2.0

/// Reads a text that is UTF-8 by its name and has bytes of windows-1252, as texts have that were pasted into a feed.
enum WindowsText {
    /// The characters of 0x80 to 0x9F; U+FFFD where there is none (https://encoding.spec.whatwg.org/index-windows-1252.txt).
    private static let marks = Array(
        "€\u{FFFD}‚ƒ„…†‡ˆ‰Š‹Œ\u{FFFD}Ž\u{FFFD}\u{FFFD}‘’“”•–—˜™š›œ\u{FFFD}žŸ".unicodeScalars)

    /// So many accented letters in a row are no word of a language that windows-1252 is for, but of one with another alphabet.
    private static let mostLetters = 2

    /// Returns the text as UTF-8; nil when a byte that does not fit is no character of windows-1252 either, when letters of it
    /// stand together as in Cyrillic, or when the text has characters of UTF-8 and one that is cut.
    static func mended(_ bytes: ArraySlice<UInt8>) -> [UInt8]? {
        var out: [UInt8] = []
        out.reserveCapacity(bytes.count + bytes.count / 16)
        var (at, letters, hasUTF8, hasCut) = (bytes.startIndex, 0, false, false)
        var (parser, source) = (Unicode.UTF8.ForwardParser(), bytes.makeIterator())
        while true {
            switch parser.parseScalar(from: &source) {
            case .emptyInput: return hasUTF8 && hasCut ? nil : out
            case .valid(let scalar):
                hasUTF8 = hasUTF8 || scalar.count > 1
                out.append(contentsOf: scalar)
                at += scalar.count
                letters = 0
            case .error(let length):
                hasCut = hasCut || length > 1
                for byte in bytes[at..<at + length] {
                    letters = byte < 0xC0 ? 0 : letters + 1
                    guard let character = character(byte), letters <= mostLetters else { return nil }
                    out.append(contentsOf: String(character).utf8)
                }
                at += length
            }
        }
    }

    /// 0xFF is a letter (ÿ), but stands far more often for a mark of UTF-16 or for nothing.
    private static func character(_ byte: UInt8) -> Unicode.Scalar? {
        guard byte < 0xA0 else { return byte == 0xFF ? nil : Unicode.Scalar(byte) }
        let mark = marks[Int(byte) - 0x80]
        return mark == "\u{FFFD}" ? nil : mark
    }
}
