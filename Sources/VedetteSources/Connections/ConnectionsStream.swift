// SPDX-License-Identifier: Apache-2.0

import VedetteCore
import VedetteDocument

/// Reads one page of the JSON activity stream of Connections 4 and later.
enum ConnectionsStream {
    private enum Column: Int, CaseIterable {
        case id, plainTitle, title, updated, published, page, item, summary, content
        case author, person, application, type, event, container, tags

        var path: JSONPath {
            let context = ["openSocial", "embed", "context"]
            let steps: [String] =
                switch self {
                case .id, .title, .updated, .published, .content: ["\(self)"]
                case .plainTitle: ["connections", "plainTitle"]
                case .page: ["object", "url"]
                case .item: context + ["itemUrl"]
                case .summary: ["object", "summary"]
                case .author: ["actor", "displayName"]
                case .person: ["actor", "id"]
                case .application: ["generator", "id"]
                case .type: ["object", "objectType"]
                case .event: context + ["eventType"]
                case .container: ["connections", "containerName"]
                case .tags: ["object", "tags"]
                }
            return JSONPath(steps: steps)
        }
    }

    static func read(_ page: inout PageBody) throws(ReadError) -> Page {
        let url = WebURL(page.url)
        let reader = JSONReader(
            items: JSONPath(steps: ["list"]), columns: Column.allCases.map(\.path),
            document: [JSONPath(steps: ["startIndex"])])
        var items: [Item] = []
        do {
            let summary = try reader.read(&page.bytes) { row in items.append(try item(row, url: url)) }
            let start = summary.document.first?.text.flatMap { Int($0) }
            return Page(
                items: items, next: url.flatMap { next(items.count, start: start, of: $0) },
                warnings: summary.warnings.map(\.description))
        } catch {
            throw ReadError(any: error)
        }
    }

    private static let overlap = 10

    /// Returns the next page. Pages are counted until one is empty, because the stream names no next page and no total.
    private static func next(_ count: Int, start: Int?, of url: WebURL) -> NextPage? {
        let asked = url.parameter("startIndex").flatMap { Int($0) } ?? 0
        guard count > 0 else { return nil }
        // A server that always begins at 0 has no pages: its own address as the next one is reported as a gap.
        guard start == nil || start == asked else { return NextPage(url.text) }
        // A deletion moves rows of the next page into this one while they are read, so a few rows are read twice.
        let step = count > overlap ? count - overlap : count
        return NextPage(url.setting([("startIndex", String(asked.addingReportingOverflow(step).partialValue))]))
    }

    private static func item(_ row: borrowing JSONRow, url: WebURL?) throws(ReadError) -> Item {
        func text(_ column: Column, _ row: borrowing JSONRow) -> String? {
            row[column.rawValue].string.flatMap { $0.isEmpty ? nil : $0 }
        }
        guard let id = text(.id, row) else {
            throw ReadError(.shape, "story number \(row.index + 1) of the stream has no id")
        }
        let title =
            text(.plainTitle, row).map(plain) ?? text(.title, row).map { HTMLText.plain($0, limit: TextLimit.title) }
        var item = Item(key: id, title: title)
        item.url = (text(.page, row) ?? text(.item, row)).map { link in
            url?.resolving(link, copying: WebURL.longestBase)?.text ?? link
        }
        let updated = text(.updated, row).flatMap { Timestamp(rfc3339: $0) }
        let published = text(.published, row).flatMap { Timestamp(rfc3339: $0) }
        item.time = updated ?? published
        let content = text(.content, row) ?? text(.summary, row) ?? ""
        item.fields["content"] = .text(HTMLText.plain(content, limit: ConnectionsEntry.contentLimit))
        item.notes["author"] = text(.author, row).map { .text(plain($0)) }
        item.notes["userid"] = text(.person, row).map { .text(userid($0)) }
        item.notes["type"] = text(.type, row).map(Value.text)
        item.notes["component"] = text(.application, row).map(Value.text)
        item.notes["event"] = text(.event, row).map(Value.text)
        item.notes["container"] = text(.container, row).map { .text(plain($0)) }
        let tags = row[Column.tags.rawValue].elements.compactMap(tag)
        item.notes["tags"] = tags.isEmpty ? nil : .list(tags)
        item.notes["published"] = published.map { .text($0.rfc3339) }
        item.notes["updated"] = updated.map { .text($0.rfc3339) }
        return item
    }

    /// Decodes the entities of a text that the server calls plain; a `<` in it is text.
    private static func plain(_ text: String) -> String {
        HTMLText.plain(text, limit: TextLimit.title, keepsUnknownTags: true)
    }

    /// Returns the name of a tag, which is an object.
    private static func tag(_ json: String) -> String? {
        (try? JSON(parsing: Array(json.utf8)))?["displayName"]?.string.map(plain)
    }

    /// Returns the `id` of `urn:lsid:lconn.ibm.com:profiles.person:ID` as other resources write it.
    private static func userid(_ text: String) -> String {
        text.hasPrefix("urn:") ? text.split(separator: ":").last.map { $0.lowercased() } ?? text : text
    }
}
