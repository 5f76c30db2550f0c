// SPDX-License-Identifier: Apache-2.0

/// An HTML page as UTF-8 with its tags rewritten, ready for libxml2's parser.
///
/// libxml2 compares each attribute with all before it, so a tag with a million of them would take hours, and its idea of where
/// a tag, a comment or a script ends differs from the HTML standard's. Here the tags are read as the standard reads them
/// (https://html.spec.whatwg.org/multipage/parsing.html#tokenization), bounded, and written so that there is one way left to
/// read them. Comments and declarations are left out.
struct HTMLDocument {
    private(set) var bytes: [UInt8]
    private(set) var warnings: [DocumentWarning]
    /// Whether the page has the end tag `</html>`.
    let hasEndTag: Bool

    init(_ body: [UInt8], charset: String?, mustEnd: Bool, needsEndTag: Bool, limits: DOMLimits) throws(DocumentError) {
        let text = try XMLText.decode(body, charset: CharacterEncoding.nameInHTML(body, charset: charset))
        if text.bytes.count > limits.bytes {
            throw DocumentError(.tooLarge, "the HTML document is larger than the limit")
        }
        try HTMLDocument.checkStart(text.text)
        var scanner = HTMLScanner(text.bytes, from: text.start, attributes: limits.attributes)
        scanner.run()
        if scanner.hasTooManyAttributes {
            throw DocumentError(.tooLarge, "an HTML element has more attributes than the limit")
        }
        if mustEnd, let cut = scanner.cut(needsEndTag: needsEndTag) {
            throw DocumentError(.truncated, cut, offset: text.bytes.count)
        }
        if scanner.startTags == 0 {
            throw DocumentError(.wrongType, "HTML was expected, but the response has no element (plain text?)")
        }
        bytes = scanner.out
        hasEndTag = scanner.closesHTML
        warnings = text.warnings + (scanner.hadControls ? [.controlCharacters] : [])
    }

    private static func checkStart(_ text: ArraySlice<UInt8>) throws(DocumentError) {
        guard let first = text.first else {
            throw DocumentError(.empty, "the response is empty where HTML was expected")
        }
        if first == UInt8(ascii: "{") || first == UInt8(ascii: "[") {
            throw DocumentError(.wrongType, "HTML was expected, but the response is JSON")
        }
        if Sniffer.begins(text, with: "%pdf-") {
            throw DocumentError(.wrongType, "HTML was expected, but the response is a PDF document")
        }
        if Sniffer.begins(text, with: "<?xml"), !Sniffer.isXHTML(text) {
            throw DocumentError(.wrongType, "HTML was expected, but the response is another kind of XML")
        }
    }
}

extension Sniffer {
    /// True for XML whose root, after declarations and comments, is `html`.
    static func isXHTML(_ text: ArraySlice<UInt8>) -> Bool {
        let head = text.prefix(4096)
        return head.indices.contains {
            begins(head[$0...], with: "<html") || begins(head[$0...], with: "<!doctype html")
        }
    }
}
