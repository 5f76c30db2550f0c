// SPDX-License-Identifier: Apache-2.0

import VedetteCore
import VedetteDocument

/// What the kinds `xml` and `html` share: which nodes of a tree are items, and how each is read.
struct XPathRows: Sendable {
    static let options =
        ItemOptions.errors("XPath", "XPaths") + [
            OptionSpec(
                "ignore", .list(.either(.text, .object(TextFilter.ignoreKeys))),
                "XPaths of nodes that are removed before anything is read, and `{regex: …}` for texts."),
            OptionSpec("next", .text, "XPath of the next page's address."), ItemOptions.mode,
        ]

    /// The rows; nil when the whole document is one item.
    let items: XPath?
    let mode: ReadingMode
    let identity: UInt64
    /// Reads a body without the nodes that `ignore` names.
    let reader: DOMReader
    let plan: ItemPlan
    private let columns: [XPath]
    private let next: Int?
    private let errors: ErrorDetection

    let request: XPathRequest

    /// - Parameters:
    ///   - items: the rows where the option is not written; nil for the whole document as one item.
    ///   - accept: the value of Accept.
    init(
        _ options: Options, _ columns: XPathColumns, items standard: String?, accept: String,
        _ defaults: ItemPlan.Defaults
    ) throws(OptionProblem) {
        var columns = columns
        items = try (options.text("items") ?? standard).map { text throws(OptionProblem) in
            try columns.nodes(text, ["items"])
        }
        plan = try ItemPlan(options, &columns, defaults)
        next = try columns.add(options, "next")
        errors = try ErrorDetection(options, &columns, noun: "document")
        var ignored: [XPath] = []
        for text in options.texts("ignore") { ignored.append(try columns.nodes(text, ["ignore", text])) }
        reader = DOMReader(ignoring: ignored)
        self.columns = columns.paths
        mode = ItemOptions.mode(options)
        let spaces = options.map("namespaces").sorted { $0.name < $1.name }.flatMap { [$0.name, $0.value] }
        request = try XPathRequest(options, accept: accept)
        identity = StableHash.of(
            [items?.text ?? "", mode.rawValue] + plan.key.expressions + spaces + request.fingerprint)
    }

    func row(_ node: DOMNode, _ tree: DOMTree, number: Int = 1) -> XPathRow {
        XPathRow(node: node, tree: tree, number: number, paths: columns)
    }

    /// Throws when the document reports a failure of its own.
    func check(_ tree: DOMTree) throws(ReadError) {
        let root = row(tree.root, tree)
        try errors.check(
            value: { column throws(ReadError) in try root.first(column) },
            error: { column throws(ReadError) in try root.text(column) })
    }

    func read(_ tree: DOMTree, url: WebURL?) throws -> ItemList {
        var list = ItemList(url: url)
        let nodes = try items.map { try tree.nodes($0) } ?? []
        for (index, node) in nodes.enumerated() { try plan.read(row(node, tree, number: index + 1), into: &list) }
        return list
    }

    /// The next page's address, absolute.
    ///
    /// - Parameter header: the address that a header names, for a document that names none.
    func next(_ tree: DOMTree, base: WebURL?, header: String? = nil) throws(ReadError) -> NextPage? {
        let named = try next.flatMap { column throws(ReadError) in try row(tree.root, tree).text(column) }
        // A file has one page, whatever it names as the next.
        guard let base, let reference = named ?? header else { return nil }
        return try NextPage(reference, from: base)
    }
}
