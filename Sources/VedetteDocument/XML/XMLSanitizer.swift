// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Rewrites a document that libxml2 would refuse or shorten although its meaning is plain.
///
/// Two degrees, each with warnings. `sanitize` removes control characters, escapes a bare `&` and replaces the entities of HTML;
/// libxml2's own recovery would shorten texts silently. `mend`, for a document that was refused all the same, also drops
/// repeated attributes, quotes bare ones, escapes a `<` that begins no tag and closes elements of HTML. It closes nothing else:
/// a document without its end tags is cut, and a cut document fails.
struct XMLSanitizer {
    private let bytes: [UInt8]
    private var at: Int
    private let mendsTags: Bool
    private var out: [UInt8] = []
    private var warnings: [DocumentWarning]
    /// The names of open elements as they are written, where tags are mended.
    private var open: [ArraySlice<UInt8>] = []

    /// Scans a document and rewrites it if it has errors. Most documents have none and are only scanned, which costs a few per cent
    /// of the time that parsing takes.
    static func sanitize(_ text: inout XMLText, attributes: Int) throws(DocumentError) {
        let start = text.start
        let (isBomb, hasErrors) = text.bytes.withUnsafeBufferPointer { buffer in
            let bytes = UnsafeBufferPointer(rebasing: buffer[start...])
            let isBomb = XMLScan.hasTooManyAttributes(bytes, limit: attributes)
            return (isBomb, !isBomb && (XMLScan.hasControl(bytes) || XMLScan.hasBadReference(bytes)))
        }
        if isBomb { throw DocumentError(.tooLarge, "an XML element has more attributes than the limit") }
        if hasErrors { text = rewrite(text, mendsTags: false) }
    }

    /// Rewrites a document whose tags libxml2 has refused.
    static func mend(_ text: XMLText) -> XMLText { rewrite(text, mendsTags: true) }

    private static func rewrite(_ text: XMLText, mendsTags: Bool) -> XMLText {
        var sanitizer = XMLSanitizer(text, mendsTags: mendsTags)
        sanitizer.run()
        return XMLText(bytes: sanitizer.out, warnings: sanitizer.warnings)
    }

    private init(_ text: XMLText, mendsTags: Bool) {
        (bytes, at, self.mendsTags) = (text.bytes, text.start, mendsTags)
        warnings = text.warnings + (mendsTags ? [.markup] : [])
        out.reserveCapacity(bytes.count + 256)
    }

    private mutating func run() {
        while at < bytes.count {
            switch bytes[at] {
            case UInt8(ascii: "<"): markup()
            case UInt8(ascii: "&"): reference()
            default: text()
            }
            // Deeper than any document may be: the parser refuses the rest.
            if open.count > 256 {
                out.append(contentsOf: bytes[at...])
                return
            }
        }
    }

    private mutating func warn(_ warning: DocumentWarning) {
        if !warnings.contains(warning) { warnings.append(warning) }
    }

    private mutating func copy() {
        if bytes[at].isControl { warn(.controlCharacters) } else { out.append(bytes[at]) }
        at += 1
    }

    /// Copies one byte of text, but mends `]]>`, which may not stand in text, and U+FFFE and U+FFFF, which may stand nowhere
    /// (XML 1.0 §2.4, §2.2).
    private mutating func text() {
        guard mendsTags, bytes[at] == 0xEF || bytes[at] == UInt8(ascii: "]") else { return copy() }
        let rest = bytes[at...]
        if rest.starts(with: "]]>".utf8) {
            out.append(contentsOf: "]]&gt;".utf8)
            at += 3
        } else if rest.starts(with: [0xEF, 0xBF, 0xBE]) || rest.starts(with: [0xEF, 0xBF, 0xBF]) {
            at += 3
        } else {
            copy()
        }
    }

    private mutating func reference() {
        switch bytes.withUnsafeBufferPointer({ XMLReference($0, at: at) }) {
        case .good(let length):
            out.append(contentsOf: bytes[at..<at + length])
            at += length
        case .html(let character, let length):
            warn(.htmlEntity)
            out.append(contentsOf: character.utf8)
            at += length
        case .forbidden(let length):
            warn(.controlCharacters)
            at += length
        case .bare:
            warn(.bareAmpersand)
            out.append(contentsOf: "&amp;".utf8)
            at += 1
        }
    }

    /// Comments, CDATA and processing instructions keep their `&`.
    private mutating func markup() {
        let rest = bytes[at...]
        if rest.starts(with: "<![CDATA[".utf8) {
            pass("<![CDATA[", to: "]]>", isKept: true)
        } else if rest.starts(with: "<!--".utf8) {
            pass("<!--", to: "-->", isKept: !mendsTags)
        } else if rest.starts(with: "<?".utf8) {
            // The bytes are UTF-8 already: no declaration is missed, wherever it stands.
            pass("<?", to: "?>", isKept: !mendsTags || !Sniffer.begins(rest, with: "<?xml"))
        } else if !mendsTags {
            copy()
        } else if rest.starts(with: "<!DOCTYPE".utf8) {
            let hasSubset = rest.prefix { $0 != UInt8(ascii: ">") }.contains(UInt8(ascii: "["))
            pass("<!DOCTYPE", to: hasSubset ? "]>" : ">", isKept: true)
        } else if rest.starts(with: "</".utf8) {
            endTag()
        } else if let tag = try? MarkupTag(bytes, name: at + 1, mostAttributes: 256, isHTML: false) {
            startTag(tag)
        } else {
            out.append(contentsOf: "&lt;".utf8)
            at += 1
        }
    }

    /// Passes over everything up to the end of a mark. What has no end is kept: the parser reports the cut.
    private mutating func pass(_ opening: String, to mark: String, isKept: Bool) {
        let start = out.count
        let mark = Array(mark.utf8)
        // `<!-->` ends a comment in HTML, but not in XML.
        if !mendsTags { for _ in opening.utf8 { copy() } }
        while at < bytes.count, !bytes[at...].starts(with: mark) { copy() }
        guard at < bytes.count else { return }
        for _ in mark { copy() }
        if !isKept { out.removeSubrange(start...) }
    }

    private mutating func startTag(_ tag: MarkupTag) {
        at = tag.end
        // In HTML a paragraph, a list item or a cell ends where the next begins.
        if let last = open.last, HTMLNames.endsBeforeItsLike(last), last.elementsEqual(tag.name) { close() }
        let isEmpty = tag.closesItself || HTMLNames.isVoid(tag.name)
        out.append(UInt8(ascii: "<"))
        out.append(contentsOf: tag.name)
        for (index, attribute) in tag.attributes.enumerated() {
            if tag.attributes[..<index].contains(where: { $0.name == attribute.name }) {
                warn(.duplicateAttribute)
                continue
            }
            out.append(UInt8(ascii: " "))
            out.append(contentsOf: attribute.name)
            out.append(contentsOf: [UInt8(ascii: "="), attribute.quote])
            out.append(contentsOf: attribute.value)
            out.append(attribute.quote)
        }
        out.append(contentsOf: isEmpty ? "/>".utf8 : ">".utf8)
        if !isEmpty { open.append(tag.name) }
    }

    private mutating func endTag() {
        guard let end = bytes[at...].firstIndex(of: UInt8(ascii: ">")) else {
            out.append(contentsOf: bytes[at...])
            at = bytes.count
            return
        }
        let name = bytes[(at + 2)..<end].prefix { $0 > 0x20 }
        let tag = bytes[at...end]
        at = end + 1
        let place = open.lastIndex { $0.elementsEqual(name) }
        if let place, open[(place + 1)...].allSatisfy(HTMLNames.contains) {
            while open.count > place { close() }
        } else if place != nil || !HTMLNames.contains(name) {
            out.append(contentsOf: tag)
        }
    }

    private mutating func close() {
        guard let name = open.popLast() else { return }
        out.append(contentsOf: "</".utf8)
        out.append(contentsOf: name)
        out.append(UInt8(ascii: ">"))
    }
}

/// The checks that find a document with errors.
enum XMLScan {
    /// Tests thirty-two bytes at a time, of which the top bits say what is below 0x20: no sum carries into the next byte.
    static func hasControl(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        let raw = UnsafeRawBufferPointer(bytes)
        var at = 0
        while at + 32 <= raw.count {
            let words = raw.loadUnaligned(fromByteOffset: at, as: SIMD4<UInt64>.self)
            let low = ~(words | ((words & all(0x7F)) &+ all(0x60))) & all(0x80)
            // White space is below it, too, and most blocks of a text have none but spaces.
            if low[0] | low[1] | low[2] | low[3] != 0, raw[at..<at + 32].contains(where: \.isControl) { return true }
            at += 32
        }
        return raw[at...].contains(where: \.isControl)
    }

    private static func all(_ byte: UInt8) -> UInt64 { UInt64(byte) &* 0x0101_0101_0101_0101 }

    static func hasBadReference(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        var at = 0
        while let found = next(UInt8(ascii: "&"), in: bytes, from: at) {
            if let length = lengthOfCommon(bytes, at: found) {
                at = found + length
                continue
            }
            guard case .good(let length) = XMLReference(bytes, at: found) else { return true }
            at = found + length
        }
        return false
    }

    /// The length of `&lt;`, `&gt;` and `&amp;`, which nearly all references are; nil for another.
    private static func lengthOfCommon(_ bytes: UnsafeBufferPointer<UInt8>, at start: Int) -> Int? {
        guard start + 5 <= bytes.count else { return nil }
        let name = UnsafeRawBufferPointer(bytes).loadUnaligned(fromByteOffset: start + 1, as: UInt32.self).littleEndian
        // The names as they stand in memory, the first letter lowest.
        switch name & 0xFF_FFFF {
        case 0x3B_746C, 0x3B_7467: return 4
        default: return name == 0x3B70_6D61 ? 5 : nil
        }
    }

    /// libxml2 compares each attribute of an element with all before it: a megabyte of them would take hours. A tag lies
    /// between two `<`, so only long stretches need a closer look.
    static func hasTooManyAttributes(_ bytes: UnsafeBufferPointer<UInt8>, limit: Int) -> Bool {
        var at = next(UInt8(ascii: "<"), in: bytes, from: 0)
        while let start = at {
            let end = next(UInt8(ascii: "<"), in: bytes, from: start + 1)
            let stretch = bytes[start..<(end ?? bytes.count)]
            // Each attribute has at least four bytes: ` a=""` without the space that parsers forgive.
            if stretch.count > 4 * limit, countAttributes(stretch) > limit { return true }
            at = end
        }
        return false
    }

    private static func countAttributes(_ tag: Slice<UnsafeBufferPointer<UInt8>>) -> Int {
        if tag.dropFirst().first.map({ $0 == UInt8(ascii: "!") || $0 == UInt8(ascii: "?") }) ?? true { return 0 }
        var quote: UInt8?
        var count = 0
        for byte in tag {
            if let open = quote {
                if byte == open { quote = nil }
            } else if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") {
                quote = byte
            } else if byte == UInt8(ascii: "=") {
                count += 1
            } else if byte == UInt8(ascii: ">") {
                break
            }
        }
        return count
    }

    private static func next(_ byte: UInt8, in bytes: UnsafeBufferPointer<UInt8>, from start: Int) -> Int? {
        guard start < bytes.count, let base = bytes.baseAddress,
            let found = memchr(base + start, Int32(byte), bytes.count - start)
        else { return nil }
        return UnsafeRawPointer(found) - UnsafeRawPointer(base)
    }
}
