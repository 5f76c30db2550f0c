// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteTestSupport

@testable import VedetteCore

@Suite("What changed in a text")
struct WordDiffTests {
    private func excerpt(_ old: String, _ new: String) -> String? {
        WordDiff(from: old, to: new)?.excerpt.map(\.text).joined()
    }

    @Test("a change is shown with some words around it")
    func changed() {
        let old = "Welcome to our shop where the price is 10 euros for all of our friends"
        #expect(
            excerpt(old, old.replacing("10", with: "12")) == "… the price is 10 → 12 euros for all …")
        #expect(excerpt("a b c", "a x c") == "a b → x c")
        #expect(excerpt("a b", "a b c d") == "a b +c d")
        #expect(excerpt("a b c", "c") == "−a b c")
        #expect(excerpt("", "new") == "+new" && excerpt("old", "") == "−old")
        #expect(excerpt("same  text\n", "same text") == "only white space changed")
    }

    @Test("several changes are shown one after the other, and many are counted")
    func several() {
        #expect(excerpt("a b c d e f g h i j", "A b c d e f g h i J") == "a → A b c d … g h i j → J")
        let old = (0..<40).map { "w\($0) x\($0)" }.joined(separator: " ")
        let new = (0..<40).map { "w\($0) y\($0)" }.joined(separator: " ")
        let text = excerpt(old, new) ?? ""
        #expect(text.hasPrefix("w0 x0 → y0 w1 x1 → y1 w2") && text.hasSuffix(" (and 35 more changes)"))
    }

    @Test("the parts make up both texts, and the edit is the shortest one", arguments: 1...40)
    func property(seed: UInt64) {
        var dice = SplitMix64(seed)
        func text() -> [String] {
            (0..<Int.random(in: 0...12, using: &dice)).map { _ in
                "abc".randomElement(using: &dice).map(String.init) ?? "a"
            }
        }
        for _ in 0..<50 {
            let (old, new) = (text(), text())
            let parts = WordDiff(from: old.joined(separator: " "), to: new.joined(separator: "\n"))?.parts ?? []
            let rebuilt = parts.reduce(into: (old: [String](), new: [String]())) { sides, part in
                switch part {
                case .same(let words): sides = (sides.old + words, sides.new + words)
                case .changed(let from, let to): sides = (sides.old + from, sides.new + to)
                }
            }
            #expect(rebuilt.old == old && rebuilt.new == new)
            let same = parts.reduce(0) { count, part in
                if case .same(let words) = part { count + words.count } else { count }
            }
            #expect(same == longestCommon(old, new), "\(old) → \(new)")
        }
    }

    /// By definition.
    private func longestCommon(_ a: [String], _ b: [String]) -> Int {
        var row = [Int](repeating: 0, count: b.count + 1)
        for word in a {
            var diagonal = 0
            for j in b.indices {
                (diagonal, row[j + 1]) = (row[j + 1], word == b[j] ? diagonal + 1 : max(row[j + 1], row[j]))
            }
        }
        return row[b.count]
    }

    @Test("texts that differ too much are one change, and texts that are too long are not compared")
    func bounds() {
        let old = (0..<3000).map { "old\($0)" }.joined(separator: " ")
        let new = (0..<3000).map { "new\($0)" }.joined(separator: " ")
        #expect(WordDiff(from: "start " + old + " end", to: "start " + new + " end")?.parts.count == 3)
        let long = String(repeating: "word ", count: 30_000)
        #expect(WordDiff(from: long, to: long + "x") == nil)
        let summary = FieldChange(field: "text", from: .text(long), to: .text(long + "x")).summary
        #expect(summary.count == 2 * 201 + 3 && summary.hasPrefix("word word "))
        #expect((excerpt("a " + old, "a " + new) ?? "").count < 500)
    }

    @Test("a message shows what changed in a long text, a short value is shown whole")
    func message() {
        let old =
            String(repeating: "lorem ipsum ", count: 20) + "price 10 euros " + String(repeating: "dolor ", count: 20)
        let item = Item(key: "1", title: "shop", fields: ["text": .text(old.replacing("10", with: "12"))])
        let change = FieldChange(field: "text", from: .text(old), to: item.fields["text"], lasted: nil)
        let event = Event(
            id: Identifier("e"), kind: .changed, time: Timestamp(milliseconds: 0), source: "lab", sourceKind: "html",
            poll: "p", item: item, changes: [change])
        #expect(MessageTitle.of(event) == "shop: text changed")
        #expect(MessageText.of(event) == "lab\n… lorem ipsum price 10 → 12 euros dolor dolor …")
        #expect(
            event.templateContext(rule: "r", field: nil)["change.diff"]
                == "… lorem ipsum price 10 → 12 euros dolor dolor …")
        #expect(FieldChange(field: "state", from: "up", to: "down").summary == "up → down")
        #expect(FieldChange(field: "state", from: nil, to: "down").summary == "none → down")
    }
}
