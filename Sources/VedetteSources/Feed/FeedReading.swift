// SPDX-License-Identifier: Apache-2.0

import VedetteCore
import VedetteDocument

/// Makes entries from the elements of a feed in RSS or Atom. Only the direct children of an entry count: extensions nest elements
/// of the same names (`activity:object` has an `id` of its own).
struct FeedReading {
    private var links: FeedLinkResolver
    private(set) var items: FeedItems
    private(set) var head = FeedHead()

    /// The entry that is being read, and the depth of its element.
    private var entry = FeedEntry()
    private var entryDepth = 0
    private var isInEntry = false
    /// The form of the text that is being collected.
    private var form = FeedText.plain
    private var isPermaLink = true
    /// Of the author that is being read: whether it has a name, and its address.
    private var authorHasName = false
    private var authorAddress: String?

    init(_ page: PageBody, _ options: FeedOptions) {
        links = FeedLinkResolver(url: WebURL(page.url))
        items = FeedItems(options, of: page)
    }

    // MARK: Beginnings

    mutating func start(_ element: borrowing XMLElement) throws(DocumentError) -> XMLAction {
        guard let name = FeedName(rawValue: element.token.rawValue) else {
            if element.depth == 1 { throw FeedReading.unknownRoot(element.name) }
            return .skip
        }
        if element.depth == 1 { return try root(name, element) }
        if isInEntry { return startInEntry(name, element) }
        switch name {
        case .channel where element.depth == 2:
            head.hasChannel = true
            return .enter
        case .entry, .item: return startEntry(element)
        case .link: return pageLink(element)
        case .skipHours, .skipDays: return .enter
        case .complete:
            head.isComplete = true
            return .skip
        case .author, .person: return head.isAtom || isPerson(name) ? enterAuthor() : .skip
        case .ttl, .hour, .day, .updatePeriod, .updateFrequency, .name, .email: return .text
        default: return .skip
        }
    }

    private mutating func root(_ name: FeedName, _ element: borrowing XMLElement) throws(DocumentError) -> XMLAction {
        switch name {
        case .feed:
            head.isAtom = true
            head.lacksNamespace = element.namespace == nil
            head.isOldAtom = element.namespace == FeedNamespaces.atom03
        case .entry:
            // An entry document (RFC 4287 §2).
            head.isAtom = true
            return startEntry(element)
        case .rss: head.isMisplaced = element.namespace.map(FeedNamespaces.realAtom.contains) ?? false
        case .rdf: break
        case .error: throw DocumentError(.wrongShape, "the server answered with an <error> document instead of a feed")
        default: throw FeedReading.unknownRoot(element.name)
        }
        return .enter
    }

    /// Whether an author's name and address are elements of their own.
    private func isPerson(_ name: FeedName) -> Bool { name == .person && !head.isMisplaced }

    private static func unknownRoot(_ name: String) -> DocumentError {
        DocumentError(
            .wrongShape,
            "the root element is <\(name)>, which is not a feed's; Atom's is <feed>, RSS's is <rss> or <rdf:RDF>")
    }

    private mutating func startEntry(_ element: borrowing XMLElement) -> XMLAction {
        entry = FeedEntry()
        entry.about = element.attribute(FeedName.about.token)
        isInEntry = true
        forgetAuthor()
        entryDepth = element.depth
        isPermaLink = false
        return .enter
    }

    /// Takes the address of the next page, or of the archive before this document (RFC 5005).
    private mutating func pageLink(_ element: borrowing XMLElement) -> XMLAction {
        switch FeedLinkResolver.relation(element) {
        case .next: head.next = links.page(element, at: FeedName.href.token) ?? head.next
        case .archive: head.archive = links.page(element, at: FeedName.href.token) ?? head.archive
        default: break
        }
        return .skip
    }

    private mutating func startInEntry(_ name: FeedName, _ element: borrowing XMLElement) -> XMLAction {
        if element.depth > entryDepth + 1 { return startNested(name) }
        switch name {
        case .link: return startLink(element)
        case .category:
            if let term = element.attribute(FeedName.term.token) { entry.addCategory(HTMLText.collapse(term)) }
            return .text
        case .author, .person: return head.isAtom || isPerson(name) ? enterAuthor() : .text
        case .title: return startText(element, isContent: false)
        case .content, .summary: return startText(element, isContent: name == .content)
        case .description, .encoded, .itunesSummary, .subtitle, .dublinDescription:
            form = .html
            return entry.wants(FeedReading.source(name)) ? .text : .skip
        case .mediaTitle, .mediaDescription, .mediaCredit, .dublinTitle, .itunesTitle: return .text
        case .body:
            form = .html
            return .markup
        case .guid:
            isPermaLink = element.attribute(FeedName.isPermaLink.token) != "false"
            return .text
        case .enclosure, .mediaContent:
            enclosure(element, FeedName.url.token)
            // `media:content` may hold a title and a description.
            return name == .mediaContent ? .enter : .skip
        case .group: return .enter
        case .id, .updated, .published, .pubDate, .date, .modified, .issued, .created, .creator, .subject,
            .itunesAuthor:
            return .text
        default: return .skip
        }
    }

    private mutating func enterAuthor() -> XMLAction {
        forgetAuthor()
        return .enter
    }

    /// Drops the author that was read before: the feed's own, or another entry's.
    private mutating func forgetAuthor() { (authorHasName, authorAddress) = (false, nil) }

    /// Enters an author's name, and the `media:group` of YouTube and others.
    private mutating func startNested(_ name: FeedName) -> XMLAction {
        switch name {
        case .name, .email, .mediaTitle, .mediaDescription, .mediaCredit: .text
        case .mediaContent: .enter
        default: .skip
        }
    }

    private mutating func startText(_ element: borrowing XMLElement, isContent: Bool) -> XMLAction {
        guard head.isAtom else {
            form = .html
            return .text
        }
        let type = element.attribute(FeedName.type.token).flatMap { $0.isEmpty ? nil : $0 }
        let isElsewhere = isContent && element.attributeBytes(FeedName.src.token) != nil
        if isElsewhere, let source = element.attribute(FeedName.src.token), entry.enclosure == nil {
            entry.enclosure = links.resolve(source, element)
        }
        var mode = element.attribute(FeedName.mode.token)
        if mode == nil, head.isOldAtom, type == nil { mode = "xml" }
        let action: XMLAction
        (form, action) = FeedText.atom(type: type, mode: mode, isPresentElsewhere: isElsewhere)
        return action
    }

    /// Takes a link, whose address is an attribute in Atom and the text in RSS.
    private mutating func startLink(_ element: borrowing XMLElement) -> XMLAction {
        guard element.attributeBytes(FeedName.href.token) != nil else {
            links.hold(element)
            return .text
        }
        switch FeedLinkResolver.relation(element) {
        case .alternate:
            guard let target = links.target(element) else { return .skip }
            if entry.page == nil, FeedLinkResolver.isPage(element) { entry.page = target }
            if entry.link == nil { entry.link = target }
        case .enclosure: enclosure(element, FeedName.href.token)
        default: break
        }
        return .skip
    }

    private mutating func enclosure(_ element: borrowing XMLElement, _ attribute: XMLToken) {
        guard entry.enclosure == nil, let address = element.attribute(attribute), !address.isEmpty else { return }
        entry.enclosure = links.resolve(address, element)
    }

    // MARK: Ends

    mutating func end(_ element: borrowing XMLEnd) {
        guard let name = FeedName(rawValue: element.token.rawValue) else { return }
        switch name {
        case .name: authorHasName = !element.trimmed.isEmpty
        case .email: authorAddress = element.trimmed
        case .author, .person: authorAddress = authorHasName ? nil : authorAddress
        default: break
        }
        if !isInEntry {
            head.take(name, element, address: authorAddress)
        } else if element.depth == entryDepth {
            finishEntry()
        } else {
            endInEntry(name, element)
        }
    }

    private mutating func endInEntry(_ name: FeedName, _ element: borrowing XMLEnd) {
        switch name {
        case .id, .guid: takeID(name, element)
        case .title:
            entry.offer(title: form.read(element.bytes, limit: TextLimit.title, keepsUnknownTags: true), .own)
        case .dublinTitle: entry.offer(title: FeedReading.title(element), .dublinCore)
        case .itunesTitle: entry.offer(title: FeedReading.title(element), .itunes)
        case .mediaTitle: entry.offer(title: FeedReading.title(element), .media)
        case .link:
            guard entry.link == nil, let target = links.target(ofText: element.bytes) else { return }
            entry.link = target
        case .updated, .date, .modified:
            guard let time = items.date(element.bytes) else { return }
            entry.offer(updated: time, name == .updated ? .own : name == .modified ? .substitute : .lastResort)
        case .published, .pubDate, .issued, .created:
            guard let time = items.date(element.bytes) else { return }
            entry.offer(published: time, name == .issued ? .substitute : name == .created ? .lastResort : .own)
        case .name, .creator: entry.addAuthor(HTMLText.plain(element.bytes, limit: 200))
        case .author, .person:
            entry.addAuthor(HTMLText.plain(element.bytes, limit: 200))
            if let authorAddress { entry.addAuthor(HTMLText.collapse(authorAddress, limit: 200)) }
            authorAddress = nil
        case .itunesAuthor, .mediaCredit:
            if entry.authors.isEmpty { entry.addAuthor(HTMLText.plain(element.bytes, limit: 200)) }
        case .category, .subject: entry.addCategory(HTMLText.plain(element.bytes, limit: 200))
        case .content, .encoded, .body, .summary, .description, .itunesSummary, .subtitle, .mediaDescription,
            .dublinDescription:
            let source = FeedReading.source(name)
            guard entry.wants(source) else { return }
            let form = name == .mediaDescription ? FeedText.plain : form
            entry.offer(form.read(element.bytes, limit: items.contentLimit), source)
        default: break
        }
    }

    private static func source(_ name: FeedName) -> FeedEntry.Body {
        switch name {
        case .content, .encoded, .body: .content
        case .summary, .description: .summary
        case .dublinDescription, .mediaDescription, .itunesSummary: .description
        default: .subtitle
        }
    }

    /// Takes an id. A `guid` takes precedence over an `id` in RSS.
    private mutating func takeID(_ name: FeedName, _ element: borrowing XMLEnd) {
        let text = element.trimmed
        guard !text.isEmpty, entry.id == nil || name == .guid else { return }
        entry.id = text
    }

    /// Reads a title that is never HTML.
    private static func title(_ element: borrowing XMLEnd) -> String {
        HTMLText.collapse(element.bytes, limit: TextLimit.title)
    }

    private mutating func finishEntry() {
        isInEntry = false
        forgetAuthor()
        if isPermaLink, entry.link == nil, entry.page == nil, let id = entry.id, FeedLink.isPlain(text: id) {
            entry.link = id
        }
        // Moved: a copy would count a reference for each of its values.
        var finished = FeedEntry()
        swap(&finished, &entry)
        items.add(finished)
    }

    /// Completes the items at the end of the document.
    mutating func finish() throws(DocumentError) {
        if !head.isAtom, !head.hasChannel, items.isEmpty {
            throw DocumentError(.wrongShape, "the document has neither a channel nor an item: it is not a feed")
        }
        items.finish(authors: head.authors)
    }
}

/// Passes the elements of a document to a `FeedReading`, which is a struct, because Swift checks exclusive access to each property
/// of a class.
final class FeedHandler: XMLHandler {
    static let reader = XMLReader(FeedName.vocabulary)

    private let fresh: FeedReading
    private(set) var reading: FeedReading

    init(_ page: PageBody, _ options: FeedOptions) {
        fresh = FeedReading(page, options)
        reading = fresh
    }

    func start(_ element: borrowing XMLElement) throws(DocumentError) -> XMLAction { try reading.start(element) }
    func end(_ element: borrowing XMLEnd) throws(DocumentError) { reading.end(element) }

    func restart() -> Bool {
        reading = fresh
        return true
    }

    /// Returns the reading after the end of the document.
    func finish() throws(DocumentError) -> FeedReading {
        try reading.finish()
        return reading
    }
}
