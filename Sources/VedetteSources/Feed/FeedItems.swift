// SPDX-License-Identifier: Apache-2.0

import VedetteCore
import VedetteDocument

/// Makes items from entries: chooses the key, keeps each key once, and sorts fields into compared and stored.
struct FeedItems {
    /// Bytes of a title that is the beginning of the content, for an entry without one.
    private static let derivedTitleLimit = 100

    private let options: FeedOptions
    /// When the document was received; dates beyond it are in the future. Zero when unknown.
    private let receivedAt: Timestamp
    private(set) var all: [Item] = []
    private var keys = UniqueKeys()
    private var repeats = 0
    private var future = 0
    private var badDates = 0
    private var badDate: String?
    /// Indices of items without an author: they get the feed's own (RFC 4287 §4.2.1).
    private var authorless: [Int] = []

    /// Whether the document is a file, whose relative links stay relative.
    private let isFile: Bool

    /// - Parameter url: the address of the document.
    init(_ options: FeedOptions, url: String, receivedAt: Timestamp) {
        (self.options, self.receivedAt) = (options, receivedAt)
        isFile = WebURL(url) == nil
    }

    /// Bytes of a content that are read: enough for what is stored, and for the hash, which does not depend on the options.
    var contentLimit: Int { max(options.contentLimit, FeedOptions.standardLimit) }

    /// Reads a date. Programs write 1970-01-01 and earlier for no date at all.
    mutating func date(_ bytes: UnsafeBufferPointer<UInt8>) -> Timestamp? {
        let text = FeedText.trimmed(bytes)
        if text.isEmpty { return nil }
        if let time = FeedDate.parse(text), time.milliseconds >= 86_400_000 { return time }
        badDates += 1
        if badDate == nil { badDate = String(String(decoding: text, as: UTF8.self).prefix(40)) }
        return nil
    }

    mutating func add(_ entry: FeedEntry) {
        let link = entry.page ?? entry.link
        let key = FeedLink.key(entry.id ?? entry.about ?? link ?? entry.enclosure ?? hash(entry))
        guard keys.insert(key, after: all) else {
            repeats += 1
            return
        }
        let content = kept(entry.content ?? "")
        var item = Item(
            key: key, title: entry.title ?? FeedItems.title(entry.content ?? ""), url: address(entry, link))
        item.time = time(entry)
        set("author", entry.authors.isEmpty ? nil : .text(entry.authors.joined(separator: ", ")), &item)
        set("categories", entry.categories.isEmpty ? nil : .list(entry.categories), &item)
        set("content", content.map(Value.text), &item)
        set("enclosure", entry.enclosure.map(Value.text), &item)
        if options.compared.contains("link") { item.fields["link"] = link.map { .text(FeedLink.key($0)) } }
        set("published", entry.published.map { .text($0.rfc3339) }, &item)
        set("updated", entry.updated.map { .text($0.rfc3339) }, &item)
        if entry.authors.isEmpty { authorless.append(all.count) }
        all.append(item)
    }

    mutating func setAuthor(_ names: [String]) {
        guard !names.isEmpty else { return }
        for index in authorless { set("author", .text(names.joined(separator: ", ")), &all[index]) }
    }

    private func kept(_ content: String) -> String? {
        if options.contentLimit == 0 { return nil }
        return options.contentLimit >= contentLimit
            ? content : HTMLText.collapse(content, limit: options.contentLimit)
    }

    private func set(_ name: String, _ value: Value?, _ item: inout Item) {
        guard let value else { return }
        if options.compared.contains(name) { item.fields[name] = value } else { item.notes[name] = value }
    }

    /// Returns the address of a page that a person can open, else of the enclosure.
    private func address(_ entry: FeedEntry, _ link: String?) -> String? {
        [link, entry.enclosure].lazy.compactMap { $0 }.first {
            FeedLink.isPlain(text: $0) || WebURL($0) != nil || isFile
        }
    }

    /// Returns the time of an entry. A date in the future would be "the newest seen" until it comes, so it counts as now; the
    /// note keeps the original.
    private mutating func time(_ entry: FeedEntry) -> Timestamp? {
        guard let time = entry.updated ?? entry.published else { return nil }
        guard receivedAt.milliseconds > 0, time > receivedAt else { return time }
        if time > receivedAt.advanced(by: .seconds(86_400)) { future += 1 }
        return receivedAt
    }

    /// Returns the key of an entry without id and link. It does not depend on the options.
    private func hash(_ entry: FeedEntry) -> String {
        var parts = [
            entry.title ?? "", HTMLText.collapse(entry.content ?? "", limit: FeedOptions.standardLimit),
        ]
        if parts == ["", ""] { parts.append((entry.published ?? entry.updated)?.rfc3339 ?? "") }
        return "hash:" + Identifier.hex(StableHash.of(parts))
    }

    /// Returns the beginning of the content as a title, for statuses, which have none.
    private static func title(_ content: String) -> String? {
        content.isEmpty ? nil : HTMLText.collapse(content, limit: FeedItems.derivedTitleLimit)
    }

    var warnings: [String] {
        var warnings: [String] = []
        if repeats > 0 {
            warnings.append("\(counted(repeats, "repeat")) of a key: of equal ones the first entry counts")
        }
        if badDates > 0 {
            warnings.append("\(counted(badDates, "date")) could not be read, the first of them '\(badDate ?? "")'")
        }
        if future > 0 { warnings.append("\(counted(future, "date")) in the future: taken as now") }
        return warnings
    }
}
