// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteCore

@Suite("by: how far a number must move")
struct DeltaTests {
    private func isMet(_ delta: String, _ from: Value?, _ to: Value?) throws -> Bool {
        let by = try #require(Delta(delta))
        let event = Event(
            id: Identifier("e"), kind: .changed, time: RuleHarness.noon, source: "lab", sourceKind: "json", poll: "p",
            item: Item(key: "a"), changes: [FieldChange(field: "n", from: from, to: to)])
        return try Condition.by("n", by).mismatch(with: event) == nil
    }

    @Test(
        "as far as is written, either way or the one that is asked for",
        arguments: [
            ("10", "100", "110", true), ("10", "100", "109.9", false), ("10", "100", "90", true),
            ("5%", "100", "105", true), ("5%", "100", "104.9", false), ("5%", "-100", "-95", true),
            ("+5%", "100", "105", true), ("+5%", "100", "95", false), ("-10", "100", "90", true),
            ("-10", "100", "110", false), ("0.1", "0.2", "0.3", true), ("5%", "1.1", "1.155", true),
            ("5%", "0", "1", true), ("5%", "0", "0", false), ("5", "7", "7", false), ("5%", "100", "104.96", false),
            ("+0.1", "1", "1.5", true), ("-0.1", "1", "1.05", false),
        ] as [(String, String, String, Bool)])
    func meaning(delta: String, from: String, to: String, expected: Bool) throws {
        #expect(try isMet(delta, .text(from), .text(to)) == expected)
    }

    @Test("a value that is absent or no number does not match")
    func noNumbers() throws {
        #expect(try !isMet("1", nil, "5"))
        #expect(try !isMet("1", "x", "5"))
        #expect(try !isMet("1", "5", nil))
    }

    @Test(
        "a text that is no step is refused",
        arguments: ["", "+", "-", "%", "0", "-0", "5 %", "%5", "1e999", "--5", "nan", ".5"])
    func malformed(text: String) { #expect(Delta(text) == nil) }

    @Test("the description is the text as it is written", arguments: ["10", "5%", "+5%", "-0.5"])
    func description(text: String) { #expect(Delta(text)?.description == text) }
}
