// SPDX-License-Identifier: Apache-2.0
import CXML2

/// How much of an XML document is accepted.
public struct XMLLimits: Hashable, Sendable {
    /// Elements inside each other (at most 256, libxml2's own limit).
    public var depth = 256
    public var elements = 2_000_000
    /// Attributes and namespace declarations of one element.
    public var attributes = 256
    /// Bytes of text or markup collected of one element.
    public var textBytes = 4 << 20
    /// Bytes of the document, as UTF-8.
    public var bytes = 64 << 20

    public init() {}
}

/// Reads XML by libxml2's SAX2 push parser into the elements that a handler asks for.
///
/// A document counts only when its root was closed. It opens nothing: no DTD, no external entity, no XInclude; a document that
/// declares entities or default attributes is refused. Small illnesses are healed before parsing and reported as warnings;
/// markup that is not well-formed is mended for a handler that can start again, where its meaning is beyond doubt.
public struct XMLReader: Sendable {
    public let vocabulary: XMLVocabulary
    public let limits: XMLLimits

    public init(_ vocabulary: XMLVocabulary, limits: XMLLimits = XMLLimits()) {
        self.vocabulary = vocabulary
        self.limits = limits
    }

    /// - Parameter charset: the `charset` parameter of the response's Content-Type (RFC 7303: a byte order mark beats it, it
    ///   beats the XML declaration).
    /// - Returns: the illnesses that were healed, sorted.
    public func read(
        _ body: [UInt8], charset: String? = nil, handler: any XMLHandler
    ) throws(DocumentError) -> [DocumentWarning] {
        var prepared = try XMLText.decode(body, charset: charset)
        if prepared.bytes.count > limits.bytes {
            throw DocumentError(.tooLarge, "the XML document is larger than the limit")
        }
        try Self.checkStart(prepared.text)
        try XMLDefects.heal(&prepared, attributes: limits.attributes)
        let engine = XMLEngine(vocabulary, limits, handler)
        do throws(DocumentError) {
            try engine.parse(prepared.bytes, from: prepared.start)
            return Set(prepared.warnings + engine.warnings).sorted()
        } catch {
            let mended = error.kind == .syntax && handler.restart() ? readMended(prepared, handler) : nil
            guard let mended else { throw error }
            return mended
        }
    }

    /// Nil when it still cannot be read: then the first error says more.
    private func readMended(_ prepared: XMLText, _ handler: any XMLHandler) -> [DocumentWarning]? {
        var repair = XMLTagRepair(prepared.bytes, from: prepared.start)
        repair.run()
        let engine = XMLEngine(vocabulary, limits, handler)
        do throws(DocumentError) {
            try engine.parse(repair.out, from: 0)
        } catch {
            return nil
        }
        return Set(prepared.warnings + engine.warnings + repair.warnings).sorted()
    }

    static func checkStart(_ body: ArraySlice<UInt8>) throws(DocumentError) {
        guard let first = body.first else {
            throw DocumentError(.empty, "the response is empty where XML was expected")
        }
        if Sniffer.isHTML(body) {
            throw DocumentError(.wrongType, "XML was expected, but the response is an HTML page (a login page?)")
        }
        if first == UInt8(ascii: "<") { return }
        let isJSON = first == UInt8(ascii: "{") || first == UInt8(ascii: "[")
        throw DocumentError(.wrongType, "XML was expected, but the response is \(isJSON ? "JSON" : "plain text")")
    }
}
