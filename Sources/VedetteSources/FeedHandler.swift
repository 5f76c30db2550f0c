// SPDX-License-Identifier: Apache-2.0

import VedetteCore
import VedetteDocument

/// Builds items from the elements of a feed. Only the direct children of an entry count: extensions nest elements of the
/// same names (`activity:object` has an `id` of its own).
final class FeedHandler: XMLHandler {
    private enum Name: UInt16, CaseIterable {
        case feed = 1, rss, rdf, error
        case channel, entry, item
        case id, title, link, updated, published, author, name, category, content, summary
        case guid, pubDate, description, date, creator, encoded, ttl
        case rel, href, type, term, isPermaLink

        var token: XMLToken { XMLToken(rawValue: rawValue) }
    }

    static let reader = XMLReader(vocabulary)

    private static let vocabulary: XMLVocabulary = {
        let atom = ["http://www.w3.org/2005/Atom"]
        let rss = ["", "http://purl.org/rss/1.0/"]
        let both = atom + rss
        let dublinCore = ["http://purl.org/dc/elements/1.1/"]
        let namespaces: [Name: [String]] = [
            .feed: atom, .rss: [""], .rdf: ["http://www.w3.org/1999/02/22-rdf-syntax-ns#"],
            .error: ["http://www.ibm.com/xmlns/prod/sn"], .channel: rss, .entry: atom, .item: rss, .id: atom,
            .title: both,
            .link: both, .updated: atom, .published: atom, .author: both, .name: atom, .category: both, .content: atom,
            .summary: atom, .guid: rss, .pubDate: rss, .description: rss, .date: dublinCore, .creator: dublinCore,
            .encoded: ["http://purl.org/rss/1.0/modules/content/"], .ttl: rss,
        ]
        var vocabulary = XMLVocabulary()
        for name in Name.allCases {
            let local = name == .rdf ? "RDF" : "\(name)"
            vocabulary.add(local, in: namespaces[name] ?? [""], as: name.token)
        }
        return vocabulary
    }()

    private let url: WebURL?
    private(set) var items: [Item] = []
    private(set) var next: String?
    private(set) var freshFor: Duration?

    /// The entry that is being read, and the depth of its element.
    private var entry: Entry?
    private var entryDepth = 0
    private var type: String?
    private var term: String?

    private struct Entry {
        var id: String?
        var title: String?
        var link: String?
        var plainLink: String?
        var updated: String?
        var published: String?
        var author: String?
        var categories: [String] = []
        var content: String?
        var summary: String?
    }

    init(url: String) { self.url = WebURL(url) }

    func start(_ element: borrowing XMLElement) throws(DocumentError) -> XMLAction {
        guard let name = Name(rawValue: element.token.rawValue) else {
            if element.depth == 1 { throw unknownRoot(element.name) }
            return .skip
        }
        if element.depth == 1 { return try root(name, element.name) }
        if entry != nil { return startInEntry(name, element) }
        switch name {
        case .channel where element.depth == 2: return .enter
        case .entry, .item:
            entry = Entry()
            entryDepth = element.depth
            return .enter
        case .link where element.attribute(Name.rel.token) == "next":
            next = element.attribute(Name.href.token).flatMap { resolve($0, element.bases) }
            return .skip
        case .ttl: return .text
        default: return .skip
        }
    }

    private func root(_ name: Name, _ text: String) throws(DocumentError) -> XMLAction {
        switch name {
        case .feed, .rss, .rdf: return .enter
        case .error: throw DocumentError(.wrongShape, "the server answered with an <error> document instead of a feed")
        default: throw unknownRoot(text)
        }
    }

    private func unknownRoot(_ name: String) -> DocumentError {
        DocumentError(.wrongShape, "the root element is <\(name)>, which is no feed; Atom's is <feed>, RSS's is <rss>")
    }

    private func startInEntry(_ name: Name, _ element: borrowing XMLElement) -> XMLAction {
        if element.depth > entryDepth + 1 { return name == .name ? .text : .skip }
        switch name {
        case .link:
            guard let href = element.attribute(Name.href.token) else { return .text }
            link(href, element)
            return .skip
        case .category:
            if let term = element.attribute(Name.term.token) { entry?.categories.append(term) }
            return .text
        case .author: return element.namespace == nil ? .text : .enter
        case .content, .summary, .title:
            type = element.attribute(Name.type.token)
            return type == "xhtml" ? .markup : .text
        case .id, .guid, .updated, .published, .pubDate, .date, .creator, .description, .encoded: return .text
        default: return .skip
        }
    }

    /// The link of `rel="alternate"`, HTML before other types.
    private func link(_ href: String, _ element: borrowing XMLElement) {
        let relation = element.attribute(Name.rel.token) ?? "alternate"
        guard relation == "alternate", let target = resolve(href, element.bases) else { return }
        let isPage = (element.attribute(Name.type.token) ?? "text/html").hasPrefix("text/html")
        if isPage, entry?.link == nil { entry?.link = target }
        if entry?.plainLink == nil { entry?.plainLink = target }
    }

    private func resolve(_ reference: String, _ bases: [String]) -> String? {
        bases.reduce(url) { $0?.resolving($1) ?? WebURL($1) }?.resolving(reference)?.text
    }

    func end(_ element: borrowing XMLEnd) throws(DocumentError) {
        guard let name = Name(rawValue: element.token.rawValue) else { return }
        if entry == nil {
            if name == .ttl, let minutes = Int(element.trimmed), (1...44_640).contains(minutes) {
                freshFor = .seconds(minutes * 60)
            }
            return
        }
        if element.depth == entryDepth {
            finishEntry()
        } else {
            endInEntry(name, element)
        }
    }

    private func endInEntry(_ name: Name, _ element: borrowing XMLEnd) {
        switch name {
        case .id, .guid: entry?.id = element.trimmed
        case .title: entry?.title = text(element.string, isRSS: type == nil)
        case .link:
            // RSS has the address as text.
            if entry?.plainLink == nil { entry?.plainLink = url?.resolving(element.trimmed)?.text ?? element.trimmed }
        case .updated, .date: entry?.updated = element.trimmed
        case .published, .pubDate: entry?.published = element.trimmed
        case .name, .creator, .author:
            let text = element.trimmed
            if !text.isEmpty { entry?.author = text }
        case .category:
            let text = element.trimmed
            if !text.isEmpty { entry?.categories.append(text) }
        case .content, .encoded: entry?.content = element.string
        case .summary, .description: entry?.summary = element.string
        default: break
        }
    }

    /// Titles of RSS say nothing of their type; many hold markup, so they are read as HTML as the text of Atom's `html`.
    private func text(_ text: String, isRSS: Bool) -> String {
        switch type {
        case "html", "xhtml", "text/html": HTMLText.plain(text, limit: 1000)
        case nil where isRSS && entryDepth > 2: HTMLText.plain(text, limit: 1000)
        default: HTMLText.collapse(text, limit: 1000)
        }
    }

    private func finishEntry() {
        defer { entry = nil }
        guard let entry else { return }
        let body = HTMLText.plain(entry.content ?? entry.summary ?? "", limit: Feed.contentLimit)
        let link = entry.link ?? entry.plainLink
        let key = entry.id.flatMap { $0.isEmpty ? nil : $0 } ?? link ?? hash(entry, body)
        var item = Item(key: key, title: entry.title, url: link)
        let updated = entry.updated.flatMap(FeedDate.parse)
        let published = entry.published.flatMap(FeedDate.parse)
        item.time = updated ?? published
        item.fields["content"] = .text(body)
        item.notes["author"] = entry.author.map(Value.text)
        item.notes["categories"] = entry.categories.isEmpty ? nil : .list(entry.categories)
        item.notes["published"] = published.map { .text($0.rfc3339) }
        item.notes["updated"] = updated.map { .text($0.rfc3339) }
        items.append(item)
    }

    private func hash(_ entry: Entry, _ body: String) -> String {
        "hash:" + Identifier.hex(Digest.of([entry.title ?? "", body]))
    }
}
