// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// How much of a text is kept.
enum TextLimit {
    /// Bytes of a text that is kept whole.
    static let mostBytes = 64 << 10

    /// A longer text is its beginning and the digest of all of it, so that a change behind the cut is a change.
    static func bounded(_ text: String) -> String {
        guard text.utf8.count > mostBytes else { return text }
        let mark = " … (\(text.utf8.count) bytes, digest \(String(Digest.of([text]), radix: 16)))"
        var end = text.utf8.index(text.startIndex, offsetBy: mostBytes - mark.utf8.count)
        // Back to the beginning of a character.
        while end.samePosition(in: text.unicodeScalars) == nil { end = text.utf8.index(before: end) }
        return text[..<end] + mark
    }
}
