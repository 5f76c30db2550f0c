// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteCore

@testable import VedetteSources

@Suite("Options and schedule of the feed kind")
struct FeedOptionTests {
    private static let entry = """
        <rss version="2.0"><channel><title>c</title><item><title>t</title><guid isPermaLink="false">1</guid>
        <link>https://news.example.org/1?utm_source=x</link><description>Some longer words to be cut.</description>
        <author>Ada</author><category>a</category><pubDate>Sat, 21 Nov 2026 02:00:00 GMT</pubDate></item></channel></rss>
        """

    private func item(_ options: [String: OptionValue]) throws -> Item {
        try #require(FeedCorpus.read(Array(Self.entry.utf8), options: options).items.first)
    }

    private func list(_ names: String...) -> OptionValue { .list(names.map { .text($0) }) }

    @Test("by default title and content are compared and nothing else")
    func standard() throws {
        let item = try item([:])
        #expect(item.fields.map(\.name) == ["content"])
        #expect(Set(item.notes.map(\.name)) == ["author", "categories", "published"])
    }

    @Test("the user chooses what is compared, and the other fields are still shown")
    func compare() throws {
        let chosen = try item(["compare": list("link", "author", "published")])
        #expect(chosen.fields.map(\.name) == ["author", "link", "published"])
        #expect(chosen["content"] == "Some longer words to be cut.")
        #expect(chosen["link"] == "https://news.example.org/1")
        let none = try item(["compare": list()])
        #expect(none.fields.isEmpty)
        #expect(none["content"] == "Some longer words to be cut.")
    }

    @Test("the user may choose what keys an entry; entries with one such key are one, and its identity is another")
    func key() throws {
        #expect(try item(["key": list("link")]).key == "https://news.example.org/1")
        #expect(try item(["key": list("title", "link")]).key == "t/https:%2F%2Fnews.example.org%2F1")
        #expect(try item(["key": list("guid")]).key == "1")
        let two = Array(
            Self.entry.replacing("</item>", with: "</item><item><title>t</title><guid>2</guid></item>").utf8)
        #expect(try FeedCorpus.read(two, options: ["key": list("title")]).items.map(\.key) == ["t"])
        #expect(try FeedCorpus.read(two, options: ["key": list("link")]).items.map(\.key).last == "2")
        #expect(try Fixture.kind("feed", ["key": list("link")]).identity != Fixture.kind("feed").identity)
    }

    @Test("the content's limit is in bytes, and zero keeps none; the key of a nameless entry does not depend on it")
    func limit() throws {
        #expect(try item(["content_limit": .integer(12)])["content"] == "Some long…")
        #expect(try item(["content_limit": .integer(0)])["content"] == nil)
        #expect(try item(["content_limit": .integer(5000)])["content"] == "Some longer words to be cut.")
        let text = String(repeating: "word ", count: 2000)
        let nameless = Array("<rss><channel><item><description>\(text)</description></item></channel></rss>".utf8)
        let keys = try [nil, 0, 10, 5000].map { limit in
            try FeedCorpus.read(nameless, options: limit.map { ["content_limit": .integer($0)] } ?? [:]).items[0].key
        }
        #expect(Set(keys).count == 1)
    }

    @Test("other options are no change of an entry: the fields that they affect get a new baseline")
    func fingerprints() throws {
        func prints(_ options: [String: OptionValue]) throws -> [String: UInt64] {
            try Fixture.kind("feed", options).fingerprints.filter { $0.key != SnapshotHead.everyField }
        }
        #expect(try prints([:]).isEmpty)
        #expect(try prints(["compare": list("content")]).isEmpty)
        #expect(try prints(["content_limit": .integer(2000)]).isEmpty)
        #expect(try prints(["compare": list()]).keys.sorted() == ["content"])
        #expect(try prints(["compare": list("content", "link")]).keys.sorted() == ["link"])
        #expect(try prints(["content_limit": .integer(10)]) != prints(["content_limit": .integer(11)]))
        #expect(try Fixture.kind("feed", ["compare": list()]).identity == Fixture.kind("feed").identity)
    }

    private func fresh(_ head: String, at time: String = "2026-11-21T12:10:00Z") throws -> Int64? {
        let attributes = "xmlns:sy='http://purl.org/rss/1.0/modules/syndication/'"
        let text = "<rss \(attributes)><channel><title>c</title>\(head)</channel></rss>"
        var page = PageBody(
            bytes: Array(text.utf8), url: "https://news.example.org/feed",
            receivedAt: Timestamp(rfc3339: time) ?? Timestamp(milliseconds: 0))
        return try Fixture.kind("feed").read(&page).freshFor?.components.seconds
    }

    @Test("ttl and sy:update* say how long a feed stays fresh, the longer of them")
    func freshness() throws {
        #expect(try fresh("") == nil)
        #expect(try fresh("<ttl>60</ttl>") == 3600)
        #expect(try fresh("<ttl> 5 </ttl>") == 300)
        for bad in ["0", "-5", "soon", "99999999999999999999", "100000000", "\(Int.max)", "\(Int.min)"] {
            #expect(try fresh("<ttl>\(bad)</ttl>") == nil)
        }
        #expect(try fresh("<sy:updatePeriod>daily</sy:updatePeriod>") == 86_400)
        #expect(
            try fresh("<sy:updatePeriod> Hourly </sy:updatePeriod><sy:updateFrequency>4</sy:updateFrequency>") == 900)
        #expect(
            try fresh("<sy:updatePeriod>weekly</sy:updatePeriod><sy:updateFrequency>0</sy:updateFrequency>") == 604_800)
        #expect(try fresh("<sy:updatePeriod>now and then</sy:updatePeriod>") == nil)
        for frequency in [Int.max, .min] {
            let hostile = "<sy:updateFrequency>\(frequency)</sy:updateFrequency>"
            #expect(try fresh("<sy:updatePeriod>weekly</sy:updatePeriod>\(hostile)") == (frequency < 0 ? 604_800 : nil))
        }
        #expect(try fresh("<ttl>60</ttl><sy:updatePeriod>daily</sy:updatePeriod>") == 86_400)
    }

    @Test("hours and days to skip last to the first one that is not skipped, when the next poll would fall into one")
    func skipped() throws {
        func hours(_ hours: Int...) -> String {
            "<skipHours>" + hours.map { "<hour>\($0)</hour>" }.joined() + "</skipHours>"
        }
        // At 12:10 the usual next poll is at 12:40.
        #expect(try fresh(hours(12, 13)) == 110 * 60)
        #expect(try fresh(hours(13)) == nil)
        #expect(try fresh(hours(13), at: "2026-11-21T12:40:00Z") == 80 * 60)
        #expect(try fresh(hours(23, 24, 1), at: "2026-11-21T23:00:00Z") == 3 * 3600)
        #expect(try fresh("<ttl>60</ttl>" + hours(13)) == 110 * 60)
        #expect(try fresh("<ttl>60</ttl>" + hours(12)) == 3600)
        // 2026-11-21 is a Saturday.
        let weekend = "<skipDays><day>Saturday</day><day>Sunday</day></skipDays>"
        #expect(try fresh(weekend) == (35 * 60 + 50) * 60)
        #expect(try fresh(weekend + hours(0, 1)) == (37 * 60 + 50) * 60)
        #expect(try fresh(weekend, at: "2026-11-20T12:00:00Z") == nil)
        let always = hours(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23)
        #expect(try fresh(always) == nil)
        #expect(try fresh(hours(25, -1)) == nil)
    }

    @Test("without a time of receipt dates in the future stay, with one they are not the newest seen")
    func future() throws {
        let text = Self.entry.replacing("2026", with: "2038")
        var unknown = PageBody(bytes: Array(text.utf8), url: "https://news.example.org/feed")
        #expect(try Fixture.kind("feed").read(&unknown).items[0].time?.rfc3339 == "2038-11-21T02:00:00.000Z")
        let item = try FeedCorpus.read(Array(text.utf8)).items[0]
        #expect(item.time == FeedCorpus.received)
        #expect(item["published"] == "2038-11-21T02:00:00.000Z")
    }
}
