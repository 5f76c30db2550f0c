// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import VedetteCore

@testable import VedetteSources

@Suite("The corpus of feeds")
struct FeedCorpusTests {
    @Test("every file has its row, every row its file, and they are many")
    func table() throws {
        let files = try FileManager.default.contentsOfDirectory(
            atPath: FeedCorpus.directory.appending(path: "feeds").path)
        #expect(Set(files) == Set(FeedCorpus.rows.map(\.file)))
        #expect(files.count == FeedCorpus.rows.count)
        #expect(files.count >= 60)
    }

    @Test("reads as its row says", arguments: FeedCorpus.good)
    func reads(row: FeedCorpus.Row) throws {
        let page = try FeedCorpus.read(row.body, charset: row.charset)
        #expect(page.items.count == row.items)
        for (place, name) in ["first", "second", "third"].enumerated() {
            guard let expected = row.json[name] else { continue }
            try expect(#require(page.items.dropFirst(place).first), expected)
        }
        #expect(page.warnings.count == row.warnings.count, "\(page.warnings)")
        for warning in row.warnings { #expect(page.warnings.contains { $0.contains(warning) }, "\(page.warnings)") }
        #expect(page.next?.url == row.json["next"]?.string)
        #expect(page.isComplete == (row.json["complete"] == .bool(true)))
        if let seconds = row.json["freshFor"]?.int64 { #expect(page.freshFor == .seconds(seconds)) }
        if let start = row.json["keysBegin"]?.string {
            #expect(page.items.allSatisfy { $0.key.hasPrefix(start) })
        }
        if let most = row.json["contentBytes"]?.int64 {
            let count = page.items.first?["content"]?.description.utf8.count ?? 0
            #expect(count <= Int(most) && count > Int(most) - 8)
        }
    }

    private func expect(_ item: Item, _ expected: JSON) {
        for member in expected.members ?? [] {
            let found = member.name == "time" ? item.time?.rfc3339 : item[member.name]?.description
            #expect(found == member.value.string, "\(member.name)")
        }
    }

    @Test("an incomplete feed is a failure of its own class", arguments: FeedCorpus.rows.filter { $0.error != nil })
    func fails(row: FeedCorpus.Row) throws {
        let body = try row.body
        let error = #expect(throws: ReadError.self) { try FeedCorpus.read(body, charset: row.charset) }
        #expect(error?.failure.rawValue == row.error)
    }

    @Test("two readings of the same bytes are equal", arguments: FeedCorpus.good)
    func deterministic(row: FeedCorpus.Row) throws {
        let one = try FeedCorpus.read(row.body, charset: row.charset)
        let two = try FeedCorpus.read(row.body, charset: row.charset)
        #expect(one.items == two.items)
        #expect(one.items.map(\.digest) == two.items.map(\.digest))
        #expect(one.warnings == two.warnings)
        #expect(Set(one.items.map(\.key)).count == one.items.count)
    }

    @Test("no truncation of a feed is a feed", arguments: FeedCorpus.good)
    func cuts(row: FeedCorpus.Row) throws {
        let whole = try row.body
        guard let end = FeedCorpusTests.endOfRoot(whole) else { return }
        // Over the whole, and each of the last; encodings have all one shape.
        let count = row.file.hasPrefix("encoding") ? 20 : 100
        let places = (0..<count).map { $0 * end / count } + (max(0, end - count)..<end)
        for place in Set(places) {
            #expect(throws: ReadError.self, "cut to \(place) of \(whole.count) bytes") {
                try FeedCorpus.read(Array(whole[..<place]), charset: row.charset)
            }
        }
    }

    /// The place of the root's last `>` or `}`; behind it nothing belongs to the document. Nil where this cannot be told: in
    /// encodings whose bytes are not ASCII's.
    private static func endOfRoot(_ bytes: [UInt8]) -> Int? {
        let text = String(decoding: bytes, as: UTF8.self)
        for root in ["</rss>", "</feed>", "</a:feed>", "</rdf:RDF>", "</r:RDF>"] {
            guard let found = bytes.firstRange(of: Array(root.utf8)) else { continue }
            return found.upperBound - 1
        }
        return text.contains("jsonfeed.org") ? bytes.lastIndex(of: UInt8(ascii: "}")) : nil
    }

    @Test("a cut feed in UTF-16 or UTF-32 is a failure")
    func wideCuts() throws {
        for file in ["encoding-utf-16le.xml", "encoding-utf-16be-bom.xml", "encoding-utf-32be.xml"] {
            let whole = try FeedCorpus.bytes(file)
            // The last `>` and the line end behind it.
            let end = whole.count - (file.contains("32") ? 8 : 4)
            for place in stride(from: 0, through: end, by: 13) {
                #expect(throws: ReadError.self) { try FeedCorpus.read(Array(whole[..<place])) }
            }
        }
    }

    @Test("the order of entries changes no key, no digest and nothing else of an item")
    func order() throws {
        let entries = (1...7).map { number in
            number % 3 == 0
                ? "<item><title>Untold \(number)</title><description>d \(number)</description></item>"
                : "<item><title>T \(number)</title><guid isPermaLink='false'>g\(number)</guid></item>"
        }
        func items(_ entries: [String]) throws -> [String: Item] {
            let text = "<rss version='2.0'><channel><title>c</title>\(entries.joined())</channel></rss>"
            let items = try FeedCorpus.read(Array(text.utf8)).items
            return Dictionary(uniqueKeysWithValues: items.map { ($0.key, $0) })
        }
        let straight = try items(entries)
        #expect(straight.count == 7)
        #expect(try items(entries.reversed()) == straight)
        #expect(try items([3, 0, 6, 1, 5, 2, 4].map { entries[$0] }) == straight)
    }

    @Test("tracking parameters and session ids change no key")
    func tracking() throws {
        let bare = "https://news.example.org/a?id=9#part"
        for address in [
            "https://news.example.org/a?id=9&utm_source=rss#part", "https://news.example.org/a?fbclid=x&id=9#part",
            "https://news.example.org/a;jsessionid=0A1B?id=9#part",
        ] {
            #expect(FeedLink.key(address) == bare)
        }
        #expect(FeedLink.key(bare) == bare)
        #expect(FeedLink.key("urn:x?utm_source=y") == "urn:x?utm_source=y")
    }
}
