// SPDX-License-Identifier: Apache-2.0

import VedetteCore
import VedetteDocument

/// Makes items from entries, once all are read, and sorts fields into compared and stored.
struct FeedItems {
    /// Bytes of a title that is the beginning of the content, for an entry without one.
    private static let derivedTitleLimit = 100

    private let options: FeedOptions
    /// When the document was received; dates beyond it are in the future. Zero when unknown.
    private let receivedAt: Timestamp
    private var entries: [FeedEntry] = []
    private(set) var all: [Item] = []
    private var keys: FeedKeys
    private var future = 0
    private var badDates = 0
    private var badDate: String?

    /// Whether the document is a file, whose relative links stay relative.
    private let isFile: Bool

    init(_ options: FeedOptions, of page: PageBody) {
        (self.options, receivedAt) = (options, page.receivedAt)
        keys = FeedKeys(by: options.key, shared: page.sharedKeys)
        isFile = WebURL(page.url) == nil
    }

    var isEmpty: Bool { entries.isEmpty }
    /// Values that key nothing, since several entries have them.
    var sharedKeys: SharedKeys { keys.shared }

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

    mutating func add(_ entry: consuming FeedEntry) { entries.append(entry) }

    /// Makes the items of all entries.
    /// - Parameter authors: the feed's own, of entries without one (RFC 4287 §4.2.1).
    mutating func finish(authors: [String]) {
        all.reserveCapacity(entries.count)
        for chosen in keys.choose(for: entries) { all.append(item(chosen.key, entries[chosen.place], authors)) }
    }

    private mutating func item(_ key: String, _ entry: FeedEntry, _ authors: [String]) -> Item {
        let link = entry.page ?? entry.link
        let authors = entry.authors.isEmpty ? authors : entry.authors
        var item = Item(
            key: key, title: entry.title ?? FeedItems.title(entry.content ?? ""), url: address(entry, link))
        item.time = time(entry)
        item.notes.reserveCapacity(4)
        set("author", authors.isEmpty ? nil : .text(authors.joined(separator: ", ")), &item)
        set("categories", entry.categories.isEmpty ? nil : .list(entry.categories), &item)
        set("content", kept(entry.content ?? "").map(Value.text), &item)
        set("enclosure", entry.enclosure.map(Value.text), &item)
        if options.compared.contains("link") { item.fields["link"] = link.map { .text(FeedLink.key($0)) } }
        set("published", entry.published.map { .text($0.rfc3339) }, &item)
        set("updated", entry.updated.map { .text($0.rfc3339) }, &item)
        return item
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

    /// Returns the beginning of the content as a title, for statuses, which have none.
    private static func title(_ content: String) -> String? {
        content.isEmpty ? nil : HTMLText.collapse(content, limit: FeedItems.derivedTitleLimit)
    }

    var warnings: [String] {
        var warnings: [String] = []
        if keys.repeats > 0 {
            warnings.append("\(counted(keys.repeats, "older version")) of entries: of each the newest counts")
        }
        if badDates > 0 {
            warnings.append("\(counted(badDates, "date")) could not be read, the first of them '\(badDate ?? "")'")
        }
        if future > 0 { warnings.append("\(counted(future, "date")) in the future: taken as now") }
        return warnings
    }
}
