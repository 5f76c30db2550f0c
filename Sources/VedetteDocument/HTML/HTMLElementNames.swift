// SPDX-License-Identifier: Apache-2.0
import CXML2

/// The names of HTML's elements: HTML 4's from libxml2's table, and the later ones
/// (https://html.spec.whatwg.org/multipage/indices.html#elements-3).
enum HTMLElementNames {
    /// True for a name that no element of HTML has. One with a prefix or a hyphen may be an element of somebody's own.
    ///
    /// - Parameter next: the byte behind the name.
    static func isUnknown(_ name: Slice<UnsafeBufferPointer<UInt8>>, before next: UInt8?) -> Bool {
        if next == UInt8(ascii: ":") || next == UInt8(ascii: "-") { return false }
        let name = String(decoding: name.lazy.map(\.lowercased), as: UTF8.self)
        return !later.contains(name) && htmlTagLookup(name) == nil
    }

    private static let later: Set<String> = [
        "article", "aside", "audio", "bdi", "blink", "canvas", "data", "datalist", "details", "dialog", "figcaption",
        "figure", "footer", "header", "hgroup", "main", "mark", "marquee", "math", "menu", "meter", "nav", "nobr",
        "output", "picture", "progress", "rp", "rt", "ruby", "search", "section", "slot", "source", "summary", "svg",
        "template", "time", "track", "video", "wbr",
    ]
}
