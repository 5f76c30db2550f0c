// SPDX-License-Identifier: Apache-2.0

import Foundation
import VedetteCore

@testable import VedetteSources

/// A Connections server in memory: it answers addresses with whole Atom documents, and its stories change between two
/// requests as a test wants.
struct ConnectionsServer {
    struct Story {
        var number: Int
        var updated: Int64
        var edits = 0

        var key: String { "urn:lsid:ibm.com:news:story-\(number)" }
    }

    /// What servers do differently.
    struct OriginLimits {
        var hasLinks = true
        var linksDropSize = false
        var linksNameOtherHost = false
        var heedsBefore = true
        var sinceIsInclusive = false
        /// Full pages hold one story fewer than their size.
        var shortPages = false
        var showsWholeSeconds = false
    }

    var manners = OriginLimits()
    var now: Int64
    /// Newest first.
    private(set) var stories: [Story] = []
    private(set) var made = 0
    private(set) var addresses: [String] = []

    init(now: Int64) { self.now = now }

    mutating func add(_ count: Int = 1) {
        for _ in 0..<count {
            now += 1
            stories.insert(Story(number: made, updated: now), at: 0)
            made += 1
        }
    }

    /// Shown only now, though its time is past.
    mutating func addLate(updated: Int64) {
        stories.append(Story(number: made, updated: updated))
        stories.sort { $0.updated > $1.updated }
        made += 1
    }

    /// In place: the id stays, the time grows, and so the story moves to the top.
    mutating func edit(at index: Int) {
        now += 1
        var story = stories.remove(at: index)
        (story.updated, story.edits) = (now, story.edits + 1)
        stories.insert(story, at: 0)
    }

    mutating func delete(at index: Int) { stories.remove(at: index) }

    mutating func answer(_ address: String) -> PageBody {
        addresses.append(address)
        var query: [String: String] = [:]
        for item in URLComponents(string: address)?.queryItems ?? [] { query[item.name] = item.value }
        func time(_ name: String) -> Int64? { query[name].flatMap { Timestamp(rfc3339: $0)?.milliseconds } }
        let before = manners.heedsBefore ? time("before") ?? .max : .max
        let since = time("since").map { manners.sinceIsInclusive ? $0 - 1 : $0 } ?? .min
        let found = stories.filter { $0.updated < before && $0.updated > since }
        let size = min(Int(query["ps"] ?? "") ?? 20, 100)
        let held = manners.shortPages ? max(1, size - 1) : size
        let page = Int(query["page"] ?? "") ?? 1
        let rows = found.dropFirst((page - 1) * held).prefix(held)
        let links = links(address, query, page: page, hasMore: found.count > page * held)
        return PageBody(bytes: Array((head + links + rows.map(entry).joined() + "</feed>").utf8), url: address)
    }

    private let head = """
        <?xml version="1.0" encoding="UTF-8"?>

        <feed xmlns="http://www.w3.org/2005/Atom" xmlns:activity="http://activitystrea.ms/spec/1.0/">
        <id>urn:lsid:ibm.com:news:stories-public</id>
        """

    private func links(_ address: String, _ query: [String: String], page: Int, hasMore: Bool) -> String {
        guard manners.hasLinks else { return "" }
        var base = address.prefix { $0 != "?" }
        if manners.linksNameOtherHost { base = "http://internal.example:9080/news/atom/stories/public" }
        func link(_ relation: String, _ page: Int) -> String {
            var query = query
            query["page"] = String(page)
            if manners.linksDropSize { query["ps"] = nil }
            let text = query.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value.replacing(":", with: "%3A"))" }
            return "<link rel=\"\(relation)\" href=\"\(base)?\(text.joined(separator: "&amp;"))\"/>"
        }
        return link("first", 1) + (hasMore ? link("next", page + 1) : "")
    }

    private func entry(_ story: Story) -> String {
        let shown = manners.showsWholeSeconds ? story.updated - story.updated % 1000 : story.updated
        let time = Timestamp(milliseconds: shown).rfc3339
        return """
            <entry><id>\(story.key)</id><title type="text">Story \(story.number)</title><updated>\(time)</updated>
            <content type="html">&lt;p&gt;edit \(story.edits)&lt;/p&gt;</content>
            <activity:object><id>urn:x:\(story.number)</id><title>no title</title></activity:object></entry>
            """
    }
}

/// The polls of one source, without the engine around them.
struct ConnectionsPolls {
    let source: Source
    private var head: SnapshotHead?
    private var stored: [String: StoredItem] = [:]
    private(set) var gaps: [String] = []

    /// Keys that the window shows.
    var shown: Set<String> { Set(stored.values.filter { $0.absentSince == nil }.map(\.key)) }
    var count: Int { head?.count ?? 0 }

    init(_ options: [String: OptionValue] = [:]) throws {
        source = Source(
            name: "updates", kindName: "connections", kind: try Connections(Options(options)), server: Server(name: ""),
            url: "https://connections.example.org", interval: PollInterval(every: .seconds(60)))
    }

    /// - Parameter between: what happens on the server after each page of this poll.
    mutating func poll(
        _ server: inout ConnectionsServer, between: (inout ConnectionsServer) -> Void = { _ in }
    ) throws -> [DraftEvent] {
        let now = Timestamp(milliseconds: server.now)
        let context = PollContext(newest: head?.newest, now: now)
        let first = source.kind.request(base: source.url, context: context).url
        var walk = Paginator(
            mode: .window, url: first, known: head == nil ? nil : stored, newest: head?.newest, oldest: head?.oldest)
        var next: NextPage? = NextPage(first)
        while let page = next {
            var body = server.answer(page.url)
            body.number = walk.pages + 1
            between(&server)
            next = nil
            switch walk.pageRead(try source.kind.read(&body)) {
            case .done: break
            case .fetch(let page): next = page
            case .gap(let detail): gaps.append(detail)
            }
        }
        let observation = walk.observation
        let difference = Differ(source: source, now: now).compare(head, stored: stored, with: observation)
        for key in difference.deletions { stored[key] = nil }
        for item in difference.writes { stored[item.key] = item }
        head = difference.head
        return difference.events
    }
}
