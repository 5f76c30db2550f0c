// SPDX-License-Identifier: Apache-2.0

/// Turns HTML into one line of plain text, for titles of `type="html"`, summaries and messages.
public enum HTMLText {
    /// Strips tags, comments and what a browser does not show, decodes entities and joins white space. Block elements separate
    /// words, inline elements do not. Reads any text without failing, in linear time.
    ///
    /// - Parameters:
    ///   - limit: bytes of the result, at most; a longer text is cut between characters and ends in `…`.
    ///   - keepsUnknownTags: a name in angle brackets that is no element of HTML is text, as in `vector<int>`, and so is an
    ///     element's bare name that nothing closes, as in `<a> as <area>`.
    public static func plain(_ html: String, limit: Int = 64 << 10, keepsUnknownTags: Bool = false) -> String {
        var html = html
        return html.withUTF8 { plain($0, limit: limit, keepsUnknownTags: keepsUnknownTags) }
    }

    /// Does the same for bytes that are UTF-8. Bytes behind the limit are not read.
    public static func plain(
        _ bytes: UnsafeBufferPointer<UInt8>, limit: Int, keepsUnknownTags: Bool = false
    ) -> String {
        Out.make(from: bytes, limit: limit) { out in
            var at = 0
            while at < bytes.count, !out.isFull {
                switch bytes[at] {
                case UInt8(ascii: "<"): at = tag(bytes, at, keepsUnknownTags, &out)
                case UInt8(ascii: "&"): at = reference(bytes, at, &out)
                default: at = out.appendWords(bytes, at, isHTML: true)
                }
            }
        }
    }

    /// Removes the control characters of a text, except tabs and line ends: no text of an item contains them.
    public static func withoutControls(_ text: String) -> String {
        guard text.utf8.contains(where: { $0.isControl || $0 == 0x7F }) else { return text }
        return String(decoding: text.utf8.filter { !$0.isControl && $0 != 0x7F }, as: UTF8.self)
    }

    /// Joins the white space of a text that is not HTML.
    public static func collapse(_ text: String, limit: Int = 64 << 10) -> String {
        var text = text
        return text.withUTF8 { collapse($0, limit: limit) }
    }

    /// Does the same for bytes that are UTF-8.
    public static func collapse(_ bytes: UnsafeBufferPointer<UInt8>, limit: Int) -> String {
        Out.make(from: bytes, limit: limit) { out in
            var at = 0
            while at < bytes.count, !out.isFull { at = out.appendWords(bytes, at, isHTML: false) }
        }
    }

    /// The result, whose white space is joined as it grows. It is never longer than its source, since every reference is longer
    /// than its character.
    private struct Out {
        private let bytes: UnsafeMutableBufferPointer<UInt8>
        private var count = 0
        private var spaceIsDue = false
        private let limit: Int
        /// Hidden elements whose end was not found.
        var unclosed = 0
        /// Searches for the other tag of an element that may be a word.
        var partnerSearches = 0

        static func make(
            from source: UnsafeBufferPointer<UInt8>, limit: Int, _ fill: (inout Out) -> Void
        ) -> String {
            // A character of four bytes may begin before the limit.
            let most = min(source.count, limit + 8)
            return withUnsafeTemporaryAllocation(of: UInt8.self, capacity: most) { bytes in
                var out = Out(bytes: bytes, limit: limit)
                fill(&out)
                return out.string
            }
        }

        private init(bytes: UnsafeMutableBufferPointer<UInt8>, limit: Int) {
            (self.bytes, self.limit) = (bytes, limit)
        }

        var isFull: Bool { count > limit }

        mutating func space() { spaceIsDue = count > 0 }

        mutating func append(_ byte: UInt8) {
            if Out.isSpace(byte) { return space() }
            if spaceIsDue { put(0x20) }
            spaceIsDue = false
            put(byte)
        }

        private mutating func put(_ byte: UInt8) {
            bytes[count] = byte
            count += 1
        }

        /// Appends white space, or everything up to the next markup or the next white space that is not one space between words.
        ///
        /// - Returns: the place after it.
        mutating func appendWords(_ source: UnsafeBufferPointer<UInt8>, _ start: Int, isHTML: Bool) -> Int {
            if Out.isSpace(source[start]) {
                space()
                return start + 1
            }
            if isNoBreakSpace(source, start) {
                space()
                return start + 2
            }
            if spaceIsDue { put(0x20) }
            // One byte beyond the limit shows that something was cut.
            let most = min(source.count, start + max(1, limit + 1 - count))
            var end = start + 1
            while end + 8 <= most, eightGoOn(source, end, isHTML: isHTML) { end += 8 }
            while end < most, goesOn(source, end, isHTML: isHTML) { end += 1 }
            spaceIsDue = source[end - 1] == 0x20
            let words = source[start..<(spaceIsDue ? end - 1 : end)]
            _ = bytes[count...].update(fromContentsOf: words)
            count += words.count
            return end
        }

        private func goesOn(_ source: UnsafeBufferPointer<UInt8>, _ at: Int, isHTML: Bool) -> Bool {
            switch source[at] {
            // Letters come first because they are most of a text.
            case 0x3F...0x7E: true
            case 0x20: source[at - 1] != 0x20
            case 0x00...0x1F, 0x7F: false
            case UInt8(ascii: "<"), UInt8(ascii: "&"): !isHTML
            default: !isNoBreakSpace(source, at)
            }
        }

        /// Whether `goesOn` is true of eight bytes: one comparison for all of them. It may be false although it is true, as for
        /// all that is not ASCII (https://graphics.stanford.edu/~seander/bithacks.html#ZeroInWord).
        private func eightGoOn(_ source: UnsafeBufferPointer<UInt8>, _ at: Int, isHTML: Bool) -> Bool {
            let source = UnsafeRawBufferPointer(source)
            let bytes = source.loadUnaligned(fromByteOffset: at, as: UInt64.self)
            let before = source.loadUnaligned(fromByteOffset: at - 1, as: UInt64.self)
            // The highest bit of each byte stands for an end: of a control, of DEL, of the second space, of markup.
            var ends = bytes | (bytes &- Out.all(0x20)) | (bytes &+ Out.all(0x01))
            ends |= Out.equal(bytes, 0x20) & Out.equal(before, 0x20)
            if isHTML { ends |= Out.equal(bytes, UInt8(ascii: "<")) | Out.equal(bytes, UInt8(ascii: "&")) }
            return ends & Out.all(0x80) == 0
        }

        private static func all(_ byte: UInt8) -> UInt64 { UInt64(byte) &* 0x0101_0101_0101_0101 }

        /// Sets the highest bit of each ASCII byte that is equal, and perhaps of one behind such a byte.
        private static func equal(_ bytes: UInt64, _ byte: UInt8) -> UInt64 { (bytes ^ all(byte)) &- all(0x01) }

        /// True at U+00A0, the character of `&nbsp;`.
        private func isNoBreakSpace(_ source: UnsafeBufferPointer<UInt8>, _ at: Int) -> Bool {
            source[at] == 0xC2 && at + 1 < source.count && source[at + 1] == 0xA0
        }

        private static func isSpace(_ byte: UInt8) -> Bool { byte <= 0x20 || byte == 0x7F }

        var string: String {
            guard isFull else { return String(decoding: bytes[..<count], as: UTF8.self) }
            var end = max(0, limit - 3)
            while end > 0, bytes[end] & 0xC0 == 0x80 { end -= 1 }
            return String(decoding: bytes[..<end], as: UTF8.self) + "…"
        }
    }

    private static func reference(_ bytes: UnsafeBufferPointer<UInt8>, _ at: Int, _ out: inout Out) -> Int {
        let most = min(bytes.count, at + 13)
        var end = at + 1
        while end < most, bytes[end] != UInt8(ascii: ";") { end += 1 }
        guard end < most, end > at + 1, let scalar = scalar(UnsafeBufferPointer(rebasing: bytes[at + 1..<end])) else {
            out.append(bytes[at])
            return at + 1
        }
        if scalar == "\u{A0}" {
            out.space()
        } else if scalar.isASCII {
            out.append(UInt8(scalar.value))
        } else {
            for byte in UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter { out.append(byte) }
        }
        return end + 1
    }

    private static func scalar(_ name: UnsafeBufferPointer<UInt8>) -> Unicode.Scalar? {
        if name[0] == UInt8(ascii: "#") { return characterCode(name.dropFirst()).map(HTMLEntities.scalar) }
        return switch packed(name) {
        case HTMLText.amp: "&"
        case HTMLText.less: "<"
        case HTMLText.greater: ">"
        case HTMLText.quot: "\""
        default: HTMLEntities.named[String(decoding: name, as: UTF8.self)]
        }
    }

    /// A tag begins with a letter, `/`, `!` or `?` after the `<`; any other `<` is text, as in `1 < 2`.
    private static func tag(
        _ bytes: UnsafeBufferPointer<UInt8>, _ at: Int, _ keepsUnknown: Bool, _ out: inout Out
    ) -> Int {
        guard at + 1 < bytes.count else {
            out.append(bytes[at])
            return at + 1
        }
        let first = bytes[at + 1]
        if first == UInt8(ascii: "!") {
            if bytes[(at + 1)...].starts(with: "!--".utf8) { return after("-->", bytes, at + 4) }
            // CDATA inside CDATA contains text.
            if bytes[(at + 1)...].starts(with: "![CDATA[".utf8) { return at + 9 }
        }
        let isEnd = first == UInt8(ascii: "/")
        let start = at + (isEnd ? 2 : 1)
        var stop = start
        while stop < min(bytes.count, start + 16), isNameByte(bytes[stop]) { stop += 1 }
        let isNamed = stop > start && !bytes[start].isDigit
        if keepsUnknown, isNamed,
            HTMLElementNames.isUnknown(bytes[start..<stop], before: bytes[stop...].first)
                || isWord(bytes, start..<stop, isEnd: isEnd, &out)
        {
            out.append(bytes[at])
            return at + 1
        }
        if !isNamed, first != UInt8(ascii: "!"), first != UInt8(ascii: "?") {
            out.append(bytes[at])
            return at + 1
        }
        let name = packed(UnsafeBufferPointer(rebasing: bytes[start..<stop]), isLowered: true)
        if !isInline(name) { out.space() }
        let end = endOfTag(bytes, at + 1)
        if isEnd { return end }
        switch name {
        case HTMLText.script: return endOfTag(bytes, after("</script", bytes, end))
        case HTMLText.style: return endOfTag(bytes, after("</style", bytes, end))
        case HTMLText.template, HTMLText.noscript, HTMLText.textarea: break
        default:
            // Without attributes the name is followed by the `>`.
            guard end > stop + 1, HTMLVisibility.hides(UnsafeBufferPointer(rebasing: bytes[start..<end])) else {
                return end
            }
        }
        let element = bytes[start..<stop].map(\.lowercased)
        guard out.unclosed < HTMLText.mostUnclosed, !HTMLNames.isVoid(element[...]) else { return end }
        if let close = HTMLVisibility.end(of: element, bytes, from: end) { return close }
        out.unclosed += 1
        return end
    }

    /// Whether a tag without attributes is a word in a sentence: a start tag that no end tag follows, or an end tag without a
    /// start tag before it, of an element that needs both. Looks no further than a title is long. The elements behind the
    /// first ones of a text are markup.
    private static func isWord(
        _ bytes: UnsafeBufferPointer<UInt8>, _ name: Range<Int>, isEnd: Bool, _ out: inout Out
    ) -> Bool {
        guard out.partnerSearches < mostPartnerSearches, name.upperBound < bytes.count,
            bytes[name.upperBound] == UInt8(ascii: ">")
        else { return false }
        let text = bytes[name].map(\.lowercased)
        if unclosed.contains(String(decoding: text, as: UTF8.self)) { return false }
        out.partnerSearches += 1
        let partner = Array((isEnd ? "<" : "</").utf8) + text
        let place =
            isEnd
            ? max(0, name.lowerBound - 2000)..<name.lowerBound
            : name.upperBound..<min(bytes.count, name.upperBound + 2000)
        return !place.contains { at in
            at + partner.count <= bytes.count
                && zip(bytes[at..<at + partner.count], partner).allSatisfy { $0.lowercased == $1 }
        }
    }

    /// Elements whose start tag needs no end tag.
    private static let unclosed: Set<String> = ["br", "hr", "li", "p", "wbr"]

    /// Searches for the ends of hidden elements that may fail, each of which goes through the rest of the text. An element that
    /// is never closed is text.
    private static let mostUnclosed = 16

    /// Searches for the other tag of an element, each of which goes through up to 2,000 bytes.
    private static let mostPartnerSearches = 64

    /// Packs a name of up to eight bytes into one word, which compares without a string; zero for a longer name.
    private static func packed(_ name: UnsafeBufferPointer<UInt8>, isLowered: Bool = false) -> UInt64 {
        guard name.count <= 8 else { return 0 }
        var word: UInt64 = 0
        for byte in name { word = word << 8 | UInt64(isLowered ? byte.lowercased : byte) }
        return word
    }

    // Packed names, which are compared for every tag and reference.
    private static var amp: UInt64 { 0x61_6D70 }
    private static var less: UInt64 { 0x6C74 }
    private static var greater: UInt64 { 0x6774 }
    private static var quot: UInt64 { 0x7175_6F74 }
    private static var script: UInt64 { 0x7363_7269_7074 }
    private static var style: UInt64 { 0x73_7479_6C65 }
    private static var template: UInt64 { 0x7465_6D70_6C61_7465 }
    private static var noscript: UInt64 { 0x6E6F_7363_7269_7074 }
    private static var textarea: UInt64 { 0x7465_7874_6172_6561 }

    private static func isInline(_ name: UInt64) -> Bool {
        switch name {
        case 0x61, 0x62, 0x69, 0x71, 0x73, 0x75: true  // a, b, i, q, s, u
        case 0x70: false  // p
        default: inlineWords.contains(name)
        }
    }

    private static func endOfTag(_ bytes: UnsafeBufferPointer<UInt8>, _ start: Int) -> Int {
        var quote: UInt8?
        var at = start
        while at < bytes.count {
            let byte = bytes[at]
            at += 1
            if let open = quote {
                if byte == open { quote = nil }
            } else if byte == UInt8(ascii: ">") {
                return at
            } else if (byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'")) && bytes[at - 2] == UInt8(ascii: "=") {
                quote = byte
            }
        }
        return at
    }

    private static func after(_ mark: String, _ bytes: UnsafeBufferPointer<UInt8>, _ start: Int) -> Int {
        let mark = Array(mark.utf8)
        var at = start
        while at + mark.count <= bytes.count {
            if zip(bytes[at...], mark).allSatisfy({ $0.lowercased == $1 }) { return at + mark.count }
            at += 1
        }
        return bytes.count
    }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        byte.isLetter || byte.isDigit
    }

    private static let inlineWords = Set(
        inline.map { name in
            var name = name
            return name.withUTF8 { packed($0) }
        })

    static let inline: Set<String> = [
        "a", "abbr", "b", "bdi", "bdo", "big", "cite", "code", "del", "dfn", "em", "font", "i", "ins", "kbd", "mark",
        "q", "s",
        "samp", "small", "span", "strike", "strong", "sub", "sup", "time", "tt", "u", "var", "wbr",
    ]
}
