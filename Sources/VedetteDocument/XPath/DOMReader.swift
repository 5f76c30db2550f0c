// SPDX-License-Identifier: Apache-2.0
import CXML2

/// Reads XML or HTML into a tree, within limits. It opens nothing: no DTD, no external entity, no network.
public struct DOMReader: Sendable {
    /// The nodes that are removed from every document after it is read.
    public var ignored: [XPath]
    public var limits: DOMLimits

    public init(ignoring ignored: [XPath] = [], limits: DOMLimits = DOMLimits()) {
        (self.ignored, self.limits) = (ignored, limits)
    }

    /// Reads strictly, as `XMLReader` does: the root must be closed, declared entities and default attributes are refused, and
    /// small errors are corrected and become warnings.
    ///
    /// - Parameter charset: the `charset` parameter of the response's Content-Type (RFC 7303).
    public func xml(_ body: [UInt8], charset: String? = nil) throws(DocumentError) -> DOMTree {
        let text = try XMLText.prepare(
            body, charset: charset, maximumBytes: limits.bytes, attributes: limits.attributes)
        _ = XPathEngine.ready
        let builder = DOMBuilder(limits, isHTML: false)
        let document = try builder.parse(text, DOMCallbacks.xml, chunk: 1 << 16, options: cx_use_tree_options)
        return try tree(document, builder, text.warnings)
    }

    /// Reads forgivingly, as libxml2's HTML parser does, after `HTMLDocument` has rewritten the tags.
    ///
    /// - Parameters:
    ///   - charset: the `charset` parameter of Content-Type; a byte order mark beats it, it beats the page's `meta`.
    ///   - mustEnd: refuses a page that ends inside of a tag, a comment or a script as cut.
    ///   - needsEndTag: of such a page, refuses it also when it opens `<html>` and never closes it.
    public func html(
        _ body: [UInt8], charset: String? = nil, mustEnd: Bool = true, needsEndTag: Bool = true
    ) throws(DocumentError) -> DOMTree {
        let page = try HTMLDocument(
            body, charset: charset, mustEnd: mustEnd, needsEndTag: needsEndTag, limits: limits)
        _ = XPathEngine.ready
        let builder = DOMBuilder(limits, isHTML: true)
        guard let parser = htmlNewParserCtxt(), let sax = parser.pointee.sax else {
            throw DocumentError(.tooLarge, "there is not enough memory for the HTML document")
        }
        defer { htmlFreeParserCtxt(parser) }
        sax.pointee = DOMCallbacks.html
        parser.pointee.userData = Unmanaged.passUnretained(builder).toOpaque()
        let document = builder.attach(parser) {
            let document = page.bytes.withUnsafeBytes { buffer in
                cx_read_html(parser, buffer.bindMemory(to: CChar.self).baseAddress, Int32(buffer.count))
            }
            builder.checkGivenUp(parser.pointee.disableSAX != 0)
            return document
        }
        if let failure = builder.failure {
            xmlFreeDoc(document)
            throw failure
        }
        return try tree(document, builder, page.warnings, hasEndTag: page.hasEndTag)
    }

    private func tree(
        _ document: xmlDocPtr?, _ builder: DOMBuilder, _ warnings: [DocumentWarning], hasEndTag: Bool = true
    ) throws(DocumentError) -> DOMTree {
        guard let document else { throw DocumentError(.syntax, "the document could not be read") }
        let tree = try DOMTree(document, builder, warnings: warnings, hasEndTag: hasEndTag, limits: limits)
        for path in ignored { try tree.remove(path) }
        return tree
    }
}
