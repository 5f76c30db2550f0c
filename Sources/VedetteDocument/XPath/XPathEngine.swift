// SPDX-License-Identifier: Apache-2.0
import CXML2

/// One libxml2 evaluation context: of a document, or of an empty one that validates an expression.
final class XPathEngine {
    let context: xmlXPathContextPtr
    private var compiled: [XPath: xmlXPathCompExprPtr] = [:]
    private var namespaces = XPathNamespaces.none
    /// The code and place of the last error that libxml2 reported while compiling or evaluating.
    private var error: (code: Int, at: Int)?

    private let limits: DOMLimits
    private let nodes: UInt
    /// Comparisons of nodes that the expressions on this document may still take.
    private var comparisons: UInt

    /// - Parameter nodes: the number of nodes of the document.
    init?(_ document: xmlDocPtr, _ limits: DOMLimits, nodes: Int) {
        guard let context = xmlXPathNewContext(document) else { return nil }
        self.context = context
        (self.limits, comparisons) = (limits, limits.comparisons)
        self.nodes = UInt(max(nodes, 1))
        context.pointee.opLimit = limits.operations
        XPathCostGuard.install(context)
        context.pointee.userData = Unmanaged.passUnretained(self).toOpaque()
        // Without this callback libxml2 prints errors to standard error.
        context.pointee.error = { user, error in
            guard let user, let error else { return }
            Unmanaged<XPathEngine>.fromOpaque(user).takeUnretainedValue().error = (
                Int(error.pointee.code), Int(error.pointee.int1)
            )
        }
    }

    deinit {
        for expression in compiled.values { xmlXPathFreeCompExpr(expression) }
        xmlXPathFreeContext(context)
    }

    /// The result belongs to the caller, who frees it with `xmlXPathFreeObject`.
    func evaluate(_ path: XPath, at node: xmlNodePtr, position: Int, of count: Int)
        throws(DocumentError) -> xmlXPathObjectPtr
    {
        use(path.namespaces)
        cx_be_silent()
        guard let expression = compiled[path] ?? compile(path.text) else { throw refusal(path) }
        compiled[path] = expression
        context.pointee.node = node
        context.pointee.proximityPosition = Int32(clamping: position)
        context.pointee.contextSize = Int32(clamping: count)
        let (begun, joins) = (context.pointee.opCount, self.joins)
        // To libxml2 a limit of 0 is none.
        guard !path.joinsSets || joins > 0 else { throw tooManySteps(path) }
        context.pointee.opLimit = path.joinsSets ? min(limits.operations, begun + joins) : limits.operations
        defer { if path.joinsSets { charge(XPathEngine.steps(from: begun, to: context.pointee.opCount)) } }
        error = nil
        guard let result = xmlXPathCompiledEval(expression, context) else { throw refusal(path) }
        return result
    }

    /// Steps of the next evaluation that joins node sets. Each adds a node to a set, or compares one with a set, that has no more nodes
    /// than there were steps, nor than the document.
    private var joins: UInt {
        let once = limits.comparisons / 3 / nodes + (nodes <= 60_000 ? 2 * nodes : 0)
        let small = UInt(Double(comparisons / 2).squareRoot())
        return min(once, 2 * small <= nodes ? small : comparisons / nodes)
    }

    /// Returns the steps of an evaluation. A libxml2 that counts anew for each one shows a count that is lower than the one before.
    static func steps(from begun: UInt, to count: UInt) -> UInt { count < begun ? count : count - begun }

    private func charge(_ steps: UInt) {
        comparisons -= min(comparisons, steps * min(2 * steps, nodes))
    }

    private func use(_ wanted: XPathNamespaces) {
        guard wanted != namespaces else { return }
        xmlXPathRegisteredNsCleanup(context)
        for (prefix, uri) in wanted.pairs { xmlXPathRegisterNs(context, prefix, uri) }
        namespaces = wanted
    }

    private func compile(_ text: String) -> xmlXPathCompExprPtr? {
        error = nil
        return xmlXPathCtxtCompile(context, text)
    }

    private func tooManySteps(_ path: XPath) -> DocumentError {
        DocumentError(.tooLarge, "the XPath '\(path)' takes more steps on this document than the limit")
    }

    private func refusal(_ path: XPath) -> DocumentError {
        let code = (error?.code ?? 0) - Int(XML_XPATH_EXPRESSION_OK.rawValue)
        if context.pointee.opCount >= context.pointee.opLimit || code == Int(XPATH_RECURSION_LIMIT_EXCEEDED.rawValue) {
            return tooManySteps(path)
        }
        if code == Int(XPATH_MEMORY_ERROR.rawValue) {
            return DocumentError(.tooLarge, "the XPath '\(path)' yields more nodes than the limit")
        }
        return DocumentError(.wrongShape, "the XPath '\(path)' cannot be evaluated on this document")
    }
}

extension XPathEngine {
    /// Compiles and evaluates on an empty document, which shows the type of the result and what libxml2 finds wrong.
    static func validate(_ text: String, _ namespaces: XPathNamespaces) throws(XPath.Invalid) -> XPath.Result {
        _ = ready
        guard let document = xmlNewDoc("1.0") else { throw XPath.Invalid(text, "there is not enough memory for it") }
        defer { xmlFreeDoc(document) }
        let root = xmlNewDocNode(document, nil, "r", nil)
        _ = xmlDocSetRootElement(document, root)
        var limits = DOMLimits()
        limits.operations = 100_000
        guard let root, let engine = XPathEngine(document, limits, nodes: 1) else {
            throw XPath.Invalid(text, "there is not enough memory for it")
        }
        engine.use(namespaces)
        cx_be_silent()
        guard let expression = engine.compile(text) else { throw engine.invalid(text) }
        defer { xmlXPathFreeCompExpr(expression) }
        engine.context.pointee.node = root
        engine.context.pointee.proximityPosition = 1
        engine.context.pointee.contextSize = 1
        engine.error = nil
        guard let result = xmlXPathCompiledEval(expression, engine.context) else { throw engine.invalid(text) }
        defer { xmlXPathFreeObject(result) }
        switch result.pointee.type {
        case XPATH_NODESET: return .nodes
        case XPATH_STRING: return .text
        case XPATH_NUMBER: return .number
        case XPATH_BOOLEAN: return .boolean
        default: throw XPath.Invalid(text, "it yields nothing that can be read")
        }
    }

    private func invalid(_ text: String) -> XPath.Invalid {
        let code = (error?.code ?? 0) - Int(XML_XPATH_EXPRESSION_OK.rawValue)
        let reason =
            switch code {
            case Int(XPATH_INVALID_TYPE.rawValue): "a value has the wrong type there; a path was expected"
            default: "it breaks the grammar of XPath 1.0"
            }
        guard let at = error?.at, at > 0, at <= text.utf8.count else { return XPath.Invalid(text, reason) }
        let before = String(decoding: text.utf8.prefix(at), as: UTF8.self)
        return XPath.Invalid(text, "\(reason), at or before character \(before.count + (at < text.utf8.count ? 1 : 0))")
    }

    /// libxml2's tables, which it would otherwise fill on first use by whichever thread comes first.
    static let ready: Void = xmlInitParser()
}
