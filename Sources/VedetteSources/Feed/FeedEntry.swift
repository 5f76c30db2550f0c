// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// An entry of a feed while it is read, for all formats.
struct FeedEntry {
    /// The element that a text of an entry comes from, the best first.
    enum Body: Int {
        case content, summary, description, subtitle
    }

    /// The element that a title comes from, the best first.
    enum Title: Int {
        case own, dublinCore, media, itunes
    }

    /// The element that a time comes from, the best first: the format's own, and its substitutes.
    enum Time: Int {
        case own, substitute, lastResort
    }

    /// The `guid`, `id` or their substitute.
    var id: String?
    /// The `rdf:about` of RSS 1.0; a `guid` beside it takes precedence.
    var about: String?
    private(set) var title: String?
    private var titleSource: Title?
    /// The alternate link to an HTML page, then to anything, absolute where it can be.
    var page: String?
    var link: String?
    var enclosure: String?
    private(set) var updated: Timestamp?
    private(set) var published: Timestamp?
    private var updatedSource: Time?
    private var publishedSource: Time?
    var authors: [String] = []
    var categories: [String] = []
    private(set) var content: String?
    private var source: Body?

    /// True when a text from this element is better than the present one.
    func wants(_ source: Body) -> Bool { self.source.map { source.rawValue < $0.rawValue } ?? true }

    mutating func offer(_ text: String, _ source: Body) {
        guard wants(source), !text.isEmpty else { return }
        (content, self.source) = (text, source)
    }

    /// Takes a time unless a better element has given one. Of equal ones the last counts.
    mutating func offer(updated: Timestamp, _ source: Time) {
        guard updatedSource.map({ source.rawValue <= $0.rawValue }) ?? true else { return }
        (self.updated, updatedSource) = (updated, source)
    }

    mutating func offer(published: Timestamp, _ source: Time) {
        guard publishedSource.map({ source.rawValue <= $0.rawValue }) ?? true else { return }
        (self.published, publishedSource) = (published, source)
    }

    /// Takes a title unless a better element has given one. Of equal ones the last counts, as other readers have it.
    mutating func offer(title: String, _ source: Title) {
        guard !title.isEmpty, titleSource.map({ source.rawValue <= $0.rawValue }) ?? true else { return }
        (self.title, titleSource) = (title, source)
    }

    mutating func addAuthor(_ name: String) {
        let name = FeedEntry.nameOnly(name)
        FeedEntry.add(name, to: &authors)
    }

    mutating func addCategory(_ name: String) {
        FeedEntry.add(name, to: &categories)
    }

    /// Adds a name that is not there yet, up to 100.
    static func add(_ name: String, to names: inout [String]) {
        if !name.isEmpty, names.count < 100, !names.contains(name) { names.append(name) }
    }

    /// Returns `Ada` of `ada@example.org (Ada)`, the form of RSS 2.0.
    static func nameOnly(_ author: String) -> String {
        guard author.hasSuffix(")"), let open = author.firstIndex(of: "("), author[..<open].contains("@") else {
            return author
        }
        let name = String(author[author.index(after: open)...].dropLast()).trimmed()
        return name.isEmpty ? author : name
    }
}
