// SPDX-License-Identifier: Apache-2.0
import CXML2
import Glibc

/// Hands the elements of one document to a handler: counters, and the element being collected.
final class XMLEngine: XMLParserRun {
    /// The namespaces, base and language that an element sets for all elements below it. Only elements that set one have a scope.
    struct Scope {
        let depth: Int
        let namespaces: Int
        let base: String?
        let language: String?
    }

    private let vocabulary: XMLVocabulary
    private let limits: XMLLimits
    private let handler: any XMLHandler
    // Looked at for every element and piece of text. No callback runs inside another, and none of these is changed while a
    // handler is called but the cache, which only it uses then: the checks at run time would cost a tenth of the reading.
    @exclusivity(unchecked) private var cache = XMLTokenCache()
    @exclusivity(unchecked) private var open: [XMLToken] = []
    @exclusivity(unchecked) private var depth = 0
    @exclusivity(unchecked) private var elements = 0
    @exclusivity(unchecked) private var collected = XMLCollector()
    @exclusivity(unchecked) private(set) var scopes: [Scope] = []
    private var namespaces = 0

    init(_ vocabulary: XMLVocabulary, _ limits: XMLLimits, _ handler: any XMLHandler) {
        self.vocabulary = vocabulary
        self.limits = limits
        self.handler = handler
    }

    func token(_ local: UnsafePointer<UInt8>, _ namespace: UnsafePointer<UInt8>?) -> XMLToken {
        cache.token(local, namespace, vocabulary)
    }

    func parse(_ text: XMLText) throws(DocumentError) {
        xmlFreeDoc(try parse(text, XMLCallbacks.table, chunk: 256 << 10, options: cx_use_options))
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
        if depth == 1, strcasecmp(local, "html") == 0 {
            return fail(DocumentError(.wrongType, DocumentError.pageInsteadOfXML))
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
}
