// SPDX-License-Identifier: Apache-2.0
import CXML2

/// One document on its way through libxml2: the parser, its first error, and the rules that elements and trees share.
///
/// It opens nothing: no DTD, no external entity, no XInclude. A document that declares entities or default attributes is refused.
class XMLParserRun {
    private(set) var parser: xmlParserCtxtPtr?
    private(set) var failure: DocumentError?
    private(set) var warnings: [DocumentWarning] = []
    var rootClosed = false
    private var isEnding = false

    /// Stops the parser. The first failure counts.
    func fail(_ error: DocumentError) {
        if failure == nil { failure = error }
        if let parser { xmlStopParser(parser) }
    }

    /// Lends the parser to the run for the time of `body`.
    func attach<R>(_ parser: xmlParserCtxtPtr, _ body: () -> R) -> R {
        self.parser = parser
        defer { self.parser = nil }
        return body()
    }

    /// Parses an XML document.
    ///
    /// - Parameters:
    ///   - chunk: bytes handed over at once. In each chunk libxml2 searches again for an end that it had not found; a chunk that
    ///     is much larger than the processor's cache costs more.
    ///   - options: sets the parser's options.
    /// - Returns: the tree, to be freed by the caller; nil when the callbacks built none.
    func parse(
        _ text: XMLText, _ callbacks: xmlSAXHandler, chunk: Int, options: (xmlParserCtxtPtr) -> Int32
    ) throws(DocumentError) -> xmlDocPtr? {
        var callbacks = callbacks
        guard let parser = cx_push_parser(&callbacks, Unmanaged.passUnretained(self).toOpaque()) else {
            throw DocumentError(.tooLarge, "there is not enough memory for the XML document")
        }
        defer { xmlFreeParserCtxt(parser) }
        _ = options(parser)
        attach(parser) {
            feed(text, parser, chunk)
            checkGivenUp(parser.pointee.errNo == Int32(XML_ERR_NO_MEMORY.rawValue))
        }
        let document = parser.pointee.myDoc
        parser.pointee.myDoc = nil
        if failure == nil, rootClosed { return document }
        xmlFreeDoc(document)
        throw failure
            ?? DocumentError(
                .truncated, "the XML document is cut off before its root element ends", offset: text.bytes.count)
    }

    private func feed(_ text: XMLText, _ parser: xmlParserCtxtPtr, _ chunk: Int) {
        text.bytes.withUnsafeBytes { buffer in
            let all = buffer.bindMemory(to: CChar.self)
            var at = text.start
            while at < all.count, failure == nil {
                let count = min(all.count - at, chunk)
                xmlParseChunk(parser, all.baseAddress.map { $0 + at }, Int32(count), 0)
                at += count
            }
            isEnding = true
            if failure == nil { xmlParseChunk(parser, nil, 0, 1) }
        }
    }

    /// A text of more than ten million bytes makes libxml2 drop everything that follows, and its error handler does not get
    /// the run.
    func checkGivenUp(_ hasGivenUp: Bool) {
        if failure == nil, hasGivenUp {
            fail(DocumentError(.tooLarge, "the document has a text longer than ten million bytes"))
        }
    }

    /// Takes an error that libxml2 reports. What follows a closed root is no part of the document; what is wrong only because the
    /// bytes end is a cut, which `parse` tells by the root.
    func report(code: Int, isFatal: Bool, message: String) {
        if rootClosed {
            if isFatal { warnings.append(.trailingContent) }
        } else if !isFatal {
            if code == Int(XML_NS_ERR_UNDEFINED_NAMESPACE.rawValue) { warnings.append(.namespace) }
        } else if !isEnding {
            let isLimit = XMLParserRun.isLimit(code)
            let what = isLimit ? "the XML document is beyond a limit" : "the XML document is malformed"
            let offset = parser.map { Int(xmlByteConsumed($0)) }
            fail(DocumentError(isLimit ? .tooLarge : .syntax, "\(what): \(message)", offset: offset))
        }
    }

    /// libxml2 reports its own limits (10 MB for one comment or value) as internal errors.
    static func isLimit(_ code: Int) -> Bool {
        code == Int(XML_ERR_INTERNAL_ERROR.rawValue) || code == Int(XML_ERR_NO_MEMORY.rawValue)
    }

    /// The callbacks for declarations and errors. A DOCTYPE is legitimate (RSS 0.91 has one); what it declares is refused before
    /// anything can refer to it.
    static var callbacks: xmlSAXHandler {
        var table = xmlSAXHandler()
        table.initialized = cx_sax2_magic()
        table.entityDecl = { user, _, _, _, _, _ in XMLParserRun.refuse(user, "entities") }
        table.unparsedEntityDecl = { user, _, _, _, _ in XMLParserRun.refuse(user, "entities") }
        table.attributeDecl = { user, _, _, _, _, _, values in
            xmlFreeEnumeration(values)
            XMLParserRun.refuse(user, "default attributes")
        }
        table.serror = { user, error in
            // For a text that is too long, libxml2's tree builder passes its own parser context instead of the user
            // (xmlSAX2ErrMemory of 2.9.14); `checkGivenUp` finds that error.
            guard let error, user != error.pointee.ctxt, let run = XMLParserRun.of(user) else { return }
            let message = error.pointee.message.map { String(cString: $0).prefix(200) } ?? "unknown error"
            run.report(
                code: Int(error.pointee.code), isFatal: cx_is_fatal(error) != 0,
                message: String(message.split(separator: "\n").joined(separator: " ")))
        }
        return table
    }

    private static func of(_ user: UnsafeMutableRawPointer?) -> XMLParserRun? {
        user.map { Unmanaged<XMLParserRun>.fromOpaque($0).takeUnretainedValue() }
    }

    private static func refuse(_ user: UnsafeMutableRawPointer?, _ what: String) {
        of(user)?.fail(
            DocumentError(.entityDeclared, "the XML document declares \(what) in its DOCTYPE, which is refused"))
    }
}
