// SPDX-License-Identifier: Apache-2.0
import CXML2

/// A document as a tree that XPath expressions are evaluated on. It is confined to the task that read it.
public final class DOMTree {
    /// The errors that were corrected when the document was read, sorted.
    public let warnings: [DocumentWarning]
    /// Whether a page of HTML has the end tag `</html>`; XML always ends with its root.
    public let hasEndTag: Bool
    let isHTML: Bool
    private let limits: DOMLimits
    private let document: xmlDocPtr
    private let engine: XPathEngine
    /// Results whose nodes a caller may still hold; libxml2 frees copies of namespace nodes with them.
    private var held: [xmlXPathObjectPtr] = []
    private var takenBytes = 0

    /// Takes ownership of the document.
    init(_ document: xmlDocPtr, _ builder: DOMBuilder, warnings: [DocumentWarning], hasEndTag: Bool, limits: DOMLimits)
        throws(DocumentError)
    {
        guard let engine = XPathEngine(document, limits, nodes: builder.nodes) else {
            xmlFreeDoc(document)
            throw DocumentError(.tooLarge, "there is not enough memory for the document")
        }
        (self.document, self.engine) = (document, engine)
        (isHTML, self.limits, self.hasEndTag) = (builder.isHTML, limits, hasEndTag)
        self.warnings = Set(warnings + builder.warnings).sorted()
        // Numbers the elements, so that sorting nodes into document order is cheap.
        xmlXPathOrderDocElems(document)
    }

    deinit {
        for result in held { xmlXPathFreeObject(result) }
        xmlFreeDoc(document)
    }

    /// The document itself, above its root element.
    public var root: DOMNode {
        let node = UnsafeMutableRawPointer(document).assumingMemoryBound(to: xmlNode.self)
        return DOMNode(tree: self, node: node, position: 1, count: 1)
    }

    /// The namespace of the root element.
    public var rootNamespace: String? {
        guard let root = xmlDocGetRootElement(document), let href = root.pointee.ns?.pointee.href else { return nil }
        return String(cString: href)
    }

    /// The nodes that an expression yields, in document order, each once.
    public func nodes(_ path: XPath) throws(DocumentError) -> [DOMNode] {
        let result = try engine.evaluate(path, at: root.node, position: 1, of: 1)
        held.append(result)
        let nodes = try pointers(result, path)
        return nodes.enumerated().map { DOMNode(tree: self, node: $1, position: $0 + 1, count: nodes.count) }
    }

    /// Returns what an expression yields as normalised texts: one for each node in document order, or one for a text, a
    /// number or a truth value. No node, an empty text and NaN give no text.
    public func texts(_ path: XPath, at node: DOMNode) throws(DocumentError) -> [String] {
        let result = try engine.evaluate(path, at: node.node, position: node.position, of: node.count)
        defer { xmlXPathFreeObject(result) }
        switch result.pointee.type {
        case XPATH_NODESET:
            var texts: [String] = []
            for node in try pointers(result, path) { texts.append(try text(node)) }
            return texts
        case XPATH_NUMBER where result.pointee.floatval.isNaN: return []
        case XPATH_NUMBER:
            guard let string = xmlXPathCastToString(result) else { return [] }
            defer { cx_free(string) }
            return [XPathNumber.text(result.pointee.floatval, written: String(cString: string))]
        case XPATH_BOOLEAN, XPATH_STRING:
            let text = try take { out in
                let string = xmlXPathCastToString(result)
                out.append(string)
                cx_free(string)
            }
            return text.isEmpty ? [] : [text]
        default: return []
        }
    }

    /// Returns the text of a node as it is written, of an attribute its value: with white space, and of a script too.
    public func writtenText(_ node: DOMNode) -> String {
        guard let string = xmlXPathCastNodeToString(node.node) else { return "" }
        defer { cx_free(string) }
        return String(cString: string)
    }

    /// Unlinks and frees the nodes that an expression yields. Only the reader may call it, while no caller holds a node.
    func remove(_ path: XPath) throws(DocumentError) {
        let result = try engine.evaluate(path, at: root.node, position: 1, of: 1)
        defer { xmlXPathFreeObject(result) }
        // From the last to the first, so that a node inside another is freed before it.
        for node in try pointers(result, path).reversed() {
            switch node.pointee.type {
            case XML_ATTRIBUTE_NODE:
                let attribute = UnsafeMutableRawPointer(node).assumingMemoryBound(to: xmlAttr.self)
                xmlRemoveProp(attribute)
            case XML_ELEMENT_NODE, XML_TEXT_NODE:
                xmlUnlinkNode(node)
                xmlFreeNode(node)
            default: continue
            }
        }
    }

    private func pointers(_ result: xmlXPathObjectPtr, _ path: XPath) throws(DocumentError) -> [xmlNodePtr] {
        guard result.pointee.type == XPATH_NODESET, let set = result.pointee.nodesetval else { return [] }
        if set.pointee.nodeNr > limits.results {
            throw DocumentError(.tooLarge, "the XPath '\(path)' yields more nodes than the limit")
        }
        xmlXPathNodeSetSort(set)
        return (0..<Int(set.pointee.nodeNr)).compactMap { set.pointee.nodeTab[$0] }
    }

    private func text(_ node: xmlNodePtr) throws(DocumentError) -> String {
        try take { out in
            guard node.pointee.type == XML_NAMESPACE_DECL else { return out.append(node) }
            let string = xmlXPathCastNodeToString(node)
            out.append(string)
            cx_free(string)
        }
    }

    private func take(_ fill: (inout DOMText) -> Void) throws(DocumentError) -> String {
        var out = DOMText(isHTML: isHTML, limit: limits.textBytes - takenBytes)
        fill(&out)
        if out.isFull { throw DocumentError(.tooLarge, "the texts taken from the document are longer than the limit") }
        takenBytes += out.bytes.count
        return out.string
    }
}

/// A node, which keeps its tree alive.
public struct DOMNode {
    let tree: DOMTree
    let node: xmlNodePtr
    /// The node's place in its result, from 1: the value of `position()` outside of all conditions. `count` is `last()`'s.
    let position: Int
    let count: Int
}

extension DOMNode {
    /// The name of an element, in HTML in lower case.
    public var name: String { DOMText.name(node) }

    /// The attributes of an element by their names without prefix; of two with one name that without a namespace.
    public var attributes: [String: String] {
        var values: [String: String] = [:]
        visitAttributes { name, value, namespace in
            if namespace == nil || values[name] == nil { values[name] = value }
        }
        return values
    }

    /// The namespaces of the attributes that have one, by their names without prefix.
    public var attributeNamespaces: [String: String] {
        var namespaces: [String: String] = [:]
        var plain = Set<String>()
        visitAttributes { name, _, namespace in
            if let namespace { namespaces[name] = namespaces[name] ?? namespace } else { plain.insert(name) }
        }
        return namespaces.filter { !plain.contains($0.key) }
    }

    private func visitAttributes(_ visit: (_ name: String, _ value: String, _ namespace: String?) -> Void) {
        guard node.pointee.type == XML_ELEMENT_NODE else { return }
        var attribute = node.pointee.properties
        while let current = attribute {
            let value = current.pointee.children?.pointee.content.map { String(cString: $0) }
            let namespace = current.pointee.ns?.pointee.href.map { String(cString: $0) }
            if let name = current.pointee.name { visit(String(cString: name), value ?? "", namespace) }
            attribute = current.pointee.next
        }
    }

    /// The namespace of an element; nil for none.
    public var namespace: String? { node.pointee.ns?.pointee.href.map { String(cString: $0) } }

    /// The elements inside this one, of HTML those that a browser shows, in the order of the document.
    public var shownElements: [DOMNode] {
        var found: [DOMNode] = []
        var next = node.pointee.children
        while let child = next {
            if child.pointee.type == XML_ELEMENT_NODE, !tree.isHTML || DOMText.isShown(child) {
                found.append(DOMNode(tree: tree, node: child, position: 1, count: 1))
            }
            next = child.pointee.next
        }
        return found
    }
}
