// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import VedetteCore

@Suite("Numbers as people write them")
struct WrittenNumberTests {
    /// Fifty spellings, of shops above all, and what each is as programs write it.
    private static let spellings: [(String, String)] = [
        ("1299", "1299"), ("1.299", "1.299"), ("-5", "-5"), ("2e3", "2e3"), ("+3", "+3"),
        ("12 %", "12"), ("3.4 GB", "3.4"), ("100ms", "100"), ("1,50", "1.50"), ("0,5", "0.5"),
        ("1,299", "1299"), ("12,345,678", "12345678"), ("1'000", "1000"), ("1 234,567", "1234.567"),
        ("−7,5 °C", "-7.5"), ("Temp: -5 °C", "-5"), ("A-5", "5"), ("Widget - 899", "899"), ("1234,567", "1234.567"),
        ("$1,299.00", "1299.00"), ("Price: $899.00", "899.00"), ("$899.00*", "899.00"), ("from £899", "899"),
        ("US$ 1,299", "1299"), ("-$5.00", "-5.00"), ("$-5.00", "-5.00"), ("£0.99 / month", "0.99"),
        ("(¥12,800)", "12800"),
        ("899,00 €", "899.00"), ("899,00 € inkl. MwSt.", "899.00"), ("1.299 €", "1299"), ("ab 1.299,00 EUR", "1299.00"),
        ("EUR 1.234.567,89", "1234567.89"), ("1\u{202F}299,90 €", "1299.90"), ("1 234,5 kr", "1234.5"),
        ("kr 1.299", "1299"), ("1.299,00 kr.", "1299.00"), ("899,- €", "899"), ("€ 899,-", "899"), ("899,–", "899"),
        ("1.299,-", "1299"), ("CHF 899.-", "899"), ("Fr. 1’299.–", "1299"), ("1299€90", "1299.90"),
        ("0.799 €/l", "0.799"), ("0,799 €", "0.799"), ("1,799 €", "1799"), ("R$ 1.299,90", "1299.90"),
        ("₹1,23,456.00", "123456.00"), ("12.999 Kč", "12999"),
    ]

    /// A value and a bound just below it: it must be above the one and below the other.
    @Test("a number in words, with a currency, a unit and separators, is that number", arguments: spellings)
    func read(text: String, plain: String) throws {
        #expect(WrittenNumber(text)?.plain == plain)
        let number = try #require(Double(plain))
        #expect(try ValueMatcher.above(number - 0.001).matches(.text(text)))
        #expect(try ValueMatcher.below(number + 0.001).matches(.text(text)))
        #expect(try !ValueMatcher.above(number + 0.001).matches(.text(text)))
    }

    @Test(
        "a text with no number or several matches neither above nor below",
        arguments: [
            "", "abc", "1-2", "12:30", "1.2.3", "3 of 5", "1,2,3", "12 30", "$", "v2 beta 3", "1,23,456", "2026-11-21",
            "899 € statt 999 €", "inkl. 19 % MwSt. 899,00 €", "nan", "inf", "25.11.2026", "1234,567,890", "1.299,000.5",
        ])
    func unread(text: String) throws {
        #expect(WrittenNumber(text) == nil)
        #expect(try !ValueMatcher.above(-1e300).matches(.text(text)))
        #expect(try !ValueMatcher.below(1e300).matches(.text(text)))
    }

    @Test("a known decimal sign decides; a text that it does not fit has no number")
    func decimal() {
        for (text, decimal, plain) in [
            ("1.799 €/l", ".", "1.799"), ("1,799 €/l", ",", "1.799"), ("1.299", ",", "1299"),
            ("$1,299.00", ".", "1299.00"),
            ("1.299,00 €", ".", nil), ("1.5", ",", nil), ("1,299,5", ",", nil),
        ] as [(String, Character, String?)] {
            #expect(WrittenNumber(text, decimal: decimal)?.plain == plain, "\(text)")
        }
    }

    @Test(
        "with a known decimal sign a field becomes its number, with its unit, unless other words stand around it",
        arguments: [
            ("1.299,00 €", "1299.00"), ("ab 1.299 €*", "1299"), ("Price: 899,00 €", "899.00"), ("899,- €", "899"),
            ("1.299,00 € inkl. MwSt. zzgl. Versand", "1299.00"), ("−7,5 °C", "-7.5"), ("+3,5 %", "3.5"), ("(3)", "3"),
            ("1,799 €/l", "1.799"), ("1,799 € / l", "1.799 l"), ("1.234 kWh", "1234 kWh"), ("100ms", "100 ms"),
            ("3 Tage", "3 Tage"), ("in 3 Tagen", nil), ("3 mal heute", nil), ("Stand: 3", nil), ("<5", nil),
            ("Widget-5", nil), ("899 € statt 999 €", nil),
        ] as [(String, String?)])
    func field(text: String, field: String?) {
        #expect(WrittenNumber(text, decimal: ",")?.field == field)
    }

    @Test("a value below 10 shows the decimal sign of its field, which then holds for an ambiguous price")
    func decimals() {
        for (text, earlier, plain) in [
            ("1.799 €", "0.999 €", "1.799"), ("1,799 €/l", "1,79 €", "1.799"), ("kr 1.299", "9.5 kr", "1.299"),
            ("1.799 €", "9,50 €", "1799"), ("1.299 €", "10 €", "1299"), ("1.299 €", "899.00 €", "1299"),
            ("1.299 €", "0 €", "1299"), ("1.299 €", "sold out", "1299"), ("1.299 €", "1.199 €", "1299"),
            ("$1,299", "$2", "1299"), ("1.299.000 €", "5.50 €", "1299000"),
        ] as [(String, Value, String)] {
            var head = SnapshotHead(identity: 1, fingerprints: [:], goodAt: at(0))
            head.decimals.note(FieldChange(field: "price", from: earlier, to: .text(text)))
            #expect(WrittenNumber(text, likely: head.decimals["price"])?.plain == plain, "\(text) after \(earlier)")
        }
    }

    @Test(
        "a price is read the same way as the old value and as the new one, so that it crosses a bound once",
        arguments: [
            (["9,50 €", "1.799 €", "1,85 €"], 5, [2]), (["5.50 €", "1.799 €", "1.85 €", "1.801 €", "1.785 €"], 5, [1]),
            (["1.80 €", "1.801 €", "1.785 €", "1.78 €"], 1.79, [2]), (["1.799 €", "1.789 €", "1.50 €"], 1.6, [2]),
            (["1.299 €", "899,00 €", "1.199 €", "799 €"], 1000, [1, 3]), (["1.299 €", "8,99 €"], 1000, [1]),
        ] as [([String], Double, [Int])])
    func crossing(prices: [String], bound: Double, told: [Int]) throws {
        var memory = Memory()
        var found: [Int] = []
        let cheap = Condition.field("price", from: nil, to: .below(bound))
        for (n, price) in prices.enumerated() {
            // As the journal keeps it over a restart.
            var record = SourceRecord(name: "lab")
            record.snapshot = memory.head
            memory.head = SourceRecord(name: "lab", json: try JSON(parsing: record.bytes)).snapshot
            let item = Item(key: "1", fields: ["price": .text(price)])
            for draft in memory.poll(source(), [item], at: at(Int64(n))) {
                let draft = draft.event(id: Identifier("1"), source: source(), poll: "p", at: at(0))
                // As rules keep it over a restart.
                let event = try #require(Event(json: draft.json))
                if try cheap.mismatch(with: event) == nil { found.append(n) }
                let stays = Condition.stays("price", .below(bound))
                #expect(try (stays.mismatch(with: event) == nil) == (cheap.mismatch(with: event) == nil))
            }
        }
        #expect(found == told)
    }

    @Test("a measure is read with the sign that earlier ones showed, from the first poll on and for every item")
    func measures() {
        var memory = Memory()
        var read: [String] = []
        for (n, (plain, sign)) in [("1799", "."), ("1.79", "."), ("1799", "."), ("9.50", ","), ("1799", ".")]
            .enumerated()
        {
            let items = ["1", "2"].map { key in
                var item = Item(key: key, measures: ["price": .text(plain)])
                item.decimals = ["price": Character(sign)]
                return item
            }
            memory.poll(source(), items, at: at(Int64(n)))
            read.append(memory.stored["2"]?.item?.measures["price"]?.description ?? "")
            #expect(memory.stored["2"]?.item?.decimals == [:])
        }
        #expect(read == ["1799", "1.79", "1.799", "9.50", "1799"])
    }

    @Test("a rule reads the price of fuel alike when it begins to match and when that is over")
    func fuel() throws {
        func event(_ from: Value, _ to: Value, _ other: String = "title") -> Event {
            var item = Item(key: "1", fields: ["price": to])
            item.decimals = ["price": "."]
            let change = FieldChange(field: from == to ? other : "price", from: from, to: to)
            return Event(
                id: Identifier("1"), kind: .changed, time: at(0), source: "s", sourceKind: "json", poll: "p",
                item: item, changes: [change])
        }
        let cheap = Condition.field("price", from: nil, to: .below(1.5))
        let (fall, rise) = (event("1.79 €", "1.499 €"), event("1.499 €", "1.519 €"))
        for condition in [cheap, .item("price", .below(1.5)), .by("price", try #require(Delta("10%")))] {
            #expect(try condition.mismatch(with: fall) == nil)
        }
        #expect(try cheap.mismatch(with: event("1.79 €", "1.519 €")) != nil)
        for condition in [cheap, .item("price", .below(1.5)), .stays("price", .below(1.5))] {
            #expect(condition.remainsTrue(since: fall, after: event("1.499 €", "1.499 €")))
            #expect(condition.remainsTrue(since: fall, after: event("1.499 €", "1.489 €")))
            #expect(!condition.remainsTrue(since: fall, after: rise))
        }
    }

    @Test("a price whose only sign stands before three digits is ambiguous, unless nobody would read another one")
    func ambiguity() {
        for text in ["1.299 €", "1,799 €/l", "kr 1.299", "$3.459"] {
            #expect(WrittenNumber(text)?.isAmbiguous == true, "\(text)")
        }
        for text in ["1.299", "$1,299", "1.299,-", "0,799 €", "1.299.000 €", "12,99 €", "1.2999 €"] {
            #expect(WrittenNumber(text)?.isAmbiguous == false, "\(text)")
        }
    }

    @Test("by measures a price with its currency")
    func delta() throws {
        let delta = try #require(Delta("5%"))
        let by = Condition.by("price", delta)
        for (from, to, matches) in [("$1,000.00", "$1,060.00", true), ("$1,000.00", "$1,040.00", false)] {
            let change = FieldChange(field: "price", from: .text(from), to: .text(to))
            let event = Event(
                id: Identifier("1"), kind: .changed, time: at(0), source: "s", sourceKind: "json", poll: "p",
                item: Item(key: "1"), changes: [change])
            #expect(try (by.mismatch(with: event) == nil) == matches)
        }
    }

    @Test("not inverts a matcher; of a list it asks for the whole list")
    func inverted() throws {
        let matcher = ValueMatcher.not(.oneOf(["a", "b"]))
        #expect(try matcher.matches("c") && !matcher.matches("a"))
        #expect(try !matcher.matches(.list(["a", "c"])))
        #expect(matcher.description == "not 'a' or 'b'")
    }
}
