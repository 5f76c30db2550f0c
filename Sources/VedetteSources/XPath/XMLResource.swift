// SPDX-License-Identifier: Apache-2.0

import VedetteCore
import VedetteDocument

/// Any resource in XML: options name as XPath where its items are, and the key, title, state and fields of an item.
struct XMLResource: PlannedKind {
    static let entry = SourceKindEntry(
        name: "xml", summary: "Any resource in XML, its items and fields named by XPath.",
        options: [
            OptionSpec("items", .text, "XPath of the items.", default: "`/*`, the root element"),
            OptionSpec(
                "key", .oneOrMany(.text), "XPath or XPaths that key an item; several are joined by `/`.",
                default: "`@id`, then `id`"),
            OptionSpec("namespaces", .map(.text), "Prefixes for the expressions: prefix to namespace URI."),
        ] + XPathRequest.options(["GET", "POST", "PROPFIND", "REPORT"])
            + ItemOptions.item("XPath", "XPaths", title: "`title`, `name`, `@title`, `@name`") + XPathRows.options,
        streams: .documents, make: { options throws(OptionProblem) in try XMLResource(options) })

    private let rows: XPathRows
    private let namespaces: Set<String>

    init(_ options: Options) throws(OptionProblem) {
        rows = try XPathRows(
            options, XPathColumns(options), items: "/*", accept: "application/xml, text/xml;q=0.9, */*;q=0.5",
            .init(
                keys: ["@id", "id"], titles: ["title", "name", "@title", "@name"], reading: options.texts("ignore")))
        namespaces = Set(options.map("namespaces").map(\.value))
    }

    var plan: ItemPlan { rows.plan }
    var mode: ReadingMode { rows.mode }
    var identity: UInt64 { rows.identity }

    func request(base: String, context: PollContext) -> RequestTemplate { rows.request.template(base) }

    func refusal(in page: PageBody) -> String? { ErrorDocument.text(of: page, [.xml]) }

    func read(_ page: inout PageBody) throws(ReadError) -> Page {
        let url = WebURL(page.url)
        do {
            let tree = try rows.reader.xml(page.bytes, charset: page.headers.charset)
            try rows.check(tree)
            let list = try rows.read(tree, url: url)
            let hint = list.items.isEmpty ? hint(tree) : []
            var read = Page(
                items: list.items, next: try rows.next(tree, base: url, header: page.headers.nextLink),
                warnings: tree.warnings.map(\.description) + list.warnings + hint)
            read.absences = list.absences
            if hint.isEmpty { read.emptyHint = "'items' finds nothing in the document; correct the XPath" }
            return read
        } catch {
            throw ReadError(any: error)
        }
    }

    /// Explains the mistake that most people make first: a name without a prefix means an element in no namespace.
    private func hint(_ tree: DOMTree) -> [String] {
        guard let namespace = tree.rootNamespace, !namespaces.contains(namespace) else { return [] }
        return [
            "no item was found, and the document is in the namespace \(namespace.prefix(200)), which only a prefix "
                + "reaches: declare one in 'namespaces' and write it before the names"
        ]
    }
}
