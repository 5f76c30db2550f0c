// SPDX-License-Identifier: Apache-2.0

import VedetteCore
import VedetteDocument

/// Limits the texts that are stored.
enum TextLimit {
    /// Bytes of a text that is stored whole.
    static let maximumBytes = 64 << 10
    /// Bytes of a title.
    static let title = 1000

    /// Shortens a longer text to its beginning and the digest of the whole, so that a change behind the cut is a change.
    static func bounded(_ text: consuming String) -> String {
        text.utf8.count > maximumBytes ? shortened(text) : text
    }

    private static func shortened(_ text: String) -> String {
        let mark = " … (\(text.utf8.count) bytes, digest \(String(StableHash.of([text]), radix: 16)))"
        var end = text.utf8.index(text.startIndex, offsetBy: maximumBytes - mark.utf8.count)
        // Go back to the beginning of a character.
        while end.samePosition(in: text.unicodeScalars) == nil { end = text.utf8.index(before: end) }
        return text[..<end] + mark
    }

    /// The same for HTML, as plain text.
    static func plain(html: String) -> String { bounded(HTMLText.plain(html, limit: html.utf8.count)) }
}
