// SPDX-License-Identifier: Apache-2.0

import VedetteCore
import VedetteDocument

/// A page of HTML: its rows as items, or the whole page as one item whose text is compared.
struct HTMLPage: SourceKind {
    static let entry = SourceKindEntry(
        name: "html", summary: "A page of HTML: rows of it as items, or its text as one item.",
        options: [
            OptionSpec(
                "items", .text, "XPath of the items.", default: "none: the page is one item with the field `text`"),
            OptionSpec(
                "select", .text, "XPath of what `text` is the text of, where there are no `items`.",
                default: "//body"),
            OptionSpec(
                "key", .oneOrMany(.text), "XPath or XPaths that key an item; several are joined by `/`.",
                default: "`@id`, then the address of the first link"),
            OptionSpec("ignore", .list(.text), "XPaths of what is removed before anything is read."),
            OptionSpec(
                "end", .choice(["required", "optional"]),
                "`optional` accepts a page that opens `<html>` and never closes it, which a cut page does too.",
                default: "required"),
            XPathOptions.title("the row's text; of a page `//title`, then `//h1`"),
        ] + XPathOptions.rows,
        every: .seconds(1800), make: { options throws(OptionProblem) in try HTMLPage(options) })

    /// Of a row, which may be a link itself.
    private static let firstLink = "descendant-or-self::a/@href"

    private let rows: XPathRows
    private let select: XPath
    private let base: XPath
    private let reader: DOMReader
    private let mustEnd: Bool
    let fingerprints: [String: UInt64]

    init(_ options: Options) throws(OptionProblem) {
        let paths = try XPathOptions(options)
        let ignored = options.texts("ignore")
        let isPage = options.text("items") == nil
        for option in ["select", "key"] where options[option] != nil && isPage != (option == "select") {
            let remedy =
                isPage
                ? "a page without 'items' is one item and needs no key" : "'items' names rows; use one of the two"
            throw XPathOptions.problem([option], "'\(option)' is not used here: \(remedy)")
        }
        let titles = isPage ? ["//title", "//h1"] : ["."]
        rows = try XPathRows(
            paths,
            XPathRows.Defaults(
                items: nil, keys: isPage ? [] : ["@id", HTMLPage.firstLink], titles: titles,
                link: isPage ? nil : HTMLPage.firstLink, taken: isPage ? ["text"] : [], reading: ignored))
        if let chosen = try paths.nodes("select") {
            select = chosen
        } else {
            select = try paths.path("//body", ["select"])
        }
        base = try paths.path("//base/@href", ["items"])
        var removed: [XPath] = []
        for path in try paths.paths("ignore") { removed.append(try paths.nodes(path, ["ignore", path.text])) }
        reader = DOMReader(ignoring: removed)
        mustEnd = options.text("end") != "optional"
        var fingerprints = rows.fingerprints
        if isPage { fingerprints["text"] = Digest.of([select.text] + ignored) }
        self.fingerprints = fingerprints
    }

    var mode: ReadingMode { rows.mode }
    var identity: UInt64 { rows.identity }
    var fieldNames: [String]? { rows.fieldNames + (rows.items == nil ? ["text"] : []) }

    func request(base: String, context: PollContext) -> RequestTemplate {
        RequestTemplate(url: base, headers: [Header("Accept", "text/html, application/xhtml+xml, */*;q=0.5")])
    }

    func read(_ page: inout PageBody) throws(ReadError) -> Page {
        do {
            let tree = try reader.html(page.bytes, charset: page.headers.charset, mustEnd: mustEnd)
            try rows.judge(tree)
            let address = WebURL(page.url)
            let named = try tree.texts(base, at: tree.root).first
            let url = named.flatMap { address?.resolving($0) } ?? address
            var items: [Item] = []
            var warnings = tree.warnings.map(\.description)
            if rows.items == nil {
                items = [try whole(tree, page.url, url, &warnings)]
            } else {
                for node in try rows.rows(tree) {
                    items.append(try rows.item(node, tree, base: url, number: items.count + 1))
                }
            }
            return Page(items: items, next: try rows.next(tree, base: url), warnings: warnings)
        } catch {
            throw ReadError(any: error)
        }
    }

    /// The page as one item. Its key is fixed: an address may change with every redirect.
    private func whole(_ tree: DOMTree, _ address: String, _ base: WebURL?, _ warnings: inout [String]) throws -> Item {
        var item = try rows.item(tree.root, tree, base: base, number: 1, key: "page")
        if item.url == nil { item.url = address }
        let texts = try tree.texts(select, at: tree.root)
        if texts.isEmpty {
            throw ReadError(
                .shape, "'\(select)' finds nothing on this page; it has changed its shape, or another page was sent")
        }
        let text = texts.joined(separator: "\n")
        item.fields["text"] = .text(TextLimit.bounded(text))
        if text.utf8.count > TextLimit.mostBytes {
            warnings.append(
                "the text of the page is longer than 64 KiB; of the rest a digest is kept ('select' narrows it)")
        }
        if text.isEmpty { warnings.append("the page has no text; it may be made by scripts, which are not run") }
        return item
    }
}
