// SPDX-License-Identifier: Apache-2.0
import CXML2

/// Reads XML by libxml2's SAX2 push parser into the elements that a handler asks for.
///
/// A document counts only when its root was closed. It opens nothing: no DTD, no external entity, no XInclude; a document that
/// declares default attributes, or entities that are no short plain texts (`XMLEntities`), is refused. `XMLSanitizer` corrects small errors before parsing, with warnings;
/// markup that is not well-formed is mended for a handler that can start again, where its meaning is beyond doubt.
public struct XMLReader: Sendable {
    public let vocabulary: XMLVocabulary
    public let limits: XMLLimits

    public init(_ vocabulary: XMLVocabulary, limits: XMLLimits = XMLLimits()) {
        self.vocabulary = vocabulary
        self.limits = limits
    }

    /// Reads a whole document.
    ///
    /// - Parameter charset: the `charset` parameter of the response's Content-Type (RFC 7303: a byte order mark beats it, it
    ///   beats the XML declaration).
    /// - Returns: the errors that were corrected, sorted.
    public func read(
        _ body: [UInt8], charset: String? = nil, handler: any XMLHandler
    ) throws(DocumentError) -> [DocumentWarning] {
        let prepared = try XMLText.prepare(
            body, charset: charset, maximumBytes: limits.bytes, attributes: limits.attributes)
        let engine = XMLEngine(vocabulary, limits, handler)
        do throws(DocumentError) {
            try engine.parse(prepared)
            return Set(prepared.warnings + engine.warnings).sorted()
        } catch {
            let mended = error.kind == .syntax && handler.restart() ? readMended(prepared, handler) : nil
            guard let mended else { throw error }
            return mended
        }
    }

    /// Reads the mended document; nil when it is still malformed, since then the first error is the better one.
    private func readMended(_ prepared: XMLText, _ handler: any XMLHandler) -> [DocumentWarning]? {
        let mended = XMLSanitizer.mend(prepared)
        let engine = XMLEngine(vocabulary, limits, handler)
        do throws(DocumentError) {
            try engine.parse(mended)
        } catch {
            return nil
        }
        return Set(mended.warnings + engine.warnings).sorted()
    }
}
