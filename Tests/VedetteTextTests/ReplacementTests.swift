// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteCore
@testable import VedetteText

@Suite("Replacements")
struct ReplacementTests {
    private func replaced(_ pattern: String, _ text: String, _ replacement: String) throws -> String {
        var budget = MatchBudget()
        return try RegularExpression(pattern).replacing(in: text, with: replacement, &budget)
    }

    @Test(
        "every match is replaced, and groups stand for what they matched",
        arguments: [
            (#"\d+"#, "12 of 40 left", "#", "# of # left"), (#"(\w+)@(\w+)"#, "ann@host", "$2 of ${1}", "host of ann"),
            (#"(?<day>\d+)\.(?<month>\d+)\."#, "24.12. and 1.2.", "${month}/$day", "12/24 and 2/1"),
            ("x", "x", "$$1", "$1"), ("(a)|b", "ab", "<$1>", "<a><>"), ("x", "nothing here", "y", "nothing here"),
            ("(?m)^.*visitors.*\\n?", "one\n12 visitors today\ntwo", "", "one\ntwo"), ("è", "très è", "e", "tres e"),
            ("a*", "baac", "-", "-b--c-"), ("", "", "x", "x"), (".", "", "x", ""),
        ])
    func replaces(pattern: String, text: String, replacement: String, expected: String) throws {
        try RegularExpression(pattern).check(replacement: replacement)
        #expect(try replaced(pattern, text, replacement) == expected)
    }

    @Test(
        "a replacement that names no group of its expression is refused with the remedy",
        arguments: [
            ("$2", "'(?<n>a)' has no group '2' for '$2'; write '$$' for a '$' itself"),
            ("${m}", "'(?<n>a)' has no group 'm' for '${m}'; write '$$' for a '$' itself"),
            ("5 $", "'$' begins no group in '5 $'; write '$$' for the character itself"),
            ("${n", "'$' begins no group in '${n'; write '$$' for the character itself"),
            ("$*MARK", "'$' begins no group in '$*MARK'; write '$$' for the character itself"),
        ])
    func refuses(replacement: String, reason: String) throws {
        let pattern = try RegularExpression("(?<n>a)")
        let error = #expect(throws: PatternError.self) { try pattern.check(replacement: replacement) }
        #expect(error?.detail == reason)
    }

    @Test("all texts of a page share one budget; what exceeds it is an error, never a text that is half replaced")
    func budget() throws {
        let pattern = try RegularExpression("(a+)+$")
        var budget = MatchBudget(steps: 100_000)
        #expect(try pattern.replacing(in: "aaa", with: "b", &budget) == "b")
        #expect(budget.steps < 100_000)
        let error = #expect(throws: PatternError.self) {
            try pattern.replacing(in: String(repeating: "a", count: 40) + "b", with: "", &budget)
        }
        #expect(error?.detail.contains("'(a+)+$' takes too long") == true)
        #expect(budget.steps == 0)
        #expect(throws: PatternError.self) { try pattern.replacing(in: "aaa", with: "b", &budget) }
    }

    @Test("a text that replacements would make many times longer is an error")
    func growth() throws {
        let error = #expect(throws: PatternError.self) {
            try replaced(".", String(repeating: "x", count: 10_000), "yyyyy")
        }
        #expect(error?.detail == "'.' and its replacement make a text more than twice as long; write a shorter one")
    }

    @Test("a text of megabytes is replaced within the budget of a page")
    func long() throws {
        let text = String(repeating: "line 17 of many\n", count: 200_000)
        #expect(try replaced(#"\d+"#, text, "N").utf8.count == text.utf8.count - 200_000)
    }
}
