// SPDX-License-Identifier: Apache-2.0

import VedetteCore
import VedetteDocument

/// Requests the next page where the server gives no address for it: by a value in the page, or by a count of pages or items.
struct JSONPaging {
    private enum Step {
        /// The value in a column of the document.
        case cursor(Int)
        case page(first: Int)
        case offset(first: Int)
    }

    private enum Place {
        case parameter(String)
        case variable([String])
    }

    private let step: Step
    private let place: Place
    private let more: Int?
    private let total: Int?
    private let size: Int?
    let fingerprint: [String]

    private static let names = ["cursor", "page", "offset", "parameter", "variable", "more", "total", "size"]

    /// Returns nil without the option.
    init?(_ options: Options, _ request: JSONRequest, _ document: inout JSONColumns) throws(OptionProblem) {
        let map = options.map("paging")
        guard options["paging"] != nil else { return nil }
        for (name, _) in map where !JSONPaging.names.contains(name) {
            let meant = didYouMean(name, among: JSONPaging.names) ?? ""
            throw OptionProblem("paging", name, detail: "unknown option \(quoted(name)) of 'paging'\(meant)")
        }
        let texts = Dictionary(map.map { ($0.name, $0.value) }) { first, _ in first }
        func column(_ name: String) throws(OptionProblem) -> Int? {
            guard let text = texts[name] else { return nil }
            return try document.add(text, ["paging", name])
        }
        size = try JSONPaging.number("size", in: texts, from: 1)
        (more, total) = (try column("more"), try column("total"))
        step = try JSONPaging.step(texts, cursor: try column("cursor"), size: size)
        place = try JSONPaging.place(texts, request)
        fingerprint = map.flatMap { [$0.name, $0.value] }
        if total != nil, size == nil {
            throw OptionProblem("paging", "total", detail: "'total' needs 'size', the number of items on a page")
        }
    }

    private static func step(_ texts: [String: String], cursor: Int?, size: Int?) throws(OptionProblem) -> Step {
        let page = try number("page", in: texts, from: 0)
        let offset = try number("offset", in: texts, from: 0)
        switch (cursor, page, offset) {
        case (let cursor?, nil, nil): return .cursor(cursor)
        case (nil, let page?, nil): return .page(first: page)
        case (nil, nil, let offset?):
            if size == nil {
                throw OptionProblem("paging", "offset", detail: "'offset' needs 'size'; write the page's size")
            }
            return .offset(first: offset)
        default:
            throw OptionProblem(
                "paging", detail: "'paging' needs one of 'cursor' (a path), 'page' and 'offset' (the first number)")
        }
    }

    private static func place(_ texts: [String: String], _ request: JSONRequest) throws(OptionProblem) -> Place {
        switch (texts["parameter"], texts["variable"]) {
        case (let name?, nil): return .parameter(name)
        case (nil, let path?):
            guard request.body?.members != nil else {
                throw OptionProblem("paging", "variable", detail: "'variable' needs a 'body' that is written as a map")
            }
            return .variable(try JSONColumns.path(path, ["paging", "variable"]).steps)
        default:
            throw OptionProblem(
                "paging",
                detail: "'paging' needs 'parameter', the name in the query, or 'variable', the path in the body")
        }
    }

    private static func number(_ name: String, in texts: [String: String], from least: Int) throws(OptionProblem)
        -> Int?
    {
        guard let text = texts[name] else { return nil }
        guard let number = Int(text), (least...1_000_000).contains(number) else {
            throw OptionProblem("paging", name, detail: "'\(name)' must be a whole number from \(least), not '\(text)'")
        }
        return number
    }
}

extension JSONPaging {
    /// Returns the request for the next page; nil on the last page.
    ///
    /// - Parameters:
    ///   - count: the number of the page's items.
    ///   - cells: the document's cells.
    func next(_ page: PageBody, count: Int, _ cells: [JSONCell], _ request: JSONRequest) throws(ReadError) -> NextPage?
    {
        if let more, cells[more].isBlank { return nil }
        guard let value = try value(page.number, count: count, cells), let url = WebURL(page.url) else { return nil }
        switch place {
        case .parameter(let name): return NextPage(url.setting([(name, value.string ?? value.text)]))
        case .variable(let path): return NextPage(page.url, body: request.body(setting: path, to: value))
        }
    }

    /// Returns the value that requests the next page; nil on the last page.
    private func value(_ page: Int, count: Int, _ cells: [JSONCell]) throws(ReadError) -> JSON? {
        switch step {
        case .cursor(let column):
            switch cells[column] {
            case .number(let text): return .number(text)
            case .string(let text) where !text.isEmpty: return .string(text)
            case .missing, .null, .string, .bool(false):
                guard more == nil else {
                    throw ReadError(.shape, "the page announces more pages, but has no cursor; check 'paging'")
                }
                return nil
            default: throw ReadError(.shape, "the cursor is not a single value; check 'cursor' of 'paging'")
            }
        case .page(let first): return try isLast(page, count, cells) ? nil : .number(first + page)
        case .offset(let first): return try isLast(page, count, cells) ? nil : .number(first + page * (size ?? 0))
        }
    }

    /// True when a page is shorter than its size. When the total contradicts that, the size is wrong and items would be skipped,
    /// which is an error.
    private func isLast(_ page: Int, _ count: Int, _ cells: [JSONCell]) throws(ReadError) -> Bool {
        if let total, let size, let text = cells[total].text, let whole = Int(text) {
            if page * size >= whole { return true }
            guard count >= size else {
                throw ReadError(
                    .shape,
                    "page \(page) has \(counted(count, "item")) of \(whole) where 'size' says \(size); correct 'size'")
            }
            return false
        }
        return count < size ?? 1
    }
}
