// SPDX-License-Identifier: Apache-2.0

import VedetteCore
import VedetteDocument

/// JSON Feed 1.0 and 1.1 (https://www.jsonfeed.org/version/1.1/).
enum FeedJSON {
    private enum Column: Int, CaseIterable {
        case row, id, url, externalURL, title, html, text, summary, published, modified
        case author, authorText, authors, author1, author2, author3
        case tags, attachment

        var path: JSONPath {
            let steps: [String] =
                switch self {
                case .row: []
                case .id, .url, .title, .summary, .tags: ["\(self)"]
                case .externalURL: ["external_url"]
                case .html: ["content_html"]
                case .text: ["content_text"]
                case .published: ["date_published"]
                case .modified: ["date_modified"]
                case .author: ["author", "name"]
                case .authorText: ["author"]
                case .authors: ["authors", "name"]
                case .author1: ["authors", "0", "name"]
                case .author2: ["authors", "1", "name"]
                case .author3: ["authors", "2", "name"]
                case .attachment: ["attachments", "0", "url"]
                }
            return JSONPath(steps: steps)
        }
    }

    private static let document = [
        ["version"], ["next_url"], ["authors", "0", "name"], ["authors", "name"], ["author", "name"],
    ]

    /// True when the first character is a brace, with which XML never begins.
    static func isJSON(_ bytes: [UInt8]) -> Bool {
        let body = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? bytes[3...] : bytes[...]
        return body.first { $0 > 0x20 } == UInt8(ascii: "{")
    }

    static func read(_ page: inout PageBody, _ options: FeedOptions) throws(ReadError) -> Page {
        let reader = JSONReader(
            items: JSONPath(steps: ["items"]), columns: Column.allCases.map(\.path),
            document: document.map { JSONPath(steps: $0) })
        var items = FeedItems(options, of: page)
        let url = WebURL(page.url)
        var strays = 0
        do {
            let summary = try reader.read(&page.bytes) { row in
                if row.kind(Column.row.rawValue) == .object { items.add(entry(row, url, &items)) } else { strays += 1 }
            }
            guard let version = summary.document[0].text, isVersion(version) else { throw noFeed }
            // Each item without an author gets it, so its length is bounded.
            let author = summary.document[2...].lazy.compactMap(\.string).first { !$0.isEmpty }
            items.finish(authors: author.map { [HTMLText.collapse($0, limit: 200)] } ?? [])
            let next = summary.document[1].string
                .flatMap { FeedLinkResolver.resolve($0, against: url, copying: .max) }
                .flatMap { WebURL($0) == nil ? nil : $0 }
            var mended = summary.warnings.map { "lenient: \($0)" }
            if strays > 0 { mended.append("\(counted(strays, "item")) left out that are no objects") }
            var page = Page(items: items.all, next: next.map { NextPage($0) }, warnings: mended + items.warnings)
            page.sharedKeys = items.sharedKeys
            return page
        } catch let error as DocumentError where error.kind == .wrongShape {
            throw noFeed
        } catch {
            throw ReadError(any: error)
        }
    }

    /// True for the address that the format asks for, and for its bare number, which some programs write.
    private static func isVersion(_ text: String) -> Bool {
        text.contains("jsonfeed.org/version/") || ["1", "1.0", "1.1"].contains(text)
    }

    private static let noFeed = ReadError(
        .wrongType, "a feed was expected, but the response is JSON of another kind; JSON Feed names its version")

    private static func entry(
        _ row: borrowing JSONRow, _ url: WebURL?, _ items: inout FeedItems
    ) -> FeedEntry {
        func text(_ column: Column) -> String? {
            row[column.rawValue].string.flatMap { $0.isEmpty ? nil : $0 }
        }
        func date(_ column: Column) -> Timestamp? {
            switch row.kind(column.rawValue) {
            case .missing, .null: nil
            // A number is one since 1970; anything else is reported.
            default: items.date(row.bytes(column.rawValue))
            }
        }
        var entry = FeedEntry()
        // An id may be a number (JSON Feed 1.1: "coerced to a string").
        entry.id = row.kind(Column.id.rawValue) == .number ? row.string(Column.id.rawValue) : text(.id)
        if row.kind(Column.title.rawValue) == .string {
            entry.offer(
                title: FeedText.plain.read(row.bytes(Column.title.rawValue), limit: TextLimit.title), .own)
        }
        for column in [Column.url, .externalURL] where entry.link == nil {
            entry.link = text(column).flatMap { FeedLinkResolver.resolve($0, against: url) }
        }
        entry.enclosure = text(.attachment).flatMap { FeedLinkResolver.resolve($0, against: url) }
        for (column, form, source) in bodies where row.kind(column.rawValue) == .string && entry.wants(source) {
            entry.offer(form.read(row.bytes(column.rawValue), limit: items.contentLimit), source)
        }
        if let time = date(.published) { entry.offer(published: time, .own) }
        if let time = date(.modified) { entry.offer(updated: time, .own) }
        for column in [Column.author1, .author2, .author3, .authors, .author, .authorText] {
            if let name = text(column) { entry.addAuthor(HTMLText.collapse(name, limit: 200)) }
        }
        for tag in row[Column.tags.rawValue].texts { entry.addCategory(HTMLText.collapse(tag, limit: 200)) }
        return entry
    }

    private static let bodies: [(Column, FeedText, FeedEntry.Body)] = [
        (.text, .plain, .content), (.html, .html, .content), (.summary, .plain, .summary),
    ]
}
