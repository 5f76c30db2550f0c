// SPDX-License-Identifier: Apache-2.0

import VedetteCore
import VedetteDocument

/// Any REST resource in JSON: options name as paths where its items are, and the key, title, state and fields of an item.
struct JSONResource: PlannedKind {
    static let entry = SourceKindEntry(
        name: "json", summary: "Any REST resource in JSON, its items and fields named by paths.",
        options: requestOptions + listOptions + ItemOptions.item("Path", "paths", title: "title, then name") + [
            OptionSpec("states", .map(.text), "Names for states: text or glob to name, the first that fits."),
            OptionSpec(
                "html", .oneOrMany(.text), "`title`, fields or notes that hold HTML and are read as plain text."),
        ] + EmbeddedJSON.options, streams: .paths, make: { options throws(OptionProblem) in try JSONResource(options) })

    private static let requestOptions =
        [
            OptionSpec("method", .choice(["GET", "POST"]), "The method.", default: "POST with a `body`, else GET"),
            OptionSpec("body", .json, "The request's body: a map is sent as JSON, a text as it is."),
            OptionSpec(
                "next", .text, "Path of the next page's address in the body; a `Link` header is followed anyway."),
            OptionSpec(
                "paging", .map(.text),
                "How the next page is asked for without an address: one of `cursor`, `page` and `offset`, one of `parameter` and `variable`, and `more`, `total`, `size`."
            ),
        ] + ItemOptions.errors("Path", "paths") + [
            OptionSpec("jq", .text, "A jq program that every body passes through; its output is read."),
            ItemOptions.encoding,
            OptionSpec("jsonp", .flag, "A body may be a call with JSON, `name(…);`.", default: "false"),
        ]

    private static let listOptions = [
        OptionSpec("items", .text, "Path of the array of items.", default: "the root"),
        OptionSpec(
            "map", .text,
            "Path of an object whose members are the items; `.` is the root. The path `$name` is a member's name."),
        OptionSpec(
            "null_is_empty", .flag, "An `items` path that leads to `null` is an empty list.", default: "false"),
        OptionSpec(
            "key", .oneOrMany(.text), "Path or paths that key an item; several are joined by `/`.",
            default:
                "id; an object at the root without it has the source's name; with `map` the member's name; of an item that is a single value that value; with `json_ld` the first of `sku`, `@id`, `productID`, `mpn`, `gtin13`, `gtin`, `name`"
        ),
        ItemOptions.mode,
    ]

    let mode: ReadingMode
    let jqProgram: String?
    let identity: UInt64
    private let items: JSONPath?
    private let itemsAreMembers: Bool
    private let nullIsEmpty: Bool
    private let isJSONP: Bool
    private let encoding: String?
    /// Whether an object at the root may be an item without a key.
    private let mayBeWhole: Bool
    private let columns: JSONColumns
    let plan: ItemPlan
    private let request: JSONRequest
    private let errors: ErrorDetection
    private let paging: JSONPaging?
    private let next: Int?
    private let document: [JSONPath]
    private let records: JSONRecords?
    /// Where the JSON stands in a page of HTML; nil for a body that is JSON.
    private let embedded: EmbeddedJSON?

    init(_ options: Options) throws(OptionProblem) {
        var (document, columns) = (JSONColumns(), JSONColumns(areOfRows: true))
        let map = options.text("map")
        itemsAreMembers = map != nil
        if map != nil, options.text("items") != nil {
            throw OptionProblem("map", detail: "'map' and 'items' exclude each other; 'map' is for an object of items")
        }
        embedded = try EmbeddedJSON(options)
        plan = try ItemPlan(
            options, &columns,
            map != nil
                ? .init(keys: ["$name"], titles: ["title", "name", "$name"])
                : embedded?.isStructuredData == true
                    ? EmbeddedJSON.defaults
                    : .init(keys: ["id"], titles: ["title", "name"], single: ".", keysAreAlternatives: false))
        self.columns = columns
        request = try JSONRequest(options)
        // GraphQL (October 2021) §7.1: a response with errors may hold data beside them, but not all of it.
        errors = try ErrorDetection(
            options, &document, noun: "body", ownErrors: request.isGraphQL ? ["errors.0.message", "errors"] : [])
        paging = try JSONPaging(options, request, &document)
        next = try document.add(options, "next")
        if paging != nil, next != nil {
            throw OptionProblem("next", detail: "'next' and 'paging' exclude each other; remove one")
        }
        records = try options.stream.map { settings throws(OptionProblem) in try JSONRecords(settings, &document) }
        self.document = document.paths
        items = try (map ?? options.text("items")).map { text throws(OptionProblem) in
            try JSONColumns.path(text, [map == nil ? "items" : "map"])
        }
        nullIsEmpty = options.flag("null_is_empty") ?? false
        mayBeWhole = items == nil && options.texts("key").isEmpty
        jqProgram = options.text("jq")
        isJSONP = options.flag("jsonp") ?? false
        encoding = try ItemOptions.encoding(options)
        if jqProgram != nil, let option = ["jsonp", "encoding"].first(where: { options[$0] != nil }) {
            throw OptionProblem(option, detail: "'\(option)' and 'jq' exclude each other: jq reads JSON in UTF-8 alone")
        }
        mode = ItemOptions.mode(options)
        let pages = [options.text("next") ?? ""] + (paging?.fingerprint ?? [])
        identity = StableHash.of(
            [map.map { "map \($0)" } ?? options.text("items") ?? "", mode.rawValue, jqProgram ?? ""]
                + plan.key.expressions
                + request.fingerprint + pages + (encoding.map { ["encoding \($0)"] } ?? [])
                + (embedded?.fingerprint ?? []))
    }

    func request(base: String, context: PollContext) -> RequestTemplate {
        request.template(base, accept: embedded == nil ? "application/json" : "text/html, application/xhtml+xml")
    }

    func refusal(in page: PageBody) -> String? { ErrorDocument.text(of: page, [.json]) }

    func read(_ page: inout PageBody) throws(ReadError) -> Page {
        let found = try embedded?.extract(from: &page)
        let reader = JSONReader(
            items: items, itemsAreMembers: itemsAreMembers, columns: columns.paths, document: document,
            nullIsEmpty: nullIsEmpty, objectIsRow: true)
        var list = ItemList(url: WebURL(page.url))
        // What jq prints is UTF-8, whatever the server says of what jq read.
        if jqProgram == nil, embedded == nil, let name = encoding ?? page.headers.charset,
            PlainText.isOtherThanUTF8(name, page.bytes)
        {
            do throws(DocumentError) {
                let text = try PlainText.decode(page.bytes, charset: page.headers.charset, encoding: encoding)
                page.bytes = Array(text.utf8)
            } catch {
                throw ReadError(error)
            }
        }
        if isJSONP, let json = JSONWrapping.inCall(page.bytes) { page.bytes = json }
        if let event = page.event, let key = records?.deletedKey(page.bytes, event: event) {
            var gone = Page(items: [Item(key: key)])
            gone.record = RecordNote(.deletion)
            return gone
        }
        let summary: JSONReader.Summary
        var note: RecordNote?
        do {
            summary = try reader.read(
                &page.bytes,
                check: { cells in
                    note = page.event.flatMap { records?.note(cells, event: $0) }
                    if note?.hasItems ?? true { try check(cells) }
                }
            ) { row in
                guard note?.hasItems ?? true else { return }
                if row.index == 0 { list.reserve(row.rows) }
                if row.isSingle, let items, try !plan.key.hasValue(row) {
                    throw ReadError(
                        .shape,
                        "items path '\(items)' leads to an object without '\(plan.key.expressions.joined(separator: "', '"))', "
                            + "which keys an item; 'map: \(items)' reads its members as items")
                }
                try plan.read(row, isWhole: mayBeWhole && row.isSingle, into: &list)
            }
        } catch let error where note?.hasItems ?? true {
            throw ReadError(any: error)
        } catch {
            // A record without items need not have the shape of those with items.
            return JSONResource.page(note)
        }
        var read = Page(
            items: list.items, next: note == nil ? try nextPage(page, summary) : nil,
            warnings: (found?.warnings ?? []) + summary.warnings.map(\.description) + list.warnings
                + summary.columnsInLists.map { JSONResource.remark(onListBefore: columns.paths[$0]) })
        read.absences = list.absences
        if itemsAreMembers, !list.items.isEmpty, !list.items.contains(where: \.hasValues) { read.doubt = .valueless }
        read.record = note
        read.hasEndTag = found?.hasEndTag ?? read.hasEndTag
        return read
    }

    private static func remark(onListBefore path: JSONPath) -> String {
        let all = (1..<path.steps.count).map { split in
            JSONPath(steps: Array(path.steps[..<split]), elementSteps: Array(path.steps[split...])).description
        }
        let paths = all.map { "'\($0)'" }.joined(separator: " or ")
        return "'\(path)' leads into a list and is absent; \(paths) is a list of all, and 'jq' picks some"
    }

    private static func page(_ note: RecordNote?) -> Page {
        var page = Page(items: [])
        page.record = note
        return page
    }

    private func check(_ cells: [JSONCell]) throws(ReadError) {
        try errors.check(value: { cells[$0].text }, error: { cells[$0].isBlank ? nil : cells[$0].text })
    }

    private func nextPage(_ page: PageBody, _ summary: JSONReader.Summary) throws(ReadError) -> NextPage? {
        if let paging { return try paging.next(page, count: summary.rows, summary.document, request) }
        let inBody = next.flatMap { summary.document[$0].text }.flatMap { $0.isEmpty ? nil : $0 }
        // A file has one page, whatever it names as the next.
        guard let reference = inBody ?? page.headers.nextLink, let base = WebURL(page.url) else { return nil }
        return try NextPage(reference, from: base)
    }
}
