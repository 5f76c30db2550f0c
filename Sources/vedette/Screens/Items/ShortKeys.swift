// SPDX-License-Identifier: Apache-2.0

/// Keys as a list shows them: long ones by the end or the beginning that tells each from all others, as `…a41f09`. Keys
/// of feeds are URNs of 65 characters, which differ in a few.
struct ShortKeys {
    private enum Part {
        case whole
        /// The last characters; the first ones.
        case end(Int), beginning(Int)
    }

    /// Keys up to this length are shown whole.
    static let whole = 14
    /// The fewest characters that are kept, so that a new item seldom changes the others' short keys.
    private static let least = 6

    private let part: Part

    init(_ keys: [String]) {
        guard keys.contains(where: { $0.utf8.count > ShortKeys.whole }) else {
            part = .whole
            return
        }
        let end = ShortKeys.distinct(keys.map { Array($0.unicodeScalars.reversed()) })
        let beginning = ShortKeys.distinct(keys.map { Array($0.unicodeScalars) })
        let (kept, isEnd) = end <= beginning ? (end, true) : (beginning, false)
        if kept >= ShortKeys.whole {
            part = .whole
        } else {
            part = isEnd ? .end(max(kept, ShortKeys.least)) : .beginning(max(kept, ShortKeys.least))
        }
    }

    /// Returns how many first characters tell each key from all others.
    private static func distinct(_ keys: [[Unicode.Scalar]]) -> Int {
        let sorted = keys.sorted { $0.lexicographicallyPrecedes($1) }
        return zip(sorted, sorted.dropFirst()).reduce(1) { most, pair in
            max(most, 1 + zip(pair.0, pair.1).prefix { $0 == $1 }.count)
        }
    }

    func short(_ key: String) -> String {
        switch part {
        case .whole: key
        case .end(let count):
            key.unicodeScalars.count > count + 1
                ? "…" + String(String.UnicodeScalarView(key.unicodeScalars.suffix(count))) : key
        case .beginning(let count):
            key.unicodeScalars.count > count + 1
                ? String(String.UnicodeScalarView(key.unicodeScalars.prefix(count))) + "…" : key
        }
    }

    /// Returns whether `text` is a short form of a key: its end or beginning of at least four characters, with or without
    /// the ellipsis.
    static func isShort(_ text: String, of key: String) -> Bool {
        let bare = text.hasPrefix("…") ? text.dropFirst() : text.hasSuffix("…") ? text.dropLast() : text[...]
        guard bare.unicodeScalars.count >= 4 else { return false }
        if text.hasPrefix("…") { return key.hasSuffix(bare) }
        return key.hasPrefix(bare) || (!text.hasSuffix("…") && key.hasSuffix(bare))
    }
}
