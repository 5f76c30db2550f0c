// SPDX-License-Identifier: Apache-2.0

/// Replaces the entities that a document declares as short plain texts, so that nothing is left for a parser to expand.
///
/// A DOCTYPE that declares anything else, or an entity that contains another, stays as it is: the parser refuses it.
struct XMLEntities {
    /// Bytes of one entity's text.
    private static let longestText = 1024
    private static let maximumEntities = 256
    /// Bytes by which all references together may lengthen a document.
    private static let maximumGrowth = 1 << 20

    private let bytes: [UInt8]
    private var at: Int
    private var texts: [ArraySlice<UInt8>: [UInt8]] = [:]

    /// Replaces the references and removes the declarations, where all of them are plain.
    static func replace(in text: inout XMLText) throws(DocumentError) {
        guard let start = doctype(text.text) else { return }
        var entities = XMLEntities(bytes: text.bytes, at: start)
        guard let subset = entities.readSubset(), !entities.texts.isEmpty else { return }
        text.bytes = try entities.replaced(from: text.start, without: subset)
        text.start = 0
    }

    private init(bytes: [UInt8], at: Int) { (self.bytes, self.at) = (bytes, at) }

    /// Finds a DOCTYPE behind the declaration, comments and white space.
    private static func doctype(_ text: ArraySlice<UInt8>) -> Int? {
        var rest = text
        while true {
            rest = rest.drop(while: \.isSpace)
            if rest.starts(with: "<!DOCTYPE".utf8) { return rest.startIndex }
            guard let end = ["<?": "?>", "<!--": "-->"].first(where: { rest.starts(with: $0.key.utf8) })?.value,
                let place = XMLEntities.end(of: end, in: rest)
            else { return nil }
            rest = rest[place...]
        }
    }

    private static func end(of mark: String, in bytes: ArraySlice<UInt8>) -> Int? {
        let mark = Array(mark.utf8)
        guard bytes.count >= mark.count else { return nil }
        return (bytes.startIndex...(bytes.endIndex - mark.count)).first { bytes[$0...].starts(with: mark) }
            .map { $0 + mark.count }
    }

    // MARK: Declarations

    /// Reads an internal subset that declares plain entities alone.
    ///
    /// - Returns: the range from `[` to `]`; nil when there is none, or when it declares anything else.
    private mutating func readSubset() -> Range<Int>? {
        guard let open = bytes[at...].firstIndex(where: { $0 == UInt8(ascii: "[") || $0 == UInt8(ascii: ">") }),
            bytes[open] == UInt8(ascii: "[")
        else { return nil }
        at = open + 1
        while true {
            skipSpace()
            guard at < bytes.count else { return nil }
            if bytes[at] == UInt8(ascii: "]") { return open..<(at + 1) }
            if bytes[at...].starts(with: "<!--".utf8) {
                guard let end = XMLEntities.end(of: "-->", in: bytes[at...]) else { return nil }
                at = end
            } else if !readEntity() {
                return nil
            }
        }
    }

    private mutating func skipSpace() { while at < bytes.count, bytes[at].isSpace { at += 1 } }

    /// Reads `<!ENTITY name "text">`.
    private mutating func readEntity() -> Bool {
        guard bytes[at...].starts(with: "<!ENTITY".utf8), texts.count < XMLEntities.maximumEntities else {
            return false
        }
        at += 8
        skipSpace()
        let name = bytes[at...].prefix(
            64, while: { $0.isLetter || $0.isDigit || $0 == UInt8(ascii: "_") || $0 == UInt8(ascii: "-") })
        at = name.endIndex
        skipSpace()
        guard !name.isEmpty, at < bytes.count, bytes[at] == UInt8(ascii: "\"") || bytes[at] == UInt8(ascii: "'") else {
            return false
        }
        let quote = bytes[at]
        guard let end = bytes[(at + 1)...].prefix(XMLEntities.longestText + 1).firstIndex(of: quote),
            let text = XMLEntities.plain(bytes[(at + 1)..<end])
        else { return false }
        at = end + 1
        skipSpace()
        guard at < bytes.count, bytes[at] == UInt8(ascii: ">") else { return false }
        at += 1
        // The first declaration of a name counts (XML 1.0 §4.2).
        if texts[name] == nil { texts[name] = text }
        return true
    }

    /// Returns a text with its character references resolved and its special characters escaped; nil when it contains markup or
    /// refers to another entity.
    private static func plain(_ text: ArraySlice<UInt8>) -> [UInt8]? {
        var out: [UInt8] = []
        var rest = text
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "<"), UInt8(ascii: "%"): return nil
            case UInt8(ascii: "&"):
                guard rest.first == UInt8(ascii: "#"), let end = rest.firstIndex(of: UInt8(ascii: ";")),
                    let code = characterCode(rest[(rest.startIndex + 1)..<end]), code != 0x26, code != 0x3C,
                    code >= 0x20, let scalar = Unicode.Scalar(code)
                else { return nil }
                out += Array(String(scalar).utf8)
                rest = rest[(end + 1)...]
            case UInt8(ascii: "\""): out += Array("&quot;".utf8)
            case UInt8(ascii: "'"): out += Array("&#39;".utf8)
            case UInt8(ascii: ">"): out += Array("&gt;".utf8)
            default: out.append(byte)
            }
        }
        return out
    }

    // MARK: References

    /// The mark that ends a text in which an `&` is only itself; nil where none begins.
    private static func endOfLiteral(_ bytes: ArraySlice<UInt8>) -> String? {
        if bytes.starts(with: "<![CDATA[".utf8) { return "]]>" }
        return bytes.starts(with: "<!--".utf8) ? "-->" : nil
    }

    private func replaced(from start: Int, without subset: Range<Int>) throws(DocumentError) -> [UInt8] {
        var out = Array(bytes[start..<subset.lowerBound])
        out.reserveCapacity(bytes.count)
        var growth = 0
        var rest = bytes[subset.upperBound...]
        while let next = rest.firstIndex(where: { $0 == UInt8(ascii: "&") || $0 == UInt8(ascii: "<") }) {
            out += rest[..<next]
            rest = rest[next...]
            if let mark = XMLEntities.endOfLiteral(rest) {
                let end = XMLEntities.end(of: mark, in: rest) ?? rest.endIndex
                out += rest[..<end]
                rest = rest[end...]
                continue
            }
            let name = rest.dropFirst().prefix(
                64, while: { $0 != UInt8(ascii: ";") && $0 != UInt8(ascii: "&") && !$0.isSpace })
            guard rest.first == UInt8(ascii: "&"), name.endIndex < rest.endIndex,
                rest[name.endIndex] == UInt8(ascii: ";"), let text = texts[name]
            else {
                out.append(rest.removeFirst())
                continue
            }
            growth += max(0, text.count - name.count - 2)
            guard growth <= XMLEntities.maximumGrowth else {
                throw DocumentError(.tooLarge, "the entities that the XML document declares make it too long")
            }
            out += text
            rest = rest[(name.endIndex + 1)...]
        }
        return out + rest
    }
}

extension ArraySlice<UInt8> {
    /// The longest beginning of at most so many bytes that all satisfy a condition.
    fileprivate func prefix(_ most: Int, while isGood: (UInt8) -> Bool) -> ArraySlice<UInt8> {
        prefix(most).prefix(while: isGood)
    }
}
