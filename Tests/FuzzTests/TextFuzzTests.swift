// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteCore
import VedetteDocument

@testable import VedetteText

@Suite("Mutated expressions")
struct TextFuzzTests {
    private static func samples(_ texts: [String]) -> [[UInt8]] { texts.map { Array($0.utf8) } }

    @Test("patterns end within their steps")
    func patterns() throws {
        let samples = Self.samples([
            #"(error: )?[a-z]+\d"#, "(a+)+$", #"^prod-\d{1,3}(?:\.lab)?$"#, "(?i)ready|failed", #"\b(\w+) \1\b"#,
            #"(?<=a)b|c(?!d)"#,
            #"[^\s,]+,.*?;"#, #"(?:a?){20}b"#, #"\p{Lu}\X\R"#,
        ])
        let words = [
            "(", ")", "(?:", "(?=", "(?<!", "[", "]", "{2,50}", "{3000}", "*", "+", "?", "*?", "++", "|", "\\", #"\1"#,
            #"\d"#, ".", "^",
            "$", #"\b"#, "a", "(a*)", #"\K"#, "(?R)", "(?1)", "(*ACCEPT)", "(?C1)", #"\Q"#, "x", "é",
        ]
        let text = String(repeating: "the system is ready, aaaaaaaaaaaaaaaaaaaaaaaa 12 ", count: 6)
        try Fuzzer("patterns", samples: samples, words: words).run { bytes in
            let pattern = try RegularExpression(String(decoding: bytes, as: UTF8.self))
            var meter = pattern.newMeter()
            let found = Result { try pattern.matches(text, counting: &meter) }
            if meter.steps > ScanMeter.limit + 100 * text.utf8.count { return "\(meter.steps) steps" }
            if case .success(let first) = found, meter.steps < 10_000, try pattern.matches(text) != first {
                return "two scans differ"
            }
            return nil
        }
    }

    @Test("templates render within their limits")
    func templates() throws {
        let samples = Self.samples([
            "{{item.title}} is {{to}}", "{{#to}}from {{from}} {{^from}}new{{/from}}{{/to}}",
            "{{! note }}\n{{#item.tags}}\n- {{.}}\n{{/item.tags}}",
            "{{{link}}} {{&rule}}",
        ])
        let words = [
            "{{", "}}", "{{{", "}}}", "{{#item.tags}}", "{{/item.tags}}", "{{.}}", "{{^to}}", "{{/to}}", "{{!", "\n",
            " ", "{{>x}}",
            "{{=<% %>=}}", "é", "{{item.title}}", "{{item.tags}}",
        ]
        let context = TemplateContext { name in
            name == "item.tags" ? .list(Array(repeating: "tag", count: 12)) : name == "to" ? .text("Started") : nil
        }
        try Fuzzer("templates", samples: samples, words: words).run { bytes in
            let template = try MustacheTemplate(String(decoding: bytes, as: UTF8.self), names: .message)
            let text = template.render(context)
            return text.utf8.count > 1 << 20 + MustacheTemplate.cutMark.utf8.count ? "\(text.utf8.count) bytes" : nil
        }
    }

    @Test("XPath ends within its steps")
    func xpath() throws {
        let samples = Self.samples([
            "//a[b/c]/following-sibling::a[1]", "count(//*[@id = 'x'])", "concat(b, ' ', @id)",
            "normalize-space(string(/r))",
            "//a | //b/..", "sum(//c) div 2 > position()", "substring-before(., ':')", "self::node()[not(*)]",
        ])
        let words = [
            "//", "/", "..", ".", "*", "[", "]", "(", ")", "|", "@", "a", "b", "ancestor::", "following::",
            "preceding::*", "descendant::",
            "text()", "node()", "[1]", "[last()]", "count(", "string(", "contains(., 'x')", "'", "\"", " or ", " and ",
            " = ", "$x", "1",
            "e9", "-", "id('x')", "x:y", ",", "not(", "//*[//*[//*]]",
        ]
        let body = "<r>" + (0..<60).map { "<a id='\($0)'><b><c>\($0)</c></b>text</a>" }.joined() + "</r>"
        try Fuzzer("xpath", samples: samples, words: words).run { bytes in
            let path = try XPath(String(decoding: bytes, as: UTF8.self))
            var limits = DOMLimits()
            limits.operations = 100_000
            let tree = try DOMReader(limits: limits).xml(Array(body.utf8))
            let texts = try tree.texts(path, at: tree.root)
            return texts.count > limits.results ? "\(texts.count) results" : nil
        }
    }
}
