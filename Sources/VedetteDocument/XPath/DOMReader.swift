// SPDX-License-Identifier: Apache-2.0
import CXML2

/// Reads XML or HTML into a tree, within limits. It opens nothing: no DTD, no external entity, no network.
public struct DOMReader: Sendable {
    /// What is removed from every document before it is asked.
    public var ignored: [XPath]
    public var limits: DOMLimits

    public init(ignoring ignored: [XPath] = [], limits: DOMLimits = DOMLimits()) {
        (self.ignored, self.limits) = (ignored, limits)
    }

    /// Strictly, as `XMLReader` does: the root must be closed, declared entities and default attributes are refused, and small
    /// illnesses are healed and become warnings.
    /// - Parameter charset: the `charset` parameter of the response's Content-Type (RFC 7303).
    public func xml(_ body: [UInt8], charset: String? = nil) throws(DocumentError) -> DOMTree {
        var prepared = try XMLText.decode(body, charset: charset)
        if prepared.bytes.count > limits.bytes {
            throw DocumentError(.tooLarge, "the XML document is larger than the limit")
        }
        try XMLReader.checkStart(prepared.text)
        try XMLDefects.heal(&prepared, attributes: limits.attributes)
        let builder = DOMBuilder(limits, isHTML: false)
        let document = try DOMReader.build(builder, prepared)
        let tree = try DOMTree(document, builder, warnings: prepared.warnings, limits: limits)
        for path in ignored { try tree.remove(path) }
        return tree
    }

    /// Forgivingly, as libxml2's HTML parser does, after `HTMLDocument` has read the tags.
    /// - Parameters:
    ///   - charset: the `charset` parameter of Content-Type; a byte order mark beats it, it beats the page's `meta`.
    ///   - mustEnd: a page that opens `<html>` and never closes it is refused as cut.
    public func html(_ body: [UInt8], charset: String? = nil, mustEnd: Bool = true) throws(DocumentError) -> DOMTree {
        let prepared = try HTMLDocument(body, charset: charset, mustEnd: mustEnd, limits: limits)
        let builder = DOMBuilder(limits, isHTML: true)
        let document = try DOMReader.build(builder, prepared)
        let tree = try DOMTree(document, builder, warnings: prepared.warnings, limits: limits)
        for path in ignored { try tree.remove(path) }
        return tree
    }

    private static func build(_ builder: DOMBuilder, _ text: XMLText) throws(DocumentError) -> xmlDocPtr {
        _ = XPathEngine.ready
        var callbacks = DOMCallbacks.xml
        guard let parser = cx_push_parser(&callbacks, Unmanaged.passUnretained(builder).toOpaque()) else {
            throw DocumentError(.tooLarge, "there is not enough memory for the XML document")
        }
        builder.attach(parser)
        defer { xmlFreeParserCtxt(parser) }
        _ = cx_use_tree_options(parser)
        feed(text, parser, builder)
        builder.checkWhole()
        let document = parser.pointee.myDoc
        parser.pointee.myDoc = nil
        if builder.failure == nil, builder.rootClosed, let document { return document }
        xmlFreeDoc(document)
        throw builder.failure
            ?? DocumentError(
                .truncated, "the XML document is cut off before its root element ends", offset: text.bytes.count)
    }

    private static func feed(_ text: XMLText, _ parser: xmlParserCtxtPtr, _ builder: DOMBuilder) {
        text.bytes.withUnsafeBytes { buffer in
            let all = buffer.bindMemory(to: CChar.self)
            var at = text.start
            while at < all.count, builder.failure == nil {
                let count = min(all.count - at, 1 << 16)
                xmlParseChunk(parser, all.baseAddress.map { $0 + at }, Int32(count), 0)
                at += count
            }
            builder.ending = true
            if builder.failure == nil { xmlParseChunk(parser, nil, 0, 1) }
        }
    }

    private static func build(_ builder: DOMBuilder, _ page: HTMLDocument) throws(DocumentError) -> xmlDocPtr {
        _ = XPathEngine.ready
        guard let parser = htmlNewParserCtxt(), let sax = parser.pointee.sax else {
            throw DocumentError(.tooLarge, "there is not enough memory for the HTML document")
        }
        builder.attach(parser)
        defer { htmlFreeParserCtxt(parser) }
        sax.pointee = DOMCallbacks.html
        parser.pointee.userData = Unmanaged.passUnretained(builder).toOpaque()
        let document = page.bytes.withUnsafeBytes { buffer in
            cx_read_html(parser, buffer.bindMemory(to: CChar.self).baseAddress, Int32(buffer.count))
        }
        builder.checkWhole()
        if builder.failure == nil, let document { return document }
        xmlFreeDoc(document)
        throw builder.failure ?? DocumentError(.syntax, "the HTML document could not be read")
    }
}
