// SPDX-License-Identifier: Apache-2.0

/// A start tag as people write it, HTML's habits included.
struct XMLTag {
    struct Attribute {
        let name: ArraySlice<UInt8>
        let value: ArraySlice<UInt8>
        let quote: UInt8
    }

    let name: ArraySlice<UInt8>
    private(set) var attributes: [Attribute] = []
    private(set) var isEmpty = false
    /// After the `>`.
    private(set) var end: Int

    /// Attributes beyond this make it no tag: each is compared with all before it.
    private static let mostAttributes = 256

    /// Nil when the `<` begins no tag: no name follows, or another `<` comes before the `>`.
    init?(_ bytes: [UInt8], at start: Int) {
        name = bytes[(start + 1)...].prefix { !XMLTag.endsName($0) }
        guard let first = name.first, first >= 0x80 || XMLTag.isLetter(first) else { return nil }
        end = name.endIndex
        while true {
            end = XMLTag.afterSpace(bytes, end)
            guard end < bytes.count else { return nil }
            if bytes[end] == UInt8(ascii: ">") { break }
            if bytes[end] == UInt8(ascii: "/") {
                isEmpty = bytes.dropFirst(end + 1).first == UInt8(ascii: ">")
                end += 1
                continue
            }
            guard attributes.count < XMLTag.mostAttributes,
                let (attribute, next) = XMLTag.attribute(bytes, at: end)
            else { return nil }
            attributes.append(attribute)
            end = next
        }
        end += 1
    }

    /// A value that holds a `<` is taken for what it may be: a quote that somebody forgot, and elements behind it.
    private static func attribute(_ bytes: [UInt8], at start: Int) -> (Attribute, Int)? {
        let name = bytes[start...].prefix { !endsName($0) && $0 != UInt8(ascii: "=") }
        guard let first = name.first, first >= 0x80 || isLetter(first) else { return nil }
        let standard = UInt8(ascii: "\"")
        var at = afterSpace(bytes, name.endIndex)
        guard at < bytes.count, bytes[at] == UInt8(ascii: "=") else {
            return (Attribute(name: name, value: name, quote: standard), name.endIndex)
        }
        at = afterSpace(bytes, at + 1)
        guard at < bytes.count else { return nil }
        let quote = bytes[at]
        guard quote == standard || quote == UInt8(ascii: "'") else {
            var value = bytes[at...].prefix { $0 > 0x20 && $0 != UInt8(ascii: ">") }
            // Of `href=a/>` the slash is the tag's.
            if value.last == UInt8(ascii: "/"), bytes.dropFirst(value.endIndex).first == UInt8(ascii: ">") {
                value.removeLast()
            }
            let isClean = !value.contains { $0 == UInt8(ascii: "<") || $0 == standard }
            return isClean ? (Attribute(name: name, value: value, quote: standard), value.endIndex) : nil
        }
        guard let close = bytes[(at + 1)...].firstIndex(of: quote) else { return nil }
        let value = bytes[(at + 1)..<close]
        return value.contains(UInt8(ascii: "<")) ? nil : (Attribute(name: name, value: value, quote: quote), close + 1)
    }

    private static func endsName(_ byte: UInt8) -> Bool {
        byte <= 0x20 || [UInt8(ascii: ">"), UInt8(ascii: "/"), UInt8(ascii: "<")].contains(byte)
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
        (0x61...0x7A).contains(byte | 0x20) || byte == UInt8(ascii: "_")
    }

    private static func afterSpace(_ bytes: [UInt8], _ start: Int) -> Int {
        var at = start
        while at < bytes.count, bytes[at] <= 0x20 { at += 1 }
        return at
    }
}

/// Elements of HTML that people put into texts without a thought of XML. None is the name of an element of a feed.
enum HTMLNames {
    static func contains(_ name: ArraySlice<UInt8>) -> Bool { names.contains(lowered(name)) || isVoid(name) }
    static func isVoid(_ name: ArraySlice<UInt8>) -> Bool { voids.contains(lowered(name)) }
    static func endsBeforeItsLike(_ name: ArraySlice<UInt8>) -> Bool { likes.contains(lowered(name)) }

    private static func lowered(_ name: ArraySlice<UInt8>) -> String {
        name.count > 10 ? "" : String(decoding: name.map(Sniffer.lowercased), as: UTF8.self)
    }

    private static let voids: Set<String> = ["br", "hr", "img", "input", "wbr"]
    private static let likes: Set<String> = ["p", "li", "tr", "td", "th", "dt", "dd"]
    private static let names: Set<String> = [
        "a", "abbr", "b", "big", "blockquote", "center", "cite", "code", "dd", "del", "div", "dl", "dt", "em", "font",
        "h1", "h2", "h3", "h4", "h5", "h6", "i", "ins", "kbd", "li", "nobr", "ol", "p", "pre", "q", "s", "small",
        "span", "strike", "strong", "sub", "sup", "table", "tbody", "td", "th", "tr", "tt", "u", "ul",
    ]
}
