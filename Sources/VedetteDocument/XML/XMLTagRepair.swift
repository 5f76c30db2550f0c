// SPDX-License-Identifier: Apache-2.0

/// Mends markup that libxml2 refuses although its meaning is beyond doubt: attributes given twice or without quotes, a `<`
/// that begins no tag, HTML elements that nobody closed. What is not HTML is never closed for its author: a document without
/// its end tags is cut, and a cut document fails.
struct XMLTagRepair {
    private let bytes: [UInt8]
    private var at: Int
    private(set) var out: [UInt8] = []
    private(set) var warnings: [DocumentWarning] = [.markup]
    /// The names of open elements, as they are written.
    private var open: [ArraySlice<UInt8>] = []

    init(_ bytes: [UInt8], from start: Int) {
        self.bytes = bytes
        at = start
        out.reserveCapacity(bytes.count + 256)
    }

    mutating func run() {
        while at < bytes.count {
            if bytes[at] == UInt8(ascii: "<") { markup() } else { text() }
            // Deeper than any document may be: the parser will say so.
            guard open.count > 256 else { continue }
            out.append(contentsOf: bytes[at...])
            return
        }
    }

    /// `]]>` may not stand in text, and U+FFFE and U+FFFF nowhere (XML 1.0 §2.4, §2.2).
    private mutating func text() {
        let rest = bytes[at...]
        if rest.starts(with: "]]>".utf8) {
            out.append(contentsOf: "]]&gt;".utf8)
            at += 3
        } else if bytes[at] == 0xEF, rest.starts(with: [0xEF, 0xBF, 0xBE]) || rest.starts(with: [0xEF, 0xBF, 0xBF]) {
            at += 3
        } else {
            out.append(bytes[at])
            at += 1
        }
    }

    private mutating func markup() {
        let rest = bytes[at...]
        if rest.starts(with: "<![CDATA[".utf8) {
            pass(to: "]]>", keeping: true)
        } else if rest.starts(with: "<!--".utf8) {
            pass(to: "-->", keeping: false)
        } else if rest.starts(with: "<?".utf8) {
            // The bytes are UTF-8 already: no declaration is missed, wherever it stands.
            pass(to: "?>", keeping: !Sniffer.begins(rest, with: "<?xml"))
        } else if rest.starts(with: "<!DOCTYPE".utf8) {
            pass(to: rest.prefix { $0 != UInt8(ascii: ">") }.contains(UInt8(ascii: "[")) ? "]>" : ">", keeping: true)
        } else if rest.starts(with: "</".utf8) {
            endTag()
        } else if let tag = XMLTag(bytes, at: at) {
            startTag(tag)
        } else {
            out.append(contentsOf: "&lt;".utf8)
            at += 1
        }
    }

    /// What has no end stays as it is: the parser will say that the document is cut.
    private mutating func pass(to mark: String, keeping: Bool) {
        var end = at
        while end < bytes.count, !bytes[end...].starts(with: mark.utf8) { end += 1 }
        let isWhole = end < bytes.count
        end = min(bytes.count, end + mark.utf8.count)
        if keeping || !isWhole { out.append(contentsOf: bytes[at..<end]) }
        at = end
    }

    private mutating func startTag(_ tag: XMLTag) {
        at = tag.end
        // In HTML a paragraph, a list item or a cell ends where the next begins.
        if let last = open.last, HTMLNames.endsBeforeItsLike(last), last.elementsEqual(tag.name) { close() }
        let isEmpty = tag.isEmpty || HTMLNames.isVoid(tag.name)
        out.append(UInt8(ascii: "<"))
        out.append(contentsOf: tag.name)
        for (index, attribute) in tag.attributes.enumerated() {
            if tag.attributes[..<index].contains(where: { $0.name == attribute.name }) {
                if !warnings.contains(.duplicateAttribute) { warnings.append(.duplicateAttribute) }
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
