// SPDX-License-Identifier: Apache-2.0

import VedetteCore
import VedetteDocument

/// Finds the JSON in a page of HTML: its structured data, or what one element contains.
struct EmbeddedJSON: Sendable {
    static let options = [
        OptionSpec(
            "json_ld", .text,
            "The body is a page of HTML; the objects of this schema.org type in its structured data are the items, as `Product`."
        ),
        OptionSpec(
            "script", .text,
            "The body is a page of HTML; the JSON in the element with this id, or in the node of this XPath, is read."),
    ]

    /// Of structured data, the paths that key an object: the first that it has.
    static let defaults = ItemPlan.Defaults(
        keys: ["sku", "@id", "productID", "mpn", "gtin13", "gtin", "name"], titles: ["name", "headline"], link: "url")

    private enum Place: Sendable {
        case type(String)
        case node(XPath)
    }

    private let place: Place
    let fingerprint: [String]

    /// Returns nil without either option.
    init?(_ options: Options) throws(OptionProblem) {
        let names = ["json_ld", "script"].filter { options[$0] != nil }
        guard let name = names.first, let text = options.text(name) else { return nil }
        if names.count > 1 {
            throw OptionProblem("script", detail: "'script' and 'json_ld' exclude each other; remove one")
        }
        if let other = ["jq", "jsonp", "encoding"].first(where: { options[$0] != nil }) {
            throw OptionProblem(
                other, detail: "'\(other)' is for a body that is JSON, but '\(name)' reads a page of HTML")
        }
        if options.stream != nil {
            throw OptionProblem(name, detail: "'\(name)' reads a page of HTML, which no 'stream' sends; remove one")
        }
        fingerprint = ["\(name) \(text)"]
        if name == "json_ld" {
            guard !text.isEmpty, text.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber) }) else {
                throw OptionProblem(name, detail: "'\(text)' is no type of schema.org; write its name, as 'Product'")
            }
            place = .type(text)
        } else {
            place = .node(try EmbeddedJSON.node(text))
        }
    }

    private static func node(_ text: String) throws(OptionProblem) -> XPath {
        guard !text.hasPrefix(XPathColumns.selectorMark) else {
            throw OptionProblem("script", detail: "'script' takes no selector of CSS; write an id, or an XPath")
        }
        let isPath = text.hasPrefix("/") || text.hasPrefix("(")
        guard isPath || !text.isEmpty && !text.contains(where: { $0 == "'" || $0.isWhitespace }) else {
            throw OptionProblem("script", detail: "'\(text)' is neither an id nor an XPath that begins with '/'")
        }
        let path: XPath
        do throws(XPath.Invalid) {
            path = try XPath(isPath ? text : "//*[@id='\(text)']")
        } catch {
            throw OptionProblem("script", detail: "'\(text)' is no XPath that can be read: \(error.reason)")
        }
        guard path.result == .nodes else {
            throw OptionProblem("script", detail: "'\(text)' yields a \(path.result.rawValue); 'script' needs a node")
        }
        return path
    }

    /// Whether the items are the objects of structured data, which are a list.
    var isStructuredData: Bool { if case .type = place { true } else { false } }

    /// What is learnt of the page beside the JSON.
    struct Finding {
        var hasEndTag: Bool
        var warnings: [String]
    }

    /// Puts the JSON in the place of the page.
    func extract(from page: inout PageBody) throws(ReadError) -> Finding {
        do {
            let tree = try DOMReader().html(
                page.bytes, charset: page.headers.charset, mustEnd: true, needsEndTag: page.needsEndTag)
            var warnings = tree.warnings.map(\.description)
            switch place {
            case .type(let type):
                let data = try StructuredData(type, in: tree, url: page.url)
                warnings += data.warnings
                page.bytes = JSON.array(data.objects).bytes
            case .node(let path): page.bytes = try EmbeddedJSON.json(path, in: tree)
            }
            return Finding(hasEndTag: tree.hasEndTag, warnings: warnings)
        } catch {
            throw ReadError(any: error)
        }
    }

    /// Returns the JSON of the only node that a path leads to, corrected where it is not strict.
    private static func json(_ path: XPath, in tree: DOMTree) throws -> [UInt8] {
        let nodes = try tree.nodes(path)
        guard let node = nodes.first else {
            throw ReadError(
                .shape, "'\(path)' finds nothing on this page; the page has changed, or another one was sent")
        }
        guard nodes.count == 1 else {
            throw ReadError(
                .shape, "'\(path)' finds \(nodes.count) nodes on this page; write '(\(path))[1]' for the first")
        }
        let text = Array(tree.writtenText(node).utf8)
        var strict = text
        if (try? JSONBody.check(&strict)) != nil { return strict }
        return ScriptJSON.corrected(text)
    }
}
