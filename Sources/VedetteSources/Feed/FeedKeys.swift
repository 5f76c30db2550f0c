// SPDX-License-Identifier: Apache-2.0

import VedetteCore
import VedetteDocument

/// Chooses the keys of a document's entries.
///
/// Entries with one id are one entry, of which the newest version counts, when they also have a link or their content in
/// common (RFC 4287 §4.1.1). Otherwise that value is no id: each of them is keyed by the next best thing it has.
struct FeedKeys {
    private let names: [String]
    /// Values that several entries have in common, from here and from earlier polls.
    private(set) var shared: SharedKeys
    /// Older versions of entries that were left out.
    private(set) var repeats = 0
    private static let maximumRounds = 32

    /// - Parameters:
    ///   - names: the parts of the key that the user wants; entries with one such key are versions of one entry.
    ///   - shared: the values that earlier polls found shared: one of their entries may be alone by now.
    init(by names: [String], shared: SharedKeys) { (self.names, self.shared) = (names, shared) }

    /// An entry that counts.
    struct Chosen {
        var key: String
        /// Where it stands among the entries.
        var place: Int
    }

    /// Returns the entries that count, in document order, with their keys.
    mutating func choose(for entries: [FeedEntry]) -> [Chosen] {
        var chosen = entries.indices.map { Chosen(key: key(of: entries[$0]), place: $0) }
        var rounds = 0
        // Each round leaves out entries or takes a value away from them.
        while Set(chosen.lazy.map(\.key)).count < chosen.count {
            rounds += 1
            var kept: [Int] = []
            for (key, equal) in Dictionary(grouping: chosen, by: \.key) {
                let group = equal.map(\.place)
                var newest = newest(of: group, in: entries) { entry in
                    entry.key(by: names) == nil ? entry.versionMarks(besides: key) : [""]
                }
                if newest.count > 1 || areEntries(group, among: chosen.count, in: entries) {
                    newest = self.newest(of: group, in: entries) { [$0.whole] }
                }
                // Only a feed that is made for it needs as many rounds as it has entries.
                if rounds > FeedKeys.maximumRounds { newest = Array(newest.prefix(1)) }
                repeats += group.count - newest.count
                if newest.count > 1 { shared.insert(key, isShown: !key.hasPrefix(FeedEntry.hashMark)) }
                kept += newest
            }
            chosen = kept.sorted().map { Chosen(key: key(of: entries[$0]), place: $0) }
        }
        return chosen
    }

    private func key(of entry: FeedEntry) -> String {
        if let chosen = entry.key(by: names) { return chosen }
        return entry.key { !shared.contains($0) }
    }

    /// Whether entries with one key are too many and too different for versions of one.
    private func areEntries(_ group: [Int], among count: Int, in entries: [FeedEntry]) -> Bool {
        guard group.count > 2, group.allSatisfy({ entries[$0].key(by: names) == nil }) else { return false }
        return group.count == count || Set(group.map { entries[$0].title }).count == group.count
    }

    /// Returns the newest version of each entry among those with one key.
    /// - Parameter marks: texts of which versions of one entry have one in common.
    private func newest(
        of group: [Int], in entries: [FeedEntry], by marks: (FeedEntry) -> [String]
    ) -> [Int] {
        guard group.count > 1 else { return group }
        var (places, kept): ([String: Int], [Int]) = ([:], [])
        for index in group {
            let entry = entries[index]
            let marks = marks(entry)
            let place = marks.lazy.compactMap { places[$0] }.first ?? kept.count
            for mark in marks { places[mark] = place }
            if place == kept.count {
                kept.append(index)
            } else if entry.isNewer(than: entries[kept[place]]) {
                kept[place] = index
            }
        }
        return kept
    }
}

extension FeedEntry {
    /// The entry that an item was read from, as far as it keys it.
    init(_ item: Item) {
        (id, link, enclosure) = (item.key, item.url, item["enclosure"]?.description)
        offer(title: item.title ?? "", .own)
        offer(item["content"]?.description ?? "", .content)
        if let time = item["published"].flatMap({ Timestamp(rfc3339: $0.description) }) { offer(published: time, .own) }
        if let time = item["updated"].flatMap({ Timestamp(rfc3339: $0.description) }) { offer(updated: time, .own) }
    }

    /// The key of parts that the user chose; nil when it has none of them.
    fileprivate func key(by names: [String]) -> String? {
        let parts = names.map { name in
            switch name {
            case "link": page ?? link
            case "title": title
            default: id ?? about
            }
        }
        return parts.contains { $0 != nil } ? ItemKey.joined(parts.map { FeedLink.key($0 ?? "") }) : nil
    }

    /// Returns the best of the values that can key it and is its own; else the last, which is the same only in entries that do
    /// not differ. None depends on the options.
    fileprivate func key(where isOwn: (String) -> Bool) -> String {
        var isNamed = false
        for case let name? in [id ?? about, page ?? link, enclosure] {
            let key = FeedLink.key(name)
            if isOwn(key) { return key }
            isNamed = true
        }
        if isNamed, let title {
            let key = FeedEntry.hash([title, date])
            if isOwn(key) { return key }
        }
        let text = text
        let key = FeedEntry.hash(text == ["", ""] ? text + [date] : text)
        return isOwn(key) ? key : whole
    }

    /// Texts of which versions of one entry have one in common, beside their key: the link, without one the content of one date.
    /// Where the link is the key itself the title has to do. Entries with nothing but a title are versions.
    fileprivate func versionMarks(besides key: String) -> [String] {
        guard let id = id ?? about, FeedLink.key(id) == key else { return [whole] }
        guard let link = page ?? link else {
            return text[1].isEmpty && !date.isEmpty ? [whole] : ["content \(date) \(text[1])", whole]
        }
        let linkKey = FeedLink.key(link)
        return [linkKey == key ? "title " + text[0] : "link " + linkKey, whole]
    }

    fileprivate func isNewer(than other: FeedEntry) -> Bool {
        guard let time = updated ?? published, let otherTime = other.updated ?? other.published else { return false }
        return time > otherTime
    }

    private var text: [String] {
        [title ?? "", HTMLText.collapse(content ?? "", limit: FeedOptions.standardLimit)]
    }

    /// A digest of the text and of when it was published; without a content, of its last change as well.
    fileprivate var whole: String {
        let text = text
        return FeedEntry.hash(text + [text[1].isEmpty ? date : published?.rfc3339 ?? ""])
    }

    private var date: String { (published ?? updated)?.rfc3339 ?? "" }

    fileprivate static let hashMark = "hash:"

    private static func hash(_ texts: [String]) -> String { hashMark + Identifier.hex(StableHash.of(texts)) }
}
