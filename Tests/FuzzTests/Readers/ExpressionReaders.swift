// SPDX-License-Identifier: Apache-2.0

import VedetteCore
import VedetteDocument

@testable import VedetteText

/// Readers of expressions that users write, some of which then read what servers answer.
extension FuzzReader {
    static let expressions = [
        FuzzReader(
            "patterns",
            words: [
                "(", ")", "(?:", "(?=", "(?<!", "[", "]", "{2,50}", "{3000}", "*", "+", "?", "*?", "++", "|", "\\",
                #"\1"#,
                #"\d"#, ".", "^", "$", #"\b"#, "a", "(a*)", #"\K"#, "(?R)", "(?1)", "(*ACCEPT)", "(?C1)", #"\Q"#, "x",
                "é",
            ],
            texts: [
                #"(error: )?[a-z]+\d"#, "(a+)+$", #"^prod-\d{1,3}(?:\.lab)?$"#, "(?i)ready|failed", #"\b(\w+) \1\b"#,
                #"(?<=a)b|c(?!d)"#, #"[^\s,]+,.*?;"#, #"(?:a?){20}b"#, #"\p{Lu}\X\R"#,
            ],
            check: {
                let text = String(repeating: "the system is ready, aaaaaaaaaaaaaaaaaaaaaaaa 12 ", count: 6)
                return { bytes in
                    let pattern = try RegularExpression(String(decoding: bytes, as: UTF8.self))
                    // What ends a scan at a limit is the same at any: a tenth of the program's is enough.
                    var meter = pattern.meter
                    meter.limit /= 10
                    let found = Result { try pattern.matches(text, counting: &meter) }
                    if meter.steps > meter.limit + 100 * text.utf8.count { return "\(meter.steps) steps" }
                    if case .success(let first) = found, meter.steps < 10_000, try pattern.matches(text) != first {
                        return "two scans differ"
                    }
                    return nil
                }
            }),
        FuzzReader(
            "templates",
            words: [
                "{{", "}}", "{{{", "}}}", "{{#item.tags}}", "{{/item.tags}}", "{{.}}", "{{^change.to}}",
                "{{/change.to}}",
                "{{!", "\n", " ", "{{>x}}", "{{=<% %>=}}", "é", "{{item.title}}", "{{item.tags}}",
            ],
            texts: [
                "{{item.title}} is {{change.to}}",
                "{{#change.to}}from {{change.from}} {{^change.from}}new{{/change.from}}{{/change.to}}",
                "{{! note }}\n{{#item.tags}}\n- {{.}}\n{{/item.tags}}", "{{{link}}} {{&rule.name}}",
            ],
            check: {
                let context = TemplateContext { name in
                    name == "item.tags"
                        ? .list(Array(repeating: "tag", count: 12)) : name == "change.to" ? .text("Started") : nil
                }
                return { bytes in
                    let template = try MustacheTemplate(String(decoding: bytes, as: UTF8.self), names: .message)
                    let text = template.render(context)
                    return text.utf8.count > 1 << 20 + MustacheTemplate.cutMark.utf8.count
                        ? "\(text.utf8.count) bytes" : nil
                }
            }),
        FuzzReader(
            "xpath",
            words: [
                "//", "/", "..", ".", "*", "[", "]", "(", ")", "|", "@", "a", "b", "ancestor::", "following::",
                "preceding::*", "descendant::", "text()", "node()", "[1]", "[last()]", "count(", "string(",
                "contains(., 'x')", "'", "\"", " or ", " and ", " = ", "$x", "1", "e9", "-", "id('x')", "x:y", ",",
                "not(",
                "//*[//*[//*]]",
            ],
            texts: [
                "//a[b/c]/following-sibling::a[1]", "count(//*[@id = 'x'])", "concat(b, ' ', @id)",
                "normalize-space(string(/r))", "//a | //b/..", "sum(//c) div 2 > position()",
                "substring-before(., ':')", "self::node()[not(*)]",
            ],
            check: {
                let body = Array(
                    ("<r>" + (0..<60).map { "<a id='\($0)'><b><c>\($0)</c></b>text</a>" }.joined() + "</r>").utf8)
                return { bytes in
                    let path = try XPath(String(decoding: bytes, as: UTF8.self))
                    var limits = DOMLimits()
                    limits.operations = 100_000
                    let tree = try DOMReader(limits: limits).xml(body)
                    let texts = try tree.texts(path, at: tree.root)
                    return texts.count > limits.results ? "\(texts.count) results" : nil
                }
            }),
    ]
}
