// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// Encodes texts for mail: folded header fields and quoted-printable parts.
enum MailText {
    /// Returns a header field, folded between words (RFC 5322 §2.2.3, RFC 2047 §2).
    static func field(_ name: String, _ words: [String]) -> String {
        var out = name + ":"
        var width = out.utf8.count
        for (i, word) in words.enumerated() {
            // A first line without a word is allowed, but some readers misread it.
            if i > 0, width + 1 + word.utf8.count > 76 {
                out += "\r\n"
                width = 0
            }
            out += " " + word
            width += 1 + word.utf8.count
        }
        return out + "\r\n"
    }

    /// Returns free text as words of a field (RFC 5322 §2.2.1), encoded where it could be misread.
    static func words(_ text: String) -> [String] {
        let words = text.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
        let isPlain = words.allSatisfy { word in
            (1...longest).contains(word.utf8.count) && word.utf8.allSatisfy { (33...126).contains($0) }
                && !word.contains("=?")
        }
        return isPlain ? words : encoded(text)
    }

    /// Returns a name before an address, or a keyword (RFC 5322 §3.2.5).
    static func phrase(_ text: String) -> [String] {
        let words = self.words(text)
        guard words.joined(separator: " ") == text else { return words }
        if words.allSatisfy(isAtom) { return words }
        let quoted = text.map { "\"\\".contains($0) ? "\\" + String($0) : String($0) }.joined()
        return quoted.utf8.count <= longest ? ["\"" + quoted + "\""] : encoded(text)
    }

    /// RFC 5322 §3.2.3 without five marks, which are quoted although they need not be.
    private static func isAtom(_ text: String) -> Bool { HTTPSyntax.isToken(text) && !text.contains(".") }

    /// The longest word, so that it fits on a line behind the name of any field that is written here.
    private static let longest = 56

    /// Returns encoded words (RFC 2047), each of whole characters.
    private static func encoded(_ text: String) -> [String] {
        var (out, chunk) = ([String](), [UInt8]())
        for scalar in text.unicodeScalars {
            let bytes = Array(String(scalar).utf8)
            if chunk.count + bytes.count > (longest - 12) / 4 * 3 {
                out.append("=?utf-8?B?\(Base64.encode(chunk))?=")
                chunk = []
            }
            chunk += bytes
        }
        return out + ["=?utf-8?B?\(Base64.encode(chunk))?="]
    }

    /// Encodes a text as quoted-printable (RFC 2045 §6.7), in lines of at most 76 characters that end with CR LF. A line that
    /// begins with `From ` is quoted too: mailboxes would change it.
    static func quotedPrintable(_ text: String) -> String {
        var out: [UInt8] = []
        out.reserveCapacity(text.utf8.count * 5 / 4)
        for line in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline) {
            quote(Array(line.utf8), into: &out)
            out += [13, 10]
        }
        return String(decoding: out, as: UTF8.self)
    }

    private static func quote(_ line: [UInt8], into out: inout [UInt8]) {
        let hex = Array("0123456789ABCDEF".utf8)
        let from = Array("From ".utf8)
        var width = 0
        for (i, byte) in line.enumerated() {
            let isLast = i == line.count - 1
            let isBlank = byte == 32 || byte == 9
            // Old mailboxes change a line that begins like this, after a soft break too.
            let isFrom = byte == from[0] && (width == 0 || width > 74) && line[i...].starts(with: from)
            let isPlain = (33...126).contains(byte) && byte != 61 && !isFrom || isBlank && !isLast
            let piece = isPlain ? [byte] : [61, hex[Int(byte >> 4)], hex[Int(byte & 15)]]
            // The last one needs no room for the `=` of a soft line break.
            if width + piece.count > (isLast ? 76 : 75) {
                out += [61, 13, 10]
                width = 0
            }
            out += piece
            width += piece.count
        }
    }

    /// Returns `Sat, 21 Nov 2026 10:00:00 +0000` (RFC 5322 §3.3).
    static func date(_ time: Timestamp) -> String {
        let date = CivilDate(time)
        let days = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
        let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        let day = Int(max(0, time.milliseconds) / 86_400_000 % 7)
        func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
        return "\(days[day]), \(date.day) \(months[date.month - 1]) \(date.year) "
            + "\(two(date.hour)):\(two(date.minute)):\(two(date.second)) +0000"
    }
}
