// SPDX-License-Identifier: Apache-2.0

/// Reads the tags of a page and writes them again, in one pass.
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
    private(set) var closesHTML = false
    private var endsInside: String?

    init(_ bytes: [UInt8], from start: Int, attributes: Int) {
        (self.bytes, at, mostAttributes) = (bytes, start, attributes)
        out.reserveCapacity(bytes.count + bytes.count / 16)
    }

    /// Why the page looks cut off; nil when it ends as it should or shows no sign of a cut.
    /// - Parameter needsEndTag: a page that opens `<html>` must close it.
    func cut(needsEndTag: Bool) -> String? {
        if closesHTML { return nil }
        if let endsInside { return "the HTML document is cut off: it ends inside of \(endsInside)" }
        guard opensHTML, needsEndTag else { return nil }
        return "the HTML document opens <html> and ends without </html>: it is cut off, or its author leaves the tag "
            + "out, which 'end: optional' accepts"
    }

    mutating func run() {
        while at < bytes.count, !hasTooManyAttributes {
            if bytes[at] == UInt8(ascii: "<") {
                markup()
            } else if bytes[at] == UInt8(ascii: "&") {
                at = copy(bytes[...], at: at)
            } else {
                append(bytes[at])
                at += 1
            }
        }
    }

    private func byte(_ ahead: Int) -> UInt8 { at + ahead < bytes.count ? bytes[at + ahead] : 0 }

    private mutating func append(_ byte: UInt8) {
        if byte.isControl { hadControls = true } else { out.append(byte) }
    }

    /// Copies a byte of a text, or a reference as the character that HTML means by it. Returns the place behind it.
    /// - Parameter text: what the text is part of.
    private mutating func copy(_ text: ArraySlice<UInt8>, at place: Int) -> Int {
        if text[place] == UInt8(ascii: "&"), let (character, length) = HTMLEntities.unread(text[place...]) {
            out.append(contentsOf: String(character).utf8)
            return place + length
        }
        append(text[place])
        return place + 1
    }

    private mutating func markup() {
        let next = byte(1)
        if next.isLetter {
            startTag()
        } else if next == UInt8(ascii: "/"), byte(2).isLetter {
            endTag()
        } else if bytes[at...].starts(with: "<!--".utf8) {
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

    /// Reads the tag whose name begins at `start` and goes behind it; nil when the document ends inside or a limit is reached.
    private mutating func tag(name start: Int) -> (name: String, MarkupTag)? {
        do throws(MarkupTag.Problem) {
            let tag = try MarkupTag(bytes, name: start, mostAttributes: mostAttributes, isHTML: true)
            at = tag.end
            // The characters that libxml2 takes for a name's.
            let name = tag.name.prefix(64).lazy.map(\.lowercased).filter(HTMLScanner.isNameByte)
            return (String(decoding: Array(name), as: UTF8.self), tag)
        } catch {
            if error == .tooManyAttributes { hasTooManyAttributes = true } else { endsInside = "a tag" }
            at = bytes.count
            return nil
        }
    }

    private mutating func endTag() {
        guard let (name, _) = tag(name: at + 2) else { return }
        if name == "html" { closesHTML = true }
        endTags += 1
        // Each costs libxml2 a walk over all open elements; no page has many that close nothing.
        guard endTags <= startTags + 1000 else { return }
        out.append(contentsOf: "</\(name)>".utf8)
    }

    private mutating func startTag() {
        guard let (name, tag) = tag(name: at + 1) else { return }
        out.append(contentsOf: "<\(name)".utf8)
        for attribute in tag.attributes { write(attribute) }
        out.append(contentsOf: tag.closesItself ? "/>".utf8 : ">".utf8)
        startTags += 1
        if name == "html" { opensHTML = true }
        guard !tag.closesItself else { return }
        switch name {
        case "script", "style": raw(name, isScript: true)
        case "title", "textarea", "xmp", "iframe", "noembed", "noframes": raw(name, isScript: false)
        default: break
        }
    }

    /// Leaves out names that libxml2 cannot read, such as `@click`: it would skip them in its own way.
    private mutating func write(_ attribute: MarkupTag.Attribute) {
        let name = attribute.name
        guard name.allSatisfy({ HTMLScanner.isNameByte($0.lowercased) }), name.count <= 64,
            let first = name.first, first.isLetter || first == UInt8(ascii: "_")
        else { return }
        out.append(UInt8(ascii: " "))
        out.append(contentsOf: name.lazy.map(\.lowercased))
        out.append(contentsOf: "=\"".utf8)
        var place = attribute.value.startIndex
        while place < attribute.value.endIndex {
            if attribute.value[place] == UInt8(ascii: "\"") {
                out.append(contentsOf: "&quot;".utf8)
                place += 1
            } else {
                place = copy(attribute.value, at: place)
            }
        }
        out.append(UInt8(ascii: "\""))
    }

    /// Copies the text up to the end tag, which is no markup. In a script references are text too; elsewhere `<` is escaped.
    private mutating func raw(_ name: String, isScript: Bool) {
        let mark = Array("</\(name)".utf8)
        while at < bytes.count {
            guard bytes[at] == UInt8(ascii: "<") else {
                if !isScript, bytes[at] == UInt8(ascii: "&") {
                    at = copy(bytes[...], at: at)
                } else {
                    append(bytes[at])
                    at += 1
                }
                continue
            }
            let begins = zip(bytes[at...].prefix(mark.count), mark).allSatisfy { $0.lowercased == $1 }
            let end = byte(mark.count)
            if begins, end <= 0x20 || end == UInt8(ascii: "/") || end == UInt8(ascii: ">") { return }
            at += 1
            // libxml2 would take `</scripture` for the end of a script.
            if isScript && !begins { out.append(UInt8(ascii: "<")) } else { out.append(contentsOf: "&lt;".utf8) }
        }
        endsInside = "<\(name)>"
    }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        (0x61...0x7A).contains(byte) || byte.isDigit || "-_:.".utf8.contains(byte)
    }
}
