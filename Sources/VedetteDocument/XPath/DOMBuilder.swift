// SPDX-License-Identifier: Apache-2.0
import CXML2
import Glibc

/// Counts the elements and texts of a document on their way to libxml2's tree builder and stops at a limit. A parser with
/// options alone would build whatever it is sent.
final class DOMBuilder: XMLParserRun {
    private let limits: DOMLimits
    let isHTML: Bool
    private var depth = 0
    private(set) var nodes = 0
    private var weight = 0
    private var scopes: [(depth: Int, count: Int)] = []
    private var namespaces = 0
    /// HTML elements open below the depth limit; they are not built.
    private var flattened = 0

    init(_ limits: DOMLimits, isHTML: Bool) { (self.limits, self.isHTML) = (limits, isHTML) }

    private func fail(_ kind: DocumentError.Kind, _ reason: String) { fail(DocumentError(kind, reason)) }

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
                fail(.wrongType, DocumentError.pageInsteadOfXML)
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

    /// HTML is all errors: only a limit ends it.
    override func report(code: Int, isFatal: Bool, message: String) {
        guard isHTML else { return super.report(code: code, isFatal: isFatal, message: message) }
        if XMLParserRun.isLimit(code) { fail(.tooLarge, "the HTML document is beyond a limit: \(message)") }
    }
}
