// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import VedetteCore

@Suite("Texts by which the journal finds rows")
struct IndexedTextTests {
    private let longest = String(repeating: "k", count: IndexedText.longest)

    @Test("a text that fits an index stays as it is")
    func short() {
        for text in ["", "urn:1", longest, String(repeating: "é", count: IndexedText.longest / 2)] {
            #expect(IndexedText.bounded(text) == text)
        }
    }

    @Test("a longer one keeps its beginning for people, a digest of the whole, and no more")
    func long() {
        let texts = [longest + "1", longest + "2", longest + "k", String(repeating: "k", count: 3 << 20)]
        let bounded = texts.map(IndexedText.bounded)
        #expect(Set(bounded).count == texts.count)
        #expect(bounded.allSatisfy { $0.utf8.count == IndexedText.beginning + 3 + 32 })
        #expect(bounded.allSatisfy { $0.hasPrefix(longest.prefix(IndexedText.beginning) + "…") })
        #expect(bounded.map(IndexedText.bounded) == bounded, "it is not shortened twice")
        // The journal keeps it: another version must make the same.
        #expect(bounded[0].hasSuffix("…40d199438c4d8e031ed646d508a98f2a"))
    }

    @Test("the beginning ends between two characters")
    func characters() throws {
        for shift in 0..<4 {
            let text = String(repeating: "x", count: shift) + String(repeating: "😀", count: 300)
            let bounded = IndexedText.bounded(text)
            let beginning = try #require(bounded.split(separator: "…").first)
            #expect(text.hasPrefix(beginning) && beginning.utf8.count > IndexedText.beginning - 4)
        }
    }

    @Test("what PostgreSQL stores in more bytes counts as those")
    func escapes() {
        for character in ["\0", "\u{10FFFF}"] {
            let fits = String(repeating: character, count: IndexedText.longest / 5)
            #expect(IndexedText.bounded(fits) == fits)
            let longer = IndexedText.bounded(fits + "\0")
            #expect(longer != fits + "\0" && longer.utf8.count <= IndexedText.beginning + 35)
        }
    }
}
