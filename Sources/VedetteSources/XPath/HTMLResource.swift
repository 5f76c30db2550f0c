// SPDX-License-Identifier: Apache-2.0

import VedetteCore
import VedetteDocument

/// A page of HTML: its rows as items, or the whole page as one item whose text is compared.
struct HTMLResource: PlannedKind {
    static let entry = SourceKindEntry(
        name: "html", summary: "A page of HTML: rows of it as items, or its text as one item.",
        options: [
            OptionSpec(
                "items", .text, "XPath of the items.", default: "none: the page is one item with the field `text`"),
            OptionSpec(
                "select", .text, "XPath of the nodes whose text is the field `text`, where there are no `items`.",
                default: "//body"),
            OptionSpec(
                "key", .oneOrMany(.text), "XPath or XPaths that key an item; several are joined by `/`.",
                default: "`@id`, then the address of the first link"),
            OptionSpec(
                "end", .choice(["required", "optional"]),
                "Whether a page that opens `<html>` must close it; a cut page does not.",
                default: "required where the last page had it, or nothing else shows that the page is whole"),
        ] + XPathRequest.options(["GET", "POST"])
            + ItemOptions.item("XPath", "XPaths", title: "the row's text; of a page `//title`, then `//h1`")
            + XPathRows.options,
        every: .seconds(1800), make: { options throws(OptionProblem) in try HTMLResource(options) })

    /// The first link of a row, which may be a link itself.
    private static let firstLink = "descendant-or-self::a/@href"

    private let rows: XPathRows
    private let select: XPath
    private let base: XPath
    /// Whether `</html>` is asked for; nil where that depends on the last page and on the transfer.
    private let endIsRequired: Bool?
    private let filter: TextFilter
    /// Whether the page is one text and nothing else that has an order.
    private let hasOneLine: Bool
    let fingerprints: [String: UInt64]

    init(_ options: Options) throws(OptionProblem) {
        let columns = try XPathColumns(options, isHTML: true)
        let ignored = options.texts("ignore")
        let isPage = options.text("items") == nil
        for option in ["select", "key"] where options[option] != nil && isPage != (option == "select") {
            let remedy =
                isPage
                ? "a page without 'items' is one item and needs no key" : "'items' names rows; use one of the two"
            throw OptionProblem(option, detail: "'\(option)' is not used here: \(remedy)")
        }
        rows = try XPathRows(
            options, columns, items: nil, accept: "text/html, application/xhtml+xml, */*;q=0.5",
            isPage
                ? .init(keys: [], titles: ["//title", "//h1"], taken: ["text"], reading: ignored)
                : .init(
                    keys: ["@id", HTMLResource.firstLink], titles: ["."], link: HTMLResource.firstLink, reading: ignored
                ))
        select = try columns.nodes(options.text("select") ?? "//body", ["select"])
        base = try columns.path("//base/@href", ["items"])
        filter = options.filter
        hasOneLine = options.text("select") == nil && options.map("fields").isEmpty
        endIsRequired = options.text("end").map { $0 == "required" }
        var fingerprints = rows.plan.fingerprints
        if isPage { fingerprints["text"] = StableHash.of([select.text] + ignored) }
        self.fingerprints = fingerprints
    }

    var plan: ItemPlan { rows.plan }
    var mode: ReadingMode { rows.mode }
    var identity: UInt64 { rows.identity }
    var doubts: [OptionProblem] {
        guard rows.items == nil, filter.sorts else { return plan.doubts }
        return hasOneLine
            ? [
                OptionProblem(
                    "sort",
                    detail: "'sort' orders nothing here: the text of the page is one line; "
                        + "name its parts as 'select: //li', or remove it")
            ] : []
    }
    var fieldNames: [String]? { rows.plan.names + (rows.items == nil ? ["text"] : []) }

    func request(base: String, context: PollContext) -> RequestTemplate { rows.request.template(base) }

    func refusal(in page: PageBody) -> String? { ErrorDocument.text(of: page, []) }

    func read(_ page: inout PageBody) throws(ReadError) -> Page {
        do {
            let tree = try rows.reader.html(
                page.bytes, charset: page.headers.charset, mustEnd: endIsRequired ?? true,
                needsEndTag: endIsRequired ?? page.needsEndTag)
            try rows.check(tree)
            var url = WebURL(page.url)
            if url != nil, let written = try tree.texts(base, at: tree.root).first {
                url = WebURL.base(written, below: url)
            }
            var list = try rows.read(tree, url: url)
            var warnings = tree.warnings.map(\.description)
            var items = list.items
            if rows.items == nil { items = [try whole(tree, page.url, &list, &warnings)] }
            var read = Page(items: items, next: try rows.next(tree, base: url), warnings: warnings + list.warnings)
            read.absences = list.absences
            read.hasEndTag = tree.hasEndTag
            read.emptyHint = "'items' finds nothing on the page, whose scripts are not run; correct the XPath"
            return read
        } catch {
            throw ReadError(any: error)
        }
    }

    /// Reads the page as one item. Its key is fixed: an address may change with every redirect.
    private func whole(
        _ tree: DOMTree, _ address: String, _ list: inout ItemList, _ warnings: inout [String]
    ) throws -> Item {
        try rows.plan.read(rows.row(tree.root, tree), key: "page", into: &list)
        var item = list.items[0]
        if item.url == nil { item.url = address }
        let texts = try tree.texts(select, at: tree.root)
        if texts.isEmpty {
            throw ReadError(
                .shape, "'\(select)' finds nothing on this page; the page has changed, or another one was sent")
        }
        let text = try list.filtered(whole: texts.joined(separator: "\n"), by: filter)
        item.fields["text"] = .text(TextLimit.bounded(text))
        if text.utf8.count > TextLimit.maximumBytes {
            warnings.append(
                "the text of the page is longer than 64 KiB; of the rest only a digest is kept ('select' narrows it)")
        }
        if text.isEmpty, !list.isEmptied {
            warnings.append("the page has no text; it may be made by scripts, which are not run")
        }
        return item
    }
}
