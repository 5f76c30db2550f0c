// SPDX-License-Identifier: Apache-2.0

import VedetteCore
import VedetteDocument

/// An entry while it is being read.
struct ConnectionsEntry {
    /// Bytes of a content that are stored and compared.
    static let contentLimit = 2000
    private static let network = "http://www.ibm.com/xmlns/prod/sn/"

    /// The `type` of the text that is being read.
    var textType: String?
    private var id = ""
    private var page: String?
    private var link: String?
    private var title: String?
    private var content: String?
    private var summary: String?
    private var updated: Timestamp?
    private var published: Timestamp?
    private var tags: [String] = []
    private var notes: Fields = [:]

    mutating func set(_ name: String, _ value: String) {
        switch name {
        case "id": id = value.trimmed()
        case "title": title = plain(value, limit: TextLimit.title)
        case "content": content = plain(value, limit: ConnectionsEntry.contentLimit)
        case "summary": summary = plain(value, limit: ConnectionsEntry.contentLimit)
        case "updated": updated = Timestamp(rfc3339: value.trimmed())
        case "published": published = Timestamp(rfc3339: value.trimmed())
        case "name": note("author", value)
        case "userid": note("userid", value)
        default: break
        }
    }

    private func plain(_ value: String, limit: Int) -> String {
        switch textType {
        case "html", "xhtml", "text/html": HTMLText.plain(value, limit: limit)
        default: HTMLText.collapse(value, limit: limit)
        }
    }

    private mutating func note(_ name: String, _ value: String) {
        let value = value.trimmed()
        if !value.isEmpty, notes[name] == nil { notes[name] = .text(value) }
    }

    /// Adds a category. With a scheme of Connections it is the entry's type, component or event; without a scheme it is a tag.
    mutating func add(term: String, scheme: String?) {
        guard let scheme, !scheme.isEmpty else {
            tags.append(term)
            return
        }
        for name in ["type", "component", "event"] where scheme == ConnectionsEntry.network + name { note(name, term) }
    }

    mutating func add(link target: String, relation: String, type: String?) {
        if relation == ConnectionsEntry.network + "container" { note("container", target) }
        guard relation == "alternate" else { return }
        if page == nil, (type ?? "text/html").hasPrefix("text/html") { page = target }
        if link == nil { link = target }
    }

    /// The item of the entry; nil without anything that identifies it at the next poll.
    var item: Item? {
        guard let key = id.isEmpty ? page ?? link : id else { return nil }
        var item = Item(key: key, title: title, url: page ?? link, time: updated ?? published, notes: notes)
        let text = content.flatMap { $0.isEmpty ? nil : $0 } ?? summary ?? ""
        item.fields["content"] = .text(text)
        item.notes["tags"] = tags.isEmpty ? nil : .list(tags)
        item.notes["published"] = published.map { .text($0.rfc3339) }
        item.notes["updated"] = updated.map { .text($0.rfc3339) }
        return item
    }
}
