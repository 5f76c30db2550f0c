// SPDX-License-Identifier: Apache-2.0

/// A start tag as people write it, in HTML or in XML that is mended.
struct MarkupTag {
    struct Attribute {
        let name: ArraySlice<UInt8>
        let value: ArraySlice<UInt8>
        let quote: UInt8
    }

    /// Why no tag could be read.
    enum Problem: Error {
        /// The document ends inside the tag.
        case cut
        /// In XML: no name follows the `<`, or another `<` comes before the `>`.
        case noTag
        /// Each attribute would be compared with all before it.
        case tooManyAttributes
    }

    let name: ArraySlice<UInt8>
    private(set) var attributes: [Attribute] = []
    /// The tag ends in `/>`.
    private(set) var closesItself = false
    /// The place after the `>`.
    private(set) var end: Int

    /// - Parameters:
    ///   - start: the place after the `<`.
    ///   - isHTML: reads every name and value as the HTML standard does (§13.2.5). Otherwise a value that holds a `<` makes it no
    ///     tag: a quote may be missing, and elements would hide behind it.
    init(_ bytes: [UInt8], name start: Int, mostAttributes: Int, isHTML: Bool) throws(Problem) {
        name = bytes[start...].prefix { !MarkupTag.endsName($0, isHTML) }
        guard isHTML || MarkupTag.beginsName(name) else { throw .noTag }
        end = name.endIndex
        while true {
            end = MarkupTag.afterSpace(bytes, end)
            guard end < bytes.count else { throw .cut }
            if bytes[end] == UInt8(ascii: ">") { break }
            if bytes[end] == UInt8(ascii: "/") {
                end += 1
                closesItself = end < bytes.count && bytes[end] == UInt8(ascii: ">")
                continue
            }
            guard attributes.count < mostAttributes else { throw .tooManyAttributes }
            let (attribute, next) = try MarkupTag.attribute(bytes, at: end, isHTML)
            attributes.append(attribute)
            end = next
        }
        end += 1
    }

    private static func attribute(_ bytes: [UInt8], at start: Int, _ isHTML: Bool) throws(Problem) -> (Attribute, Int) {
        let quote = UInt8(ascii: "\"")
        // In HTML a `=` in front belongs to the name.
        var end = isHTML ? start + 1 : start
        while end < bytes.count, !endsName(bytes[end], isHTML), bytes[end] != UInt8(ascii: "=") { end += 1 }
        let name = bytes[start..<end]
        guard isHTML || beginsName(name) else { throw .noTag }
        var at = afterSpace(bytes, end)
        guard at < bytes.count, bytes[at] == UInt8(ascii: "=") else {
            return (Attribute(name: name, value: isHTML ? bytes[end..<end] : name, quote: quote), end)
        }
        at = afterSpace(bytes, at + 1)
        guard at < bytes.count else { throw .cut }
        if bytes[at] == quote || bytes[at] == UInt8(ascii: "'") {
            guard let close = bytes[(at + 1)...].firstIndex(of: bytes[at]) else { throw .cut }
            let value = bytes[(at + 1)..<close]
            if !isHTML, value.contains(UInt8(ascii: "<")) { throw .noTag }
            return (Attribute(name: name, value: value, quote: bytes[at]), close + 1)
        }
        // In XML it is no tag if a `<` follows. To search beyond it would let each `<` of a document search to its end.
        var value = bytes[at...].prefix {
            $0 > 0x20 && $0 != UInt8(ascii: ">") && (isHTML || $0 != UInt8(ascii: "<"))
        }
        if !isHTML {
            let next = bytes.dropFirst(value.endIndex).first
            if next == UInt8(ascii: "<") || value.contains(quote) { throw .noTag }
            // Of `href=a/>` the slash is the tag's.
            if next == UInt8(ascii: ">"), value.last == UInt8(ascii: "/") { value.removeLast() }
        }
        return (Attribute(name: name, value: value, quote: quote), value.endIndex)
    }

    private static func beginsName(_ name: ArraySlice<UInt8>) -> Bool {
        name.first.map { $0 >= 0x80 || $0.isLetter || $0 == UInt8(ascii: "_") } ?? false
    }

    private static func endsName(_ byte: UInt8, _ isHTML: Bool) -> Bool {
        byte <= 0x20 || byte == UInt8(ascii: ">") || byte == UInt8(ascii: "/") || !isHTML && byte == UInt8(ascii: "<")
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
        name.count > 10 ? "" : String(decoding: name.map(\.lowercased), as: UTF8.self)
    }

    private static let voids: Set<String> = ["br", "hr", "img", "input", "wbr"]
    private static let likes: Set<String> = ["p", "li", "tr", "td", "th", "dt", "dd"]
    private static let names: Set<String> = [
        "a", "abbr", "b", "big", "blockquote", "center", "cite", "code", "dd", "del", "div", "dl", "dt", "em", "font",
        "h1", "h2", "h3", "h4", "h5", "h6", "i", "ins", "kbd", "li", "nobr", "ol", "p", "pre", "q", "s", "small",
        "span", "strike", "strong", "sub", "sup", "table", "tbody", "td", "th", "tr", "tt", "u", "ul",
    ]
}
