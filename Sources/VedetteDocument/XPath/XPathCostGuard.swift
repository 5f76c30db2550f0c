// SPDX-License-Identifier: Apache-2.0
import CXML2

/// Charges functions that read the text of a node by the size of that text. libxml2 counts such a call as one step, so
/// `//a[contains(string(/), 'x')]` would read a document of a hundred thousand rows a hundred thousand times.
enum XPathCostGuard {
    static func install(_ context: xmlXPathContextPtr) {
        for (name, _) in metered {
            // libxml2 does not replace a function that is registered.
            xmlXPathRegisterFunc(context, name, nil)
            xmlXPathRegisterFunc(context, name) { parser, count in
                guard let parser, XPathCostGuard.charge(parser, arguments: Int(count)),
                    let name = parser.pointee.context.pointee.function
                else { return }
                let called = String(cString: name)
                XPathCostGuard.metered.first { $0.name == called }?.function(parser, count)
            }
        }
    }

    private static let metered: [(name: String, function: @Sendable (xmlXPathParserContextPtr, Int32) -> Void)] = [
        ("contains", { xmlXPathContainsFunction($0, $1) }),
        ("string", { xmlXPathStringFunction($0, $1) }),
        ("normalize-space", { xmlXPathNormalizeFunction($0, $1) }),
        ("starts-with", { xmlXPathStartsWithFunction($0, $1) }),
        ("concat", { xmlXPathConcatFunction($0, $1) }),
        ("translate", { xmlXPathTranslateFunction($0, $1) }),
        ("substring", { xmlXPathSubstringFunction($0, $1) }),
        ("substring-before", { xmlXPathSubstringBeforeFunction($0, $1) }),
        ("substring-after", { xmlXPathSubstringAfterFunction($0, $1) }),
        ("string-length", { xmlXPathStringLengthFunction($0, $1) }),
        ("number", { xmlXPathNumberFunction($0, $1) }),
        ("sum", { xmlXPathSumFunction($0, $1) }),
    ]

    /// Returns false and sets the error when the remaining steps do not suffice.
    private static func charge(_ parser: xmlXPathParserContextPtr, arguments: Int) -> Bool {
        guard let context = parser.pointee.context else { return false }
        var left = context.pointee.opLimit - min(context.pointee.opCount, context.pointee.opLimit)
        if arguments == 0, let node = context.pointee.node { spend(&left, on: node) }
        let stacked = Int(parser.pointee.valueNr)
        for index in max(0, stacked - arguments)..<stacked {
            guard let value = parser.pointee.valueTab?[index] else { continue }
            spend(&left, on: value)
        }
        context.pointee.opCount = context.pointee.opLimit - left
        if left == 0 { xmlXPathErr(parser, Int32(XPATH_OP_LIMIT_EXCEEDED.rawValue)) }
        return left > 0
    }

    private static func spend(_ left: inout UInt, on value: xmlXPathObjectPtr) {
        if value.pointee.type == XPATH_STRING, let text = value.pointee.stringval {
            return spend(&left, UInt(xmlStrlen(text)) / 64)
        }
        guard value.pointee.type == XPATH_NODESET, let set = value.pointee.nodesetval else { return }
        // All functions but `sum` read only the first of several nodes.
        for index in 0..<Int(set.pointee.nodeNr) {
            guard left > 0, let node = set.pointee.nodeTab[index] else { return }
            spend(&left, on: node)
        }
    }

    private static func spend(_ left: inout UInt, _ steps: UInt) { left -= min(left, steps + 1) }

    /// Charges one step for each node below, and one for each 64 bytes.
    private static func spend(_ left: inout UInt, on top: xmlNodePtr) {
        guard top.pointee.type != XML_NAMESPACE_DECL else { return }
        var node = top
        while left > 0 {
            let isText = node.pointee.type == XML_TEXT_NODE
            spend(&left, isText ? UInt(xmlStrlen(node.pointee.content)) / 64 : 0)
            if !isText, let child = node.pointee.children {
                node = child
                continue
            }
            while node != top, node.pointee.next == nil, let parent = node.pointee.parent { node = parent }
            guard node != top, let next = node.pointee.next else { return }
            node = next
        }
    }
}
