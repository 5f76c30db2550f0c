// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteCore

@Suite("Numbers as people write them")
struct WrittenNumberTests {
    /// A value and a bound just below it: it must be above the one and below the other.
    @Test(
        "a number with a currency, a unit and separators matches above and below",
        arguments: [
            ("$1,299.00", 1299.0), ("899,00 €", 899), ("12 %", 12), ("3.4 GB", 3.4), ("-5", -5),
            ("EUR 1.234.567,89", 1_234_567.89),
            ("1 234,5 kr", 1234.5), ("1'000", 1000), ("−7,5 °C", -7.5), ("1,299", 1299), ("1.299", 1.299), ("0,5", 0.5),
            ("+3", 3),
            ("1,50", 1.5), ("12,345,678", 12_345_678), ("1\u{202F}000 €", 1000), ("2e3", 2000), ("100ms", 100),
        ])
    func read(text: String, number: Double) throws {
        #expect(try ValueMatcher.above(number - 0.001).matches(.text(text)))
        #expect(try ValueMatcher.below(number + 0.001).matches(.text(text)))
        #expect(try !ValueMatcher.above(number + 0.001).matches(.text(text)))
    }

    @Test(
        "a text that is no single number matches neither",
        arguments: [
            "", "abc", "1-2", "12:30", "1.2.3", "3 of 5", "1,2,3", "12 30", "$", "v2 beta 3", "1,23,456", "2026-11-21",
        ])
    func unread(text: String) throws {
        #expect(try !ValueMatcher.above(-1e300).matches(.text(text)))
        #expect(try !ValueMatcher.below(1e300).matches(.text(text)))
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
