// SPDX-License-Identifier: Apache-2.0

import VedetteCore
import VedetteDocument

/// Any REST resource in JSON: where its items are, and what of an item is its key, title, state and fields, as paths.
struct JSONResource: SourceKind {
    static let entry = SourceKindEntry(
        name: "json", summary: "Any REST resource in JSON, its items and fields named by paths.",
        options: asked + shown + read, make: { options throws(OptionProblem) in try JSONResource(options) })

    /// How it is asked, and how a reading goes on.
    private static let asked = [
        OptionSpec("method", .choice(["GET", "POST"]), "How it is asked.", default: "POST with a `body`, else GET"),
        OptionSpec("body", .json, "What is sent: a map becomes JSON, a text is sent as it is."),
        OptionSpec(
            "next", .text, "Path of the next page's address in the body; a `Link` header is followed anyway."),
        OptionSpec(
            "paging", .map(.text),
            "How the next page is asked for without an address: one of `cursor`, `page` and `offset`, one of `parameter` and `variable`, and `more`, `total`, `size`."
        ),
        OptionSpec("require", .map(.oneOrMany(.text)), "What a good body says: path to value or values."),
        OptionSpec("error", .oneOrMany(.text), "Path or paths of the text with which a body says that it failed."),
        OptionSpec("jq", .text, "A jq program that every body passes through; what it puts out is read."),
    ]

    /// Which items there are.
    private static let shown = [
        OptionSpec("items", .text, "Path of the array of items.", default: "the root"),
        OptionSpec(
            "null_is_empty", .flag, "An `items` path that leads to `null` is an empty list.", default: "false"),
        OptionSpec("key", .oneOrMany(.text), "Path or paths that key an item.", default: "id"),
        OptionSpec(
            "mode", .choice(["list", "window"]),
            "`list`: what is absent is gone; `window`: only the newest items are shown.", default: "list"),
    ]

    /// What is read of an item.
    private static let read = [
        OptionSpec(
            "title", .oneOrMany(.text), "Path of an item's title; of several the first that is not empty.",
            default: "title, then name"),
        OptionSpec(
            "state", .oneOrMany(.text),
            "Path or paths of an item's state; several are joined by `/` where they are not empty."),
        OptionSpec("states", .map(.text), "Names for states: text or glob to name, the first that fits."),
        OptionSpec("link", .text, "Path of the address where a person looks at an item; it may be relative."),
        OptionSpec(
            "time", .text,
            "Path of the time an item was last changed: ISO 8601, RFC 2822, or a number since 1970."),
        OptionSpec("fields", .map(.text), "Further fields that are compared: name to path."),
        OptionSpec("notes", .map(.text), "Fields that are stored and shown, never compared: name to path."),
        OptionSpec("measures", .map(.text), "Numbers that only bounds are compared with: name to path."),
        OptionSpec("html", .oneOrMany(.text), "`title`, fields or notes that hold HTML and are read as plain text."),
    ]

    let mode: ReadingMode
    let jqProgram: String?
    let fingerprints: [String: UInt64]
    let identity: UInt64
    private let items: JSONPath?
    private let nullIsEmpty: Bool
    private let row: JSONItemPlan
    private let request: JSONRequest
    private let verdict: JSONErrorDetection
    private let paging: JSONPaging?
    private let next: Int?
    private let document: [JSONPath]

    init(_ options: Options) throws(OptionProblem) {
        var document = JSONColumns()
        row = try JSONItemPlan(options)
        request = try JSONRequest(options)
        verdict = try JSONErrorDetection(options, request, &document)
        paging = try JSONPaging(options, request, &document)
        next = try document.add(options, "next")
        if paging != nil, next != nil {
            throw OptionProblem("next", detail: "'next' and 'paging' exclude each other; remove one")
        }
        self.document = document.paths
        items = try options.text("items").map { text throws(OptionProblem) in try JSONColumns.path(text, ["items"]) }
        nullIsEmpty = options.flag("null_is_empty") ?? false
        jqProgram = options.text("jq")
        mode = options.text("mode").flatMap(ReadingMode.init(rawValue:)) ?? .list
        fingerprints = row.fingerprints
        let pages = [options.text("next") ?? ""] + (paging?.fingerprint ?? [])
        identity = Digest.of(
            [options.text("items") ?? "", mode.rawValue, jqProgram ?? ""] + row.keys + request.fingerprint + pages)
    }

    var fieldNames: [String]? { row.names }

    func request(base: String, context: PollContext) -> RequestTemplate { request.ask(base) }

    func read(_ page: inout PageBody) throws(ReadError) -> Page {
        let reader = JSONReader(items: items, columns: row.paths, document: document, nullIsEmpty: nullIsEmpty)
        var found = JSONItems(url: WebURL(page.url))
        let summary: JSONReader.Summary
        do {
            summary = try reader.read(&page.bytes, check: { try verdict.judge($0) }, row: { try row.read($0, &found) })
        } catch {
            throw ReadError(any: error)
        }
        return Page(
            items: found.items, next: try nextPage(page, summary),
            warnings: summary.warnings.map(\.description) + found.warnings)
    }

    private func nextPage(_ page: PageBody, _ summary: JSONReader.Summary) throws(ReadError) -> NextPage? {
        if let paging { return try paging.next(page, count: summary.rows, summary.document, request) }
        let inBody = next.flatMap { summary.document[$0].text }.flatMap { $0.isEmpty ? nil : $0 }
        // A file has one page, whatever it says.
        guard let reference = inBody ?? LinkHeader.next(page.headers), let base = WebURL(page.url) else { return nil }
        return try NextPage(reference, from: base)
    }
}
