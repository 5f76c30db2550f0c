// SPDX-License-Identifier: Apache-2.0

/// Reads the tags of a page and writes them anew, in one pass.
struct HTMLScanner {
    private let bytes: [UInt8]
    private var at: Int
    private(set) var out: [UInt8] = []
    private let mostAttributes: Int
    private(set) var hasTooManyAttributes = false
    private(set) var hadControls = false
    private(set) var startTags = 0
    private var endTags = 0
    private var opensHTML = false
    private var closesHTML = false
    private var endsInside: String?
    /// The tag just read ends in `/>`, as in XHTML.
    private var closesItself = false

    init(_ bytes: [UInt8], from start: Int, attributes: Int) {
        (self.bytes, at, mostAttributes) = (bytes, start, attributes)
        out.reserveCapacity(bytes.count + bytes.count / 16)
    }

    /// Why the page looks cut off; nil when it ends as it should or cannot be judged.
    var cut: String? {
        if closesHTML { return nil }
        if let endsInside { return "the HTML document is cut off: it ends inside of \(endsInside)" }
        guard opensHTML else { return nil }
        return
            "the HTML document opens <html> and ends without </html>: it is cut off, or its author leaves the tag out"
    }

    mutating func run() {
        while at < bytes.count, !hasTooManyAttributes {
            if bytes[at] == UInt8(ascii: "<") { markup() } else { copy() }
        }
    }

    private func byte(_ ahead: Int) -> UInt8 { at + ahead < bytes.count ? bytes[at + ahead] : 0 }

    private mutating func copy() {
        let byte = bytes[at]
        at += 1
        if XMLDefects.isControl(byte) {
            hadControls = true
        } else {
            out.append(byte)
        }
    }

    private mutating func markup() {
        let next = byte(1)
        if HTMLScanner.isLetter(next) {
            startTag()
        } else if next == UInt8(ascii: "/"), HTMLScanner.isLetter(byte(2)) {
            endTag()
        } else if next == UInt8(ascii: "!"), byte(2) == UInt8(ascii: "-"), byte(3) == UInt8(ascii: "-") {
            comment()
        } else if next == UInt8(ascii: "!") || next == UInt8(ascii: "?") || next == UInt8(ascii: "/") {
            // A declaration, or what the standard calls a bogus comment.
            at = bytes[at...].firstIndex(of: UInt8(ascii: ">")).map { $0 + 1 } ?? ended("a declaration")
        } else {
            at += 1
            out.append(contentsOf: "&lt;".utf8)
        }
    }

    private mutating func ended(_ place: String) -> Int {
        endsInside = place
        return bytes.count
    }

    private mutating func comment() {
        at += 4
        // `<!-->` and `<!--->` are whole comments.
        if byte(0) == UInt8(ascii: ">") || (byte(0) == UInt8(ascii: "-") && byte(1) == UInt8(ascii: ">")) {
            at += byte(0) == UInt8(ascii: ">") ? 1 : 2
            return
        }
        while let dash = bytes[at...].firstIndex(of: UInt8(ascii: "-")) {
            at = dash
            let bang = byte(2) == UInt8(ascii: "!") ? 1 : 0
            if byte(1) == UInt8(ascii: "-"), byte(2 + bang) == UInt8(ascii: ">") {
                at += 3 + bang
                return
            }
            at += 1
        }
        at = ended("a comment")
    }

    private mutating func endTag() {
        at += 2
        let name = takeTagName()
        let mark = out.count
        guard skipAttributes() else { return }
        out.removeSubrange(mark...)
        if name == "html" { closesHTML = true }
        endTags += 1
        // Each costs libxml2 a walk over all open elements; no page has many that close nothing.
        guard endTags <= startTags + 1000 else { return }
        out.append(contentsOf: "</\(name)>".utf8)
    }

    private mutating func startTag() {
        let mark = out.count
        at += 1
        let name = takeTagName()
        out.append(contentsOf: "<\(name)".utf8)
        guard skipAttributes() else {
            out.removeSubrange(mark...)
            return
        }
        startTags += 1
        if name == "html" { opensHTML = true }
        out.append(contentsOf: closesItself ? "/>".utf8 : ">".utf8)
        guard !closesItself else { return }
        switch name {
        case "script", "style": raw(name, isScript: true)
        case "title", "textarea", "xmp", "iframe", "noembed", "noframes": raw(name, isScript: false)
        default: break
        }
    }

    /// What stands up to the end tag is no markup. In a script not even references are; elsewhere `<` is written as one.
    private mutating func raw(_ name: String, isScript: Bool) {
        let mark = Array("</\(name)".utf8)
        while at < bytes.count {
            guard bytes[at] == UInt8(ascii: "<") else {
                copy()
                continue
            }
            let begins = zip(bytes[at...].prefix(mark.count), mark).allSatisfy { Sniffer.lowercased($0) == $1 }
            let end = byte(mark.count)
            if begins, end <= 0x20 || end == UInt8(ascii: "/") || end == UInt8(ascii: ">") { return }
            at += 1
            // libxml2 would take `</scripture` for the end of a script.
            if isScript && !begins { out.append(UInt8(ascii: "<")) } else { out.append(contentsOf: "&lt;".utf8) }
        }
        endsInside = "<\(name)>"
    }
}

extension HTMLScanner {
    /// In lower case, of the characters that libxml2 takes for a name's.
    private mutating func takeTagName() -> String {
        let start = at
        while at < bytes.count, !HTMLScanner.endsName(bytes[at]) { at += 1 }
        let name = bytes[start..<at].prefix(64).lazy.map(Sniffer.lowercased).filter(HTMLScanner.isNameByte)
        return String(decoding: Array(name), as: UTF8.self)
    }

    /// Writes the attributes and goes behind the `>`; false when the document ends before.
    private mutating func skipAttributes() -> Bool {
        var count = 0
        closesItself = false
        while at < bytes.count {
            let byte = bytes[at]
            if byte == UInt8(ascii: ">") {
                at += 1
                return true
            }
            closesItself = byte == UInt8(ascii: "/")
            if byte <= 0x20 || closesItself {
                at += 1
                continue
            }
            attribute()
            count += 1
            if count > mostAttributes {
                hasTooManyAttributes = true
                return false
            }
        }
        endsInside = "a tag"
        return false
    }

    private mutating func attribute() {
        let start = at
        // A `=` in front belongs to the name.
        at += 1
        while at < bytes.count, !HTMLScanner.endsName(bytes[at]), bytes[at] != UInt8(ascii: "=") { at += 1 }
        let name = bytes[start..<at]
        let value = attributeValue()
        // Names that libxml2 cannot read, such as `@click`, it would skip in its own way.
        guard name.allSatisfy({ HTMLScanner.isNameByte(Sniffer.lowercased($0)) }),
            let first = name.first, HTMLScanner.isLetter(first) || first == UInt8(ascii: "_"), name.count <= 64
        else { return }
        out.append(UInt8(ascii: " "))
        out.append(contentsOf: name.lazy.map(Sniffer.lowercased))
        out.append(contentsOf: "=\"".utf8)
        for byte in bytes[value] {
            if XMLDefects.isControl(byte) {
                hadControls = true
            } else if byte == UInt8(ascii: "\"") {
                out.append(contentsOf: "&quot;".utf8)
            } else {
                out.append(byte)
            }
        }
        out.append(UInt8(ascii: "\""))
    }

    private mutating func attributeValue() -> Range<Int> {
        let name = at
        skipSpace()
        guard byte(0) == UInt8(ascii: "=") else {
            at = name
            return name..<name
        }
        at += 1
        skipSpace()
        let quote = byte(0)
        if quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") {
            at += 1
            let start = at
            at = bytes[at...].firstIndex(of: quote) ?? bytes.count
            defer { at = min(at + 1, bytes.count) }
            return start..<at
        }
        let start = at
        while at < bytes.count, bytes[at] > 0x20, bytes[at] != UInt8(ascii: ">") { at += 1 }
        return start..<at
    }

    private mutating func skipSpace() {
        while at < bytes.count, bytes[at] <= 0x20 { at += 1 }
    }

    private static func endsName(_ byte: UInt8) -> Bool {
        byte <= 0x20 || byte == UInt8(ascii: ">") || byte == UInt8(ascii: "/")
    }

    private static func isLetter(_ byte: UInt8) -> Bool { (0x61...0x7A).contains(byte | 0x20) }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        (0x61...0x7A).contains(byte) || (0x30...0x39).contains(byte) || "-_:.".utf8.contains(byte)
    }
}
