// SPDX-License-Identifier: Apache-2.0
import CXML2
import Glibc

/// Stands between libxml2's parser and its tree builder: counts what is built and stops it at a limit. A parser with options
/// alone would build whatever it is sent.
final class DOMBuilder {
    private let limits: DOMLimits
    let isHTML: Bool
    private(set) var parser: xmlParserCtxtPtr?
    private var depth = 0
    private(set) var nodes = 0
    private var weight = 0
    private var scopes: [(depth: Int, count: Int)] = []
    private var namespaces = 0
    /// HTML elements open below the depth limit; they are not built.
    private var flattened = 0
    private(set) var rootClosed = false
    var failure: DocumentError?
    var ending = false
    var warnings: [DocumentWarning] = []

    init(_ limits: DOMLimits, isHTML: Bool) { (self.limits, self.isHTML) = (limits, isHTML) }

    func attach(_ parser: xmlParserCtxtPtr) { self.parser = parser }

    func fail(_ kind: DocumentError.Kind, _ reason: String) {
        if failure == nil { failure = DocumentError(kind, reason) }
        if let parser { xmlStopParser(parser) }
    }

    /// True when the element may be built.
    func start(_ name: UnsafePointer<UInt8>, declared: Int, attributes: Int) -> Bool {
        guard failure == nil else { return false }
        depth += 1
        nodes += 1 + declared + attributes
        if nodes > limits.nodes { fail(.tooLarge, "the document has more elements and attributes than the limit") }
        if declared + attributes > limits.attributes {
            fail(.tooLarge, "an element has more attributes than the limit")
        }
        enterScope(declared)
        let isTooDeep = depth > min(limits.depth, 250)
        guard isHTML else {
            if isTooDeep { fail(.tooDeep, "the XML is nested deeper than the limit") }
            if depth == 1, strcasecmp(name, "html") == 0 {
                fail(.wrongType, "XML was expected, but the response is an HTML page (a login page?)")
            }
            return failure == nil
        }
        if depth > 2 * limits.depth { fail(.tooDeep, "the HTML is nested deeper than the limit") }
        if isTooDeep { flattened += 1 }
        return !isTooDeep && failure == nil
    }

    /// libxml2 walks through the declarations in force to resolve a prefix: their number is bounded, not only their depth.
    private func enterScope(_ declared: Int) {
        guard declared > 0 else { return }
        namespaces += declared
        scopes.append((depth, declared))
        if namespaces > 256 { fail(.tooLarge, "the XML has more namespaces in force than the limit") }
    }

    /// True when the element was built.
    func end() -> Bool {
        guard failure == nil else { return false }
        defer { depth -= 1 }
        if let scope = scopes.last, scope.depth == depth {
            namespaces -= scope.count
            scopes.removeLast()
        }
        if flattened > 0 {
            flattened -= 1
            return false
        }
        if depth == 1 { rootClosed = true }
        return true
    }

    /// True when the text may be built.
    func text(_ count: Int, isScript: Bool = false) -> Bool {
        guard failure == nil, !(isScript && flattened > 0) else { return false }
        weight += count * (depth + 1)
        if weight > limits.weight {
            fail(.tooLarge, "the document has more text than the limit, or nests it too deeply")
        }
        return failure == nil
    }

    /// A text of more than ten million bytes makes libxml2 drop all that follows, without a word to its error handler.
    func checkWhole() {
        guard failure == nil, let parser else { return }
        let hasGivenUp =
            isHTML ? parser.pointee.disableSAX != 0 : parser.pointee.errNo == Int32(XML_ERR_NO_MEMORY.rawValue)
        if hasGivenUp { fail(.tooLarge, "the document has a text longer than ten million bytes") }
    }

    /// An illness that libxml2 names; the rules are those of `XMLEngine`. HTML is all illness: only a limit ends it.
    func report(code: Int, isFatal: Bool, message: String) {
        let isLimit = code == Int(XML_ERR_INTERNAL_ERROR.rawValue) || code == Int(XML_ERR_NO_MEMORY.rawValue)
        if isHTML {
            if isLimit { fail(.tooLarge, "the HTML document is beyond a limit: \(message)") }
        } else if rootClosed {
            if isFatal { warnings.append(.trailingContent) }
        } else if !isFatal {
            if code == Int(XML_NS_ERR_UNDEFINED_NAMESPACE.rawValue) { warnings.append(.namespace) }
        } else if !ending {
            let what = isLimit ? "the XML document is beyond a limit" : "the XML document is malformed"
            let offset = parser.map { Int(xmlByteConsumed($0)) }
            if failure == nil {
                failure = DocumentError(isLimit ? .tooLarge : .syntax, "\(what): \(message)", offset: offset)
            }
            if let parser { xmlStopParser(parser) }
        }
    }
}
