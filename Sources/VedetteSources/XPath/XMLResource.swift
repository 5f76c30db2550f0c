// SPDX-License-Identifier: Apache-2.0

import VedetteCore
import VedetteDocument

/// Any resource in XML: where its items are, and what of an item is its key, title, state and fields, as XPath.
struct XMLResource: SourceKind {
    static let entry = SourceKindEntry(
        name: "xml", summary: "Any resource in XML, its items and fields named by XPath.",
        options: [
            OptionSpec("items", .text, "XPath of the items.", default: "`/*`, the root element"),
            OptionSpec(
                "key", .oneOrMany(.text), "XPath or XPaths that key an item; several are joined by `/`.",
                default: "`@id`, then `id`"),
            OptionSpec("namespaces", .map(.text), "Prefixes for the expressions: prefix to namespace URI."),
            OptionSpec("ignore", .list(.text), "XPaths of what is removed before anything is read."),
            XPathOptions.title("`title`, `name`, `@title`, `@name`"),
        ] + XPathOptions.rows,
        make: { options throws(OptionProblem) in try XMLResource(options) })

    private let rows: XPathRows
    private let reader: DOMReader
    private let namespaces: Set<String>

    init(_ options: Options) throws(OptionProblem) {
        let paths = try XPathOptions(options)
        let ignored = options.texts("ignore")
        rows = try XPathRows(
            paths,
            XPathRows.Defaults(
                items: "/*", keys: ["@id", "id"], titles: ["title", "name", "@title", "@name"], reading: ignored))
        var removed: [XPath] = []
        for path in try paths.paths("ignore") { removed.append(try paths.nodes(path, ["ignore", path.text])) }
        reader = DOMReader(ignoring: removed)
        namespaces = Set(options.map("namespaces").map(\.value))
    }

    var mode: ReadingMode { rows.mode }
    var identity: UInt64 { rows.identity }
    var fingerprints: [String: UInt64] { rows.fingerprints }
    var fieldNames: [String]? { rows.fieldNames }

    func request(base: String, context: PollContext) -> RequestTemplate {
        RequestTemplate(url: base, headers: [Header("Accept", "application/xml, text/xml;q=0.9, */*;q=0.5")])
    }

    func read(_ page: inout PageBody) throws(ReadError) -> Page {
        let url = WebURL(page.url)
        do {
            let tree = try reader.xml(page.bytes, charset: page.headers.charset)
            try rows.judge(tree)
            var items: [Item] = []
            for node in try rows.rows(tree) {
                items.append(try rows.item(node, tree, base: url, number: items.count + 1))
            }
            return Page(
                items: items, next: try rows.next(tree, base: url, header: LinkHeader.next(page.headers)),
                warnings: tree.warnings.map(\.description) + (items.isEmpty ? hint(tree) : []))
        } catch {
            throw ReadError(any: error)
        }
    }

    /// A name without a prefix means an element in no namespace, which is what most people trip over first.
    private func hint(_ tree: DOMTree) -> [String] {
        guard let namespace = tree.rootNamespace, !namespaces.contains(namespace) else { return [] }
        return [
            "no item was found, and the document is in the namespace \(namespace.prefix(200)), which only a prefix "
                + "reaches: declare one in 'namespaces' and write it before the names"
        ]
    }
}
