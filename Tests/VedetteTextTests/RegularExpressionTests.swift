// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteCore
@testable import VedetteText

struct RegularExpressionTests {
    @Test(
        "a pattern is found anywhere, in characters and not in bytes",
        arguments: [
            ("^prod", "prod-1", true), ("^prod", "my-prod", false), ("prod", "my-prod", true),
            ("^.$", "è", true), (#"^\w+$"#, "größe", true), (#"\bready\b"#, "not ready yet", true),
            ("", "", true), ("", "x", true), ("x", "", false), ("^a.*b$", "a\nb", false), ("(?s)^a.*b$", "a\nb", true),
            ("(?i)READY", "Ready for use", true), ("a\0b", "a\0b", true), (#"\p{Lu}"#, "é É", true),
        ])
    func finds(pattern: String, text: String, expected: Bool) throws {
        #expect(try RegularExpression(pattern).matches(text) == expected)
    }

    @Test("case is ignored when asked, also beyond ASCII")
    func ignoresCase() throws {
        #expect(try RegularExpression("GRÖSSE", ignoringCase: true).matches("grösse"))
        #expect(try !RegularExpression("GRÖSSE").matches("grösse"))
    }

    @Test(
        "the error for a bad pattern has the place in characters and a remedy",
        arguments: [
            ("prod-(", 6, #"close it, or write '\(' for the character itself"#),
            ("è(", 2, #"close it, or write '\(' for the character itself"#),
            ("[z-a]", 3, "write the lower end first"),
            ("a[b", 3, #"close it, or write '\[' for the character itself"#),
            ("*.log", 0, #"write '.*' for anything, '\*' for the character itself"#),
        ])
    func explains(pattern: String, offset: Int, remedy: String) {
        let error = #expect(throws: PatternError.self) { try RegularExpression(pattern) }
        // PCRE2's own words stand in between.
        #expect(error?.offset == offset && error?.detail.hasPrefix("bad regular expression: ") == true)
        #expect(error?.detail.hasSuffix("; \(remedy)") == true)
    }

    @Test("a single code unit cannot be matched, since half a character is none")
    func refusesCodeUnits() {
        #expect(throws: PatternError.self) { try RegularExpression(#"\C"#) }
    }

    @Test("runaway backtracking is an error, never 'no match'")
    func limits() throws {
        let pattern = try RegularExpression("(a+)+$")
        let error = #expect(throws: PatternError.self) {
            try pattern.matches(String(repeating: "a", count: 30) + "b")
        }
        #expect(error?.detail.contains("'(a+)+$' takes too long") == true)
        #expect(error?.offset == nil)
    }

    @Test(
        "a scan that walks through a long text from each of its letters is an error, never 'no match'",
        arguments: [
            #"(error: )?[a-z]+\d"#, #"[a-z]{30000,}\d"#, #"(a*)[bc]\1"#, "([a-z]+)(?=.*\\1[!?])", "(?:a?){40}[bc]",
            #"(?<=a)[a-z]+[;:]"#,
        ])
    func longScans(pattern: String) throws {
        let text = String(repeating: "a", count: 64 << 10)
        let pattern = try RegularExpression(pattern)
        var meter = pattern.meter
        let error = #expect(throws: PatternError.self) { try pattern.matches(text, counting: &meter) }
        #expect(error?.detail.contains("takes too long") == true)
        #expect(meter.steps < ScanMeter.limit + 200_000)
    }

    @Test(
        "a usual scan of a long text stays far below the limit",
        arguments: [
            (#"error \d{3}"#, true), ("(?i)ERROR|FAILED", true), (#"^\w+ .*timeout.*$"#, false),
            (#"error.*timeout"#, false),
            (#"\b(\w+) \1\b"#, false), (#"(?i)\bready\b"#, false), (#"[a-z]+\d{4}-\d\d"#, false),
        ])
    func usualScans(pattern: String, expected: Bool) throws {
        let text = String(repeating: "the system is starting, ", count: 2700) + "error 503 at last"
        let pattern = try RegularExpression(pattern)
        var meter = pattern.meter
        #expect(try pattern.matches(text, counting: &meter) == expected)
        #expect(meter.steps < ScanMeter.limit / 4)
    }

    @Test("a pattern cannot raise its own limit")
    func limitsCannotBeRaised() throws {
        let pattern = try RegularExpression("(*LIMIT_MATCH=4000000000)(a+)+$")
        #expect(throws: PatternError.self) { try pattern.matches(String(repeating: "a", count: 30) + "b") }
    }

    @Test("a long text that is too deep for the JIT's stack is matched by the interpreter or refused, never a crash")
    func deep() throws {
        let pattern = try RegularExpression("^(?:(a)|b)*c")
        let text = String(repeating: "ab", count: 50_000) + "c"
        do { #expect(try pattern.matches(text)) } catch let error { #expect(error.detail.contains("takes too long")) }
    }

    @Test("a pattern longer than 8 KiB is refused")
    func tooLong() {
        #expect(throws: PatternError.self) { try RegularExpression(String(repeating: "a", count: 8193)) }
    }

    @Test("one pattern serves many tasks at once")
    func concurrent() async throws {
        let pattern = try RegularExpression(#"prod-(\d+)"#)
        let found = try await withThrowingTaskGroup(of: Int.self) { group in
            for task in 0..<8 {
                group.addTask { try (0..<200).count { try pattern.matches("prod-\($0 * task)") } }
            }
            return try await group.reduce(0, +)
        }
        #expect(found == 1600)
    }

    @Test("the named groups of each text come from its first match; a group without a part is left out")
    func groups() throws {
        let pattern = try RegularExpression("^(?<b>\\w+)(?: (?<a>\\d+))?(x)?")
        #expect(pattern.groupNames == ["b", "a"])
        #expect(
            try pattern.groups(inEach: ["äö 12x", "-", "k"]) == [["b": "äö", "a": "12"], nil, ["b": "k"]])
        let plain = try RegularExpression("x")
        #expect(try plain.groupNames.isEmpty && plain.groups(inEach: ["x", "y"]) == [[:], nil])
    }

    @Test("all texts together have one limit of steps")
    func groupsLimit() throws {
        let pattern = try RegularExpression("(a+)+$")
        let text = String(repeating: "a", count: 30) + "b"
        #expect(throws: PatternError.self) {
            _ = try pattern.groups(inEach: Array(repeating: text, count: 1000))
        }
    }
}
