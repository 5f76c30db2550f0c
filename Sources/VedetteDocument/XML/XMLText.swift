// SPDX-License-Identifier: Apache-2.0

/// A document as UTF-8, with warnings about the errors that were corrected on the way.
struct XMLText {
    var bytes: [UInt8]
    /// The offset of the first byte that is neither byte order mark nor white space.
    var start = 0
    var warnings: [DocumentWarning] = []

    var text: ArraySlice<UInt8> { bytes[start...] }

    /// Decodes a body, refuses what is no XML or too large, and corrects small errors.
    static func prepare(
        _ body: [UInt8], charset: String?, maximumBytes: Int, attributes: Int
    ) throws(DocumentError) -> XMLText {
        var text = try decode(body, charset: charset)
        if text.bytes.count > maximumBytes {
            throw DocumentError(.tooLarge, "the XML document is larger than the limit")
        }
        try checkStart(text.text)
        try XMLEntities.replace(in: &text)
        try XMLSanitizer.sanitize(&text, attributes: attributes)
        return text
    }

    private static func checkStart(_ body: ArraySlice<UInt8>) throws(DocumentError) {
        guard let first = body.first else {
            throw DocumentError(.empty, "the response is empty where XML was expected")
        }
        if Sniffer.isHTML(body) {
            throw DocumentError(.wrongType, DocumentError.pageInsteadOfXML)
        }
        if first == UInt8(ascii: "<") { return }
        let isJSON = first == UInt8(ascii: "{") || first == UInt8(ascii: "[")
        throw DocumentError(.wrongType, "XML was expected, but the response is \(isJSON ? "JSON" : "plain text")")
    }

    /// Decodes by byte order mark, then the response's charset, then the XML declaration, then as UTF-8 (RFC 7303 §3).
    static func decode(_ body: [UInt8], charset: String?) throws(DocumentError) -> XMLText {
        let encoding = try CharacterEncoding.detect(body, charset: charset)
        var text = XMLText(bytes: body, start: encoding.markBytes)
        if let name = encoding.iconvName {
            let (bytes, isClean) = try CharacterDecoder.decode(body[encoding.markBytes...], from: name)
            text = XMLText(bytes: bytes, warnings: isClean ? [] : [.badEncoding])
        } else if !UTF8Check.isValid(body) {
            let body = body[encoding.markBytes...]
            let mended = WindowsText.mended(body)
            text.bytes = mended ?? Array(String(decoding: body, as: UTF8.self).utf8)
            text.start = 0
            text.warnings = [mended == nil ? .badEncoding : .windowsBytes]
        }
        if encoding.contradictsName { text.warnings.append(.charset) }
        text.skipToStart()
        return text
    }

    /// Moves `start` to the XML declaration. Nothing may stand before it, yet some feeds begin with an empty line, a second byte
    /// order mark or an error message of the program that wrote them.
    private mutating func skipToStart() {
        let before = start
        start = XMLProlog.afterSpace(bytes[start...])
        if let declaration = XMLProlog.declaration(in: bytes[start...].prefix(XMLProlog.reach)), declaration > start {
            start = declaration
            warnings.append(.leadingText)
        } else if start > before, Sniffer.begins(bytes[start...], with: "<?xml") {
            warnings.append(.leadingSpace)
        }
    }
}

/// Finds where an XML document begins when something stands before it that does not belong to it.
enum XMLProlog {
    /// Bytes in which a declaration is searched.
    static let reach = 8192

    /// Returns the place after white space and byte order marks. NUL and other control characters count as space: they are
    /// removed everywhere, and here they would hide the beginning.
    static func afterSpace(_ bytes: ArraySlice<UInt8>) -> Int {
        var rest = bytes
        while let first = rest.first {
            if first <= 0x20 {
                rest.removeFirst()
            } else if rest.starts(with: [0xEF, 0xBB, 0xBF]) {
                rest.removeFirst(3)
            } else {
                break
            }
        }
        return rest.startIndex
    }

    /// Returns the place of the XML declaration, at the beginning or after a text, a comment or the HTML of an error message.
    /// Nil when a document without a declaration begins earlier: the text of any document may contain `<?xml`.
    static func declaration(in bytes: ArraySlice<UInt8>) -> Int? {
        let rest = bytes[afterSpace(bytes)...]
        if isDeclaration(rest) { return rest.startIndex }
        guard let first = rest.first, first != UInt8(ascii: "{"), first != UInt8(ascii: "[") else { return nil }
        if first == UInt8(ascii: "<"), !isMessage(rest) { return nil }
        return rest.indices.first { rest[$0] == UInt8(ascii: "<") && isDeclaration(rest[$0...]) }
    }

    private static func isDeclaration(_ bytes: ArraySlice<UInt8>) -> Bool {
        Sniffer.begins(bytes, with: "<?xml") && bytes.dropFirst(5).first.map { $0 <= 0x20 } ?? false
    }

    private static func isMessage(_ bytes: ArraySlice<UInt8>) -> Bool {
        Sniffer.begins(bytes, with: "<!--") || Sniffer.begins(bytes, with: "<br") || Sniffer.begins(bytes, with: "<b>")
            || Sniffer.begins(bytes, with: "<p>") || Sniffer.begins(bytes, with: "<div")
    }
}
