// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteCore

@testable import VedetteSources

/// Inputs that other tools' users reported as misread; the files are in Tests/Fixtures/pages.
@Suite("Pages, JSON and text as servers write them")
struct PeopleCaseTests {
    private func read(
        _ kind: String, _ options: [String: OptionValue], file: String
    ) throws -> Page {
        try read(kind, options, try Fixture.bytes("pages/\(file)"))
    }

    private func read(
        _ kind: String, _ options: [String: OptionValue], _ bytes: [UInt8], type: String? = nil
    ) throws -> Page {
        let headers = ResponseHeaders(type.map { [("Content-Type", $0)] } ?? [])
        var page = PageBody(bytes: bytes, headers: headers, url: "https://www.example.org/list")
        return try Fixture.kind(kind, options).read(&page)
    }

    private func fields(_ pairs: KeyValuePairs<String, String>) -> OptionValue {
        .map(pairs.map { ($0.key, .text($0.value)) })
    }

    @Test(
        "a price as a shop writes it has its number",
        arguments: [("p1.json", "999"), ("p2.json", "1299"), ("p3.json", "899"), ("p4.json", "899.00")])
    func prices(file: String, number: String) throws {
        let page = try read("json", ["measures": fields(["price": "price"])], file: file)
        #expect(page.items[0].measures == ["price": .text(number)])
    }

    @Test("a price that another country reads otherwise is a warning, until 'number' names the decimal sign")
    func ambiguousPrices() throws {
        let plain = try read("json", ["fields": fields(["price": "price"])], file: "p2.json")
        #expect(plain.items[0]["price"] == "1.299 €")
        #expect(
            plain.warnings == [
                "'1.299 €' of 'price' is 1299 as a number unless another value shows its decimal sign; "
                    + "'number: {decimal: …}' names it"
            ])
        for (decimal, number) in [(",", "1299"), (".", "1.299")] {
            let options = ["fields": fields(["price": "price"]), "number": fields(["decimal": decimal])]
            let known = try read("json", options, file: "p2.json")
            #expect(known.items[0]["price"] == .text(number) && known.warnings.isEmpty)
        }
        let days = Array(#"[{"id":1,"due":"in 3 Tagen"},{"id":2,"due":"1.299,00 EUR"}]"#.utf8)
        let due = try read("json", ["fields": fields(["due": "due"]), "number": fields(["decimal": ","])], days)
        #expect(due.items.map { $0["due"] } == ["in 3 Tagen", "1299.00"])
        for bad in [["decimal": ";"], ["decimals": ","]] as [KeyValuePairs<String, String>] {
            #expect(throws: OptionProblem.self) { try Fixture.kind("json", ["number": fields(bad)]) }
        }
    }

    @Test("another order of an object's members and other white space are no change", arguments: ["meta", "both"])
    func memberOrder(option: String) throws {
        let options: [String: OptionValue] = [
            "fields": fields(option == "meta" ? ["meta": "meta"] : ["meta": "meta", "all": "{{name}} {{meta}}"])
        ]
        let first = try read("json", options, file: "09-metaorder1.json").items[0]
        #expect(first["meta"] == #"{"a":1,"b":2}"#)
        #expect(try read("json", options, file: "09-metaorder2.json").items[0] == first)
    }

    @Test("another order of the members of objects in a list is no change, however deep they are")
    func memberOrderInLists() throws {
        let options = ["fields": fields(["labels": "labels"])]
        let first = try read("json", options, file: "40a.json").items[0]
        #expect(first["labels"] == .list([#"{"color":"f00","name":"bug"}"#, #"{"color":"0f0","name":"ui"}"#]))
        #expect(try read("json", options, file: "40b.json").items[0] == first)
        let deep = String(repeating: "[", count: 50) + #"{"b":1,"a":2}"# + String(repeating: "]", count: 50)
        let item = try read("json", ["fields": fields(["x": "x"])], Array(#"[{"id":1,"x":{"y":\#(deep)}}]"#.utf8))
            .items[0]
        #expect(item["x"]?.description.contains(#"{"a":2,"b":1}"#) == true)
    }

    @Test(
        "what a server puts before JSON against inclusion as a script is dropped",
        arguments: [
            ")]}',\n", ")]}'", ")]}\n", "while(1);", "for (;;);", "{}&& ", "throw 1; ",
        ])
    func prefixes(prefix: String) throws {
        #expect(try read("json", [:], file: "12-prefix.json").items.map(\.key) == ["1", "2"])
        #expect(try read("json", [:], Array("\(prefix)[{\"id\":1}]".utf8)).items.map(\.key) == ["1"])
        #expect(throws: ReadError.self) { try read("json", [:], Array("\(prefix)x".utf8)) }
    }

    @Test("so is a comment around JSON", arguments: ["/*-secure-\n", "/*", " /* "])
    func comments(opening: String) throws {
        #expect(try read("json", [:], Array("\(opening)[{\"id\":1}]\n*/\n".utf8)).items.map(\.key) == ["1"])
        for text in ["[{\"id\":1}]", "[{\"id\":1}] */ [{\"id\":2}]", "x*/", "*/"] {
            #expect(throws: ReadError.self) { try read("json", [:], Array("\(opening)\(text)".utf8)) }
        }
    }

    @Test("JSONP is read where 'jsonp' says so; else the error names it")
    func jsonp() throws {
        #expect(try read("json", ["jsonp": .flag(true)], file: "13-jsonp.json").items.map(\.key) == ["1", "2"])
        #expect(try read("json", ["jsonp": .flag(true)], Array("[{\"id\":1}]".utf8)).items.map(\.key) == ["1"])
        let error = #expect(throws: ReadError.self) { try read("json", [:], file: "13-jsonp.json") }
        #expect(error?.detail.contains("jsonp: true") == true)
        #expect(throws: ReadError.self) { try read("json", ["jsonp": .flag(true)], Array("cb([{\"id\":1}]".utf8)) }
    }

    @Test("lines of JSON are a list of rows; a line that is cut off fails all of them")
    func lines() throws {
        let page = try read("json", ["state": .list([.text("status")])], file: "14-ndjson.json")
        #expect(page.items.map(\.key) == ["1", "2"] && page.items.map(\.state) == ["up", "down"])
        for cut in ["{\"id\":1}\n{\"id\":2", "{\"id\":1}\n{\"id\"}", "{\"id\":1}\n2"] {
            #expect(throws: ReadError.self) { try read("json", [:], Array(cut.utf8)) }
        }
        #expect(throws: ReadError.self) {
            try read("json", ["state": .list([.text("s")])], Array("{\"s\":1}\n{\"s\":2}".utf8))
        }
    }

    @Test("XML that became JSON has no child, one child or a list of them, which are no, one and several rows")
    func children() throws {
        let options: [String: OptionValue] = [
            "items": .text("evriThing.graph.entities.entity"), "key": .list([.text("@href")]),
            "title": .list([.text("name.$")]), "null_is_empty": .flag(true),
        ]
        #expect(try read("json", options, file: "evri0.json").items.isEmpty)
        #expect(try read("json", options, file: "evri1.json").items.map(\.title) == ["Ada"])
        #expect(try read("json", options, file: "evri2.json").items.map(\.title) == ["Ada", "Bob"])
        let missing = #expect(throws: ReadError.self) {
            try read("json", options.filter { $0.key != "null_is_empty" }, file: "evri0.json")
        }
        #expect(missing?.detail.contains("null_is_empty: true") == true)
        let error = #expect(throws: ReadError.self) { try read("json", options, Array(#"{"error":"busy"}"#.utf8)) }
        #expect(error?.failure == .shape)
    }

    @Test("an object without the key where 'items' leads is a failure that names 'map'")
    func mapOfItems() throws {
        let error = #expect(throws: ReadError.self) {
            try read("json", ["items": .text("hosts")], Array(#"{"hosts":{"a":{"id":1},"b":{"id":2}}}"#.utf8))
        }
        #expect(error?.failure == .shape && error?.detail.contains("'map: hosts'") == true)
    }

    @Test("a path into a list is absent, with a warning; a '*' in it is a list")
    func lists() throws {
        let page = try read("json", ["fields": fields(["labels": "labels.name", "id": "id"])], file: "40a.json")
        #expect(page.items[0]["labels"] == nil && page.items[0]["id"] == "1")
        #expect(
            page.warnings == [
                "'labels.name' leads into a list and is absent; 'labels.*.name' is a list of all, and 'jq' picks some"
            ])
        let every = try read("json", ["fields": fields(["labels": "labels.*.name"])], file: "40a.json")
        #expect(every.items[0]["labels"] == .list(["bug", "ui"]) && every.warnings.isEmpty)
        for (json, value) in [
            (#"[{"id":1,"labels":[]}]"#, .list([])), (#"[{"id":1,"labels":{"name":"one"}}]"#, .list(["one"])),
            (#"[{"id":1,"labels":null}]"#, nil), (#"[{"id":1,"labels":[{"x":1},{"name":"b"}]}]"#, .list(["b"])),
        ] as [(String, Value?)] {
            let item = try read("json", ["fields": fields(["labels": "labels.*.name"])], Array(json.utf8)).items[0]
            #expect(item["labels"] == value, "\(json)")
        }
        #expect(throws: OptionProblem.self) { try Fixture.kind("json", ["fields": fields(["x": "a.*.b.*"])]) }
    }

    @Test("'encoding' is the character encoding of a server that names a wrong one or none")
    func encodings() throws {
        let latin = Array("[{\"id\":1,\"name\":\"Caf".utf8) + [0xE9] + Array("\"}]".utf8)
        let options: [String: OptionValue] = ["encoding": .text("windows-1252")]
        #expect(try read("json", options, latin).items.map(\.title) == ["Café"])
        #expect(
            try read("json", [:], latin, type: "application/json; charset=iso-8859-1").items.map(\.title) == ["Café"])
        let text: [UInt8] = [0x43, 0x61, 0x66, 0xE9]
        #expect(try read("text", options, text, type: "text/plain; charset=utf-8").items[0]["text"] == "Café")
        #expect(throws: OptionProblem.self) { try Fixture.kind("text", ["encoding": .text("latin-99")]) }
        #expect(throws: OptionProblem.self) { try Fixture.kind("json", ["encoding": .text("latin-99")]) }
    }

    @Test("text that nobody sees is no text of a page")
    func hiddenText() throws {
        let page = try read("html", [:], file: "hidden.html")
        #expect(page.items[0]["text"] == "Hello Tom")
    }
}
