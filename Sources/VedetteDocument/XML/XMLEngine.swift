// SPDX-License-Identifier: Apache-2.0
import CXML2
import Glibc

/// One document on its way through libxml2: counters, the element being collected, and what went wrong.
final class XMLEngine {
    /// What an element sets for all below it. Only elements that set something have one.
    struct Scope {
        let depth: Int
        let namespaces: Int
        let base: String?
        let language: String?
    }

    /// In each chunk libxml2 searches anew for an end that it had not found; a much larger one outgrows the cache.
    private static let chunk = 256 << 10

    private let vocabulary: XMLVocabulary
    private let limits: XMLLimits
    private let handler: any XMLHandler
    private var parser: xmlParserCtxtPtr?
    // Looked at for every element and piece of text. No callback runs inside another, and none of these is changed while a
    // handler is called but the cache, which only it uses then: the checks at run time would cost a tenth of the reading.
    @exclusivity(unchecked) private var cache = XMLTokenCache()
    @exclusivity(unchecked) private var open: [XMLToken] = []
    @exclusivity(unchecked) private var depth = 0
    @exclusivity(unchecked) private var elements = 0
    @exclusivity(unchecked) private var collected = XMLCollector()
    @exclusivity(unchecked) private(set) var scopes: [Scope] = []
    private var namespaces = 0
    private var rootClosed = false
    private var failure: DocumentError?
    private var ending = false
    private(set) var warnings: [DocumentWarning] = []

    init(_ vocabulary: XMLVocabulary, _ limits: XMLLimits, _ handler: any XMLHandler) {
        self.vocabulary = vocabulary
        self.limits = limits
        self.handler = handler
    }

    func token(_ local: UnsafePointer<UInt8>, _ namespace: UnsafePointer<UInt8>?) -> XMLToken {
        cache.token(local, namespace, vocabulary)
    }

    func parse(_ bytes: [UInt8], from start: Int) throws(DocumentError) {
        var callbacks = XMLCallbacks.table
        guard let parser = cx_push_parser(&callbacks, Unmanaged.passUnretained(self).toOpaque()) else {
            throw DocumentError(.tooLarge, "there is not enough memory for the XML document")
        }
        defer { xmlFreeParserCtxt(parser) }
        self.parser = parser
        _ = cx_use_options(parser)
        feed(bytes, from: start, parser)
        self.parser = nil
        if let failure { throw failure }
        if !rootClosed {
            throw DocumentError(
                .truncated, "the XML document is cut off before its root element ends", offset: bytes.count)
        }
    }

    private func feed(_ bytes: [UInt8], from start: Int, _ parser: xmlParserCtxtPtr) {
        bytes.withUnsafeBytes { buffer in
            let all = buffer.bindMemory(to: CChar.self)
            var at = start
            while at < all.count, failure == nil {
                let count = min(all.count - at, XMLEngine.chunk)
                xmlParseChunk(parser, all.baseAddress.map { $0 + at }, Int32(count), 0)
                at += count
            }
            ending = true
            if failure == nil { xmlParseChunk(parser, nil, 0, 1) }
        }
    }

    func fail(_ error: DocumentError) {
        if failure == nil { failure = error }
        if let parser { xmlStopParser(parser) }
    }

    /// An illness that libxml2 names. What follows a closed root is no part of the document; what is wrong only because the
    /// bytes end is a cut, which `parse` tells by the root.
    func report(code: Int, isFatal: Bool, message: String) {
        if rootClosed {
            if isFatal { warnings.append(.trailingContent) }
        } else if !isFatal {
            if code == Int(XML_NS_ERR_UNDEFINED_NAMESPACE.rawValue) { warnings.append(.namespace) }
        } else if !ending {
            // libxml2 calls its own limits (10 MB for one comment or value) internal errors.
            let isLimit = code == Int(XML_ERR_INTERNAL_ERROR.rawValue)
            let what = isLimit ? "the XML document is beyond a limit" : "the XML document is malformed"
            let offset = parser.map { Int(xmlByteConsumed($0)) }
            fail(DocumentError(isLimit ? .tooLarge : .syntax, "\(what): \(message)", offset: offset))
        }
    }

    func start(
        local: UnsafePointer<UInt8>, prefix: UnsafePointer<UInt8>?, namespace: UnsafePointer<UInt8>?, declared: Int,
        attributes: XMLAttributes
    ) {
        depth += 1
        elements += 1
        if let error = overLimit(declared, attributes.count) { return fail(error) }
        enterScope(declared, attributes)
        if collected.isActive {
            if !collected.startTag(local, attributes, limit: limits.textBytes) { failTooLong() }
            return
        }
        if depth == 1, XMLEngine.isHTML(local) {
            return fail(DocumentError(.wrongType, "XML was expected, but the response is an HTML page (a login page?)"))
        }
        // A prefix that is not declared is not "no namespace": `media:title` is not RSS's `title`.
        let isForeign = prefix != nil && namespace == nil
        let element = XMLElement(
            token: isForeign ? vocabulary.token(local: local, undeclared: prefix) : token(local, namespace),
            depth: depth, engine: self, local: local, namespaceURI: namespace, attributes: attributes)
        do throws(DocumentError) {
            let action = try handler.start(element)
            open.append(element.token)
            if action != .enter { collected.begin(action, at: depth) }
        } catch {
            fail(error)
        }
    }

    private func overLimit(_ declared: Int, _ attributes: Int) -> DocumentError? {
        if depth > min(limits.depth, 256) { return DocumentError(.tooDeep, "the XML is nested deeper than the limit") }
        if elements > limits.elements { return DocumentError(.tooLarge, "the XML has more elements than the limit") }
        if attributes + declared > limits.attributes {
            return DocumentError(.tooLarge, "an XML element has more attributes than the limit")
        }
        return nil
    }

    /// libxml2 searches all declarations in force for every element: their number is bounded, not only their depth.
    private func enterScope(_ declared: Int, _ attributes: XMLAttributes) {
        var base: String?
        var language: String?
        for index in 0..<attributes.count where !collected.isActive && attributes.prefix(index) != nil {
            guard attributes.namespace(index).map({ strcmp($0, "http://www.w3.org/XML/1998/namespace") == 0 }) == true
            else { continue }
            let value = String(decoding: attributes.value(index), as: UTF8.self)
            switch String(cString: attributes.local(index)) {
            case "base": base = value
            case "lang": language = value
            default: break
            }
        }
        guard declared > 0 || base != nil || language != nil else { return }
        namespaces += declared
        scopes.append(Scope(depth: depth, namespaces: declared, base: base, language: language))
        if namespaces > 1024 { fail(DocumentError(.tooLarge, "the XML has more namespaces in force than the limit")) }
    }

    func text(_ bytes: UnsafeBufferPointer<UInt8>) {
        if !collected.text(bytes, limit: limits.textBytes) { failTooLong() }
    }

    private func failTooLong() { fail(DocumentError(.tooLarge, "the text of an XML element is longer than the limit")) }

    func end(local: UnsafePointer<UInt8>) {
        defer { depth -= 1 }
        if let scope = scopes.last, scope.depth == depth {
            namespaces -= scope.namespaces
            scopes.removeLast()
        }
        if collected.isActive, depth > collected.depth { return collected.endTag(local) }
        let token = open.popLast() ?? .unknown
        if depth == 1 { rootClosed = true }
        if collected.finish() == .skip { return }
        defer { collected.clear() }
        collected.bytes.withUnsafeBufferPointer { bytes in
            do throws(DocumentError) {
                try handler.end(XMLEnd(token: token, depth: depth, bytes: bytes))
            } catch {
                fail(error)
            }
        }
    }

    private static func isHTML(_ name: UnsafePointer<UInt8>) -> Bool { strcasecmp(name, "html") == 0 }
}
