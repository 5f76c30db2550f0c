// SPDX-License-Identifier: Apache-2.0

/// Bounds the texts by which the journal finds rows: keys of items, and values that rules remember. A server chooses them,
/// and an index of PostgreSQL takes no row of more than 2,704 bytes
/// (https://www.postgresql.org/docs/15/btree-implementation.html). Every store gets the same text.
public enum IndexedText {
    /// Bytes of a text that is kept as it is.
    public static let longest = 1024
    /// Bytes of the beginning of a longer one, which people read. With the digest it is short enough for a column of `list`.
    public static let beginning = 80

    /// Returns the text; a longer one as its beginning and a digest of the whole.
    ///
    /// The digest has 128 bits, so that no two texts get the same one by accident. It does not resist an adversary, who need
    /// not look for a collision: whoever chooses a key can choose another item's. A shortened text is never shortened again.
    public static func bounded(_ text: String) -> String {
        guard text.utf8.count > longest / 5, storedSize(text) > longest else { return text }
        var end = text.utf8.index(text.startIndex, offsetBy: beginning)
        // Go back to the beginning of a character.
        while end.samePosition(in: text.unicodeScalars) == nil { end = text.utf8.index(before: end) }
        var second = StableHash()
        second.add(1)
        second.add(text)
        return text[..<end] + "…" + Identifier.hex(StableHash.of([text])) + Identifier.hex(second.value)
    }

    /// PostgreSQL's texts hold neither U+0000 nor what stands for it, U+10FFFF: each is stored in five bytes.
    private static func storedSize(_ text: String) -> Int {
        text.utf8.count > longest
            ? text.utf8.count
            : text.unicodeScalars.reduce(text.utf8.count) { $0 + ($1.value == 0 ? 4 : $1.value == 0x10FFFF ? 1 : 0) }
    }
}

extension Page {
    /// Bounds the keys of its items. Secrets must be redacted before: the end of the beginning may lie within one.
    public mutating func boundKeys() {
        for i in items.indices { items[i].key = IndexedText.bounded(items[i].key) }
    }
}
