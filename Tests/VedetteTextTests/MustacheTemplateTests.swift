// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteCore
import VedetteText

/// Renders with exactly these names known.
func render(_ text: String, _ values: [String: Value?]) throws -> String {
    let template = try MustacheTemplate(text, names: TemplateVocabulary(values.keys.sorted()))
    return template.render(TemplateContext { values[$0] ?? nil })
}

struct MustacheTemplateTests {
    @Test(
        "variables are replaced, and nothing is escaped",
        arguments: [
            ("Hello from {Mustache}!", "Hello from {Mustache}!"),
            ("Hello, {{subject}}!", "Hello, world!"),
            ("{{forbidden}} {{{forbidden}}} {{&forbidden}} {{& forbidden }}", #"& " < > & " < > & " < > & " < >"#),
            ("{{number}} miles", "85 miles"),
            ("I ({{nothing}}) be seen!", "I () be seen!"),
            ("| {{subject}} |", "| world |"),
            ("  {{subject}}\n", "  world\n"),
            ("|{{ subject }}|{{{ subject }}}|", "|world|world|"),
            ("|{{\n subject\n}}|", "|world|"),
            ("'{{person.name}}' == 'Joe'", "'Joe' == 'Joe'"),
            ("{{a.b.c.d.e.name}}", "Phil"),
            ("{{list}}", "x, y"),
            ("lone }} braces } stay", "lone }} braces } stay"),
            ("{ {subject} }", "{ {subject} }"),
            ("{{größe.日}} {{item.build-number}}", "7 8"),
        ])
    func interpolates(template: String, expected: String) throws {
        #expect(
            try render(
                template,
                [
                    "subject": "world", "forbidden": #"& " < >"#, "number": "85", "nothing": nil,
                    "person.name": "Joe", "a.b.c.d.e.name": "Phil", "list": .list(["x", "y"]), "größe.日": "7",
                    "item.build-number": "8",
                ]) == expected)
    }

    @Test("an escape gets what is shown: a list as one text, and in a section each element")
    func escapes() throws {
        let template = try MustacheTemplate("<{{list}} {{#list}}{{.}}{{/list}}>", names: TemplateVocabulary(["list"]))
        let context = TemplateContext { _ in .list(["x", "y"]) }.escaped { "(\($0))" }
        #expect(template.render(context) == "<(x, y) (x)(y)>")
    }

    @Test("a value is data: tags inside it are not rendered again")
    func valuesAreData() throws {
        #expect(try render("{{a}}", ["a": "{{b}}", "b": "secret"]) == "{{b}}")
    }

    @Test(
        "a section renders when its value is there and not empty, once per element of a list",
        arguments: [
            (#""{{#boolean}}This should be rendered.{{/boolean}}""#, #""This should be rendered.""#),
            (#""{{#absent}}This should not be rendered.{{/absent}}""#, #""""#),
            (#""{{#empty}}no{{/empty}}{{^empty}}yes{{/empty}}""#, #""yes""#),
            (#""{{#none}}no{{/none}}{{^none}}yes{{/none}}""#, #""yes""#),
            (#""{{^boolean}}no{{/boolean}}""#, #""""#),
            (#""{{#list}}({{.}}){{/list}}""#, #""(1)(2)(3)""#),
            (#""{{#list}}({{{.}}}{{&.}}){{/list}}""#, #""(11)(22)(33)""#),
            (#""{{#boolean}}{{.}}{{/boolean}}""#, #""on""#),
            (#""{{#list}}{{^absent}}{{.}}{{/absent}}{{/list}}""#, #""123""#),
            (#""{{#list}}{{#two}}{{.}}{{/two}}{{.}} {{/list}}""#, #""ab1 ab2 ab3 ""#),
            ("| A {{#boolean}}B {{#absent}}C{{/absent}} D{{/boolean}} E |", "| A B  D E |"),
            ("| {{#boolean}}a{{/boolean}} | {{^absent}}b{{/absent}} |", "| a | b |"),
            ("{{#a.b.c}}Here{{/a.b.c}} {{#boolean}}twice{{/boolean}}", "Here twice"),
            ("|{{# boolean }}={{/ boolean }}|", "|=|"),
        ])
    func sections(template: String, expected: String) throws {
        #expect(
            try render(
                template,
                [
                    "boolean": "on", "absent": nil, "empty": "", "none": .list([]), "list": .list(["1", "2", "3"]),
                    "two": .list(["a", "b"]), "a.b.c": "x",
                ]) == expected)
    }

    @Test(
        "a line with only a section tag or a comment disappears",
        arguments: [
            ("| This Is\n{{#t}}\n|\n{{/t}}\n| A Line\n", "| This Is\n|\n| A Line\n"),
            ("| This Is\n  {{#t}}\n|\n  {{/t}}\n| A Line\n", "| This Is\n|\n| A Line\n"),
            ("|\r\n{{#t}}\r\n{{/t}}\r\n|", "|\r\n|"),
            ("  {{#t}}\n#{{/t}}\n/", "#\n/"),
            ("#{{#t}}\n/\n  {{/t}}", "#\n/\n"),
            ("| {{#t}}\t|\t{{/t}} |\n", "| \t|\t |\n"),
            (" {{#t}}YES{{/t}}\n {{#t}}GOOD{{/t}}\n", " YES\n GOOD\n"),
            (" | {{#t}} {{! Important Whitespace }}\n {{/t}} | \n", " |  \n  | \n"),
            ("Begin.\n{{! Comment Block! }}\nEnd.\n", "Begin.\nEnd.\n"),
            ("Begin.\n  {{! Indented Comment Block! }}\nEnd.\n", "Begin.\nEnd.\n"),
            ("Begin.\n{{!\nSomething's going on here...\n}}\nEnd.\n", "Begin.\nEnd.\n"),
            ("Begin.\n  {{!\n    Something's going on here...\n  }}\nEnd.\n", "Begin.\nEnd.\n"),
            ("|\r\n{{! Standalone Comment }}\r\n|", "|\r\n|"),
            ("  {{! I'm Still Standalone }}\n!", "!"),
            ("!\n  {{! I'm Still Standalone }}", "!\n"),
            ("  12 {{! 34 }}\n", "  12 \n"),
            ("12345 {{! Comment Block! }} 67890", "12345  67890"),
            ("12345{{! Comment {{ in }}67890", "1234567890"),
            ("{{^t}}\nno\n{{/t}}\n{{! a }}\n{{! b }}\nend", "end"),
        ])
    func standalone(template: String, expected: String) throws {
        #expect(try render(template, ["t": "true"]) == expected)
    }

    @Test("a list inside itself cannot fill the memory, and the text shows that it is cut")
    func bounded() throws {
        let open = String(repeating: "{{#list}}", count: 16), close = String(repeating: "{{/list}}", count: 16)
        let list = Value.list(Array(repeating: String(repeating: "x", count: 100), count: 100))
        let text = try render(open + "{{.}}" + close, ["list": list])
        #expect(text.utf8.count <= 1 << 20 + MustacheTemplate.cutMark.utf8.count)
        #expect(text.hasSuffix("x" + MustacheTemplate.cutMark))
        #expect(try render(open + close, ["list": list]) == MustacheTemplate.cutMark)
    }
}
