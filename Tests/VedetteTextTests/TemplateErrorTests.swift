// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteCore
import VedetteText

struct TemplateErrorTests {
    let names = TemplateVocabulary(["item.name", "change.lasted", "t"]) { $0.hasPrefix("item.") }

    @Test(
        "an invalid template is refused with its place and a remedy",
        arguments: [
            ("{{itm.name}}", "1:1: unknown name 'itm.name'; did you mean 'item.name'?"),
            ("ä\n  {{zebra}}", "2:3: unknown name 'zebra'; known are item.name, change.lasted, t"),
            ("{{#t}}\n{{chang.lasted}}\n{{/t}}", "2:1: unknown name 'chang.lasted'; did you mean 'change.lasted'?"),
            ("{{^t}}{{zebra}}{{/t}}", "1:7: unknown name 'zebra'; known are item.name, change.lasted, t"),
            ("a {{}}", "1:3: an empty tag; write a name, as in '{{item.title}}'"),
            ("a {{{ }}}", "1:3: an empty tag; write a name, as in '{{item.title}}'"),
            ("{{.}}", "1:1: '{{.}}' is an element of a list; write it inside '{{#name}}…{{/name}}'"),
            ("{{^t}}{{.}}{{/t}}", "1:7: '{{.}}' is an element of a list; write it inside '{{#name}}…{{/name}}'"),
            ("{{> header}}", "1:1: partials are not supported; write their text here"),
            ("{{=<% %>=}}", "1:1: delimiters cannot be changed; write '{{' and '}}'"),
            (
                "{{item name}}",
                "1:1: 'item name' is not a name; a tag contains one dotted name, without functions or filters"
            ),
            (
                "{{upper(t)}}",
                "1:1: 'upper(t)' is not a name; a tag contains one dotted name, without functions or filters"
            ),
            ("{{item..name}}", "1:1: 'item..name' has an empty part; write a dotted name, as in 'item.title'"),
            ("{{item.}}", "1:1: 'item.' has an empty part; write a dotted name, as in 'item.title'"),
            ("x {{item.name", "1:3: '{{' is not closed; write '}}' after the name"),
            ("x {{", "1:3: '{{' is not closed; write '}}' after the name"),
            ("x {{{", "1:3: '{{{' is not closed; write '}}}' after the name"),
            ("{{{t}}", "1:1: '{{{' is not closed; write '}}}' after the name"),
            ("{{item.name and {{t}}", "1:1: '{{' is not closed; write '}}' after the name"),
            ("{{! no end", "1:1: '{{' is not closed; write '}}' after the name"),
            ("a\n {{#t}} b", "2:2: the section 't' is not closed; write '{{/t}}'"),
            ("a {{/t}}", "1:3: '{{/t}}' closes a section that was never opened; remove it"),
            (
                "{{#t}}\n{{#item.x}}{{/t}}{{/item.x}}",
                "2:12: '{{/t}}' does not close 'item.x', opened at 2:1 of the text; write '{{/item.x}}' first"
            ),
            ("{{#.}}{{/.}}", "1:1: '.' has an empty part; write a dotted name, as in 'item.title'"),
        ])
    func refuses(template: String, expected: String) {
        let error = #expect(throws: TemplateError.self) { try MustacheTemplate(template, names: names) }
        #expect(error?.description == expected)
    }

    @Test("a name that is not listed is accepted when the closure knows it")
    func open() throws {
        let template = try MustacheTemplate("{{item.whatever}}", names: names)
        #expect(template.render(TemplateContext { $0 == "item.whatever" ? "x" : nil }) == "x")
    }

    @Test("length and nesting are bounded")
    func bounds() throws {
        let sections = { (n: Int) in String(repeating: "{{#t}}", count: n) + String(repeating: "{{/t}}", count: n) }
        _ = try MustacheTemplate(sections(16), names: names)
        var error = #expect(throws: TemplateError.self) { try MustacheTemplate(sections(17), names: names) }
        #expect(error?.description == "1:97: sections are nested deeper than 16; use several rules")
        _ = try MustacheTemplate(String(repeating: "x", count: 16 << 10), names: names)
        error = #expect(throws: TemplateError.self) {
            try MustacheTemplate(String(repeating: "x", count: 1 + 16 << 10), names: names)
        }
        #expect(error?.description == "1:1: the template is longer than 16384 bytes; shorten it")
    }

    @Test("every prefix of a template is a template or an error, never a crash")
    func prefixes() {
        let text = "ä {{! c }}\r\n{{#t}}\n {{.}} {{{item.name}}} {{& t}}\n{{^t}}x{{/t}}{{/t}}\n"
        for count in 0...text.unicodeScalars.count {
            for prefix in [text.unicodeScalars.prefix(count), text.unicodeScalars.dropFirst(count)] {
                guard let template = try? MustacheTemplate(String(prefix), names: names) else { continue }
                _ = template.render(TemplateContext { _ in .list(["1", "2"]) })
            }
        }
    }
}
