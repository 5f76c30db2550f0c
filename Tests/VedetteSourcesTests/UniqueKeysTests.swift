// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteCore

@testable import VedetteSources

@Suite("Keys of a page")
struct UniqueKeysTests {
    /// The keys that count, as a set finds them.
    private func kept(_ keys: [String]) -> [String] {
        var seen = Set<String>()
        return keys.filter { seen.insert($0).inserted }
    }

    @Test(
        "each key counts once, in whatever order keys come",
        arguments: [
            [], ["a"], ["a", "a"], ["1", "2", "9", "10", "11"], ["11", "10", "9", "2", "1"],
            ["1", "2", "3", "2", "4", "1", "5"], ["9", "8", "7", "8", "6"], ["b", "a", "c", "a"], ["", "", "a"],
            ["10", "9", "10"], ["é", "e\u{301}", "f"], ["1", "é", "2", "e\u{301}", "1"],
        ])
    func orders(keys: [String]) {
        var (set, items) = (UniqueKeys(), [Item]())
        for key in keys where set.insert(key, after: items) { items.append(Item(key: key)) }
        #expect(items.map(\.key) == kept(keys))
    }

    @Test("random keys count as a set counts them")
    func random() {
        var state: UInt64 = 7
        for round in 0..<300 {
            let keys = (0..<Int(round % 12)).map { _ in
                state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                return String(state >> 61)
            }
            var (set, items) = (UniqueKeys(), [Item]())
            for key in keys where set.insert(key, after: items) { items.append(Item(key: key)) }
            #expect(items.map(\.key) == kept(keys), "\(keys)")
        }
    }
}
