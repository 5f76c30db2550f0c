// SPDX-License-Identifier: Apache-2.0
import Testing
import VedetteDocument

struct JSONReaderTests {
    @Test("the members of an object are rows with their names, whatever the names and values are")
    func members() throws {
        let columns = [JSONPath.memberName, try JSONPath("."), try JSONPath("up")]
        func read(_ text: String, _ items: JSONPath? = nil) throws -> [[JSONCell]] {
            try rows(Array(text.utf8), JSONReader(items: items, itemsAreMembers: true, columns: columns))
        }
        let text = #"{"h": {"a": {"up": true}, "b\u0022": {"up": "x\ty"}, "c": 1, "d\\": null}, "up": 0}"#
        let expected: [[JSONCell]] = [
            [.string("a"), .raw(#"{"up": true}"#), .bool(true)],
            [.string("b\""), .raw(#"{"up": "x\ty"}"#), .string("x\ty")],
            [.string("c"), .number("1"), .missing], [.string("d\\"), .null, .missing],
        ]
        #expect(try read(text, JSONPath("h")) == expected)
        #expect(try read(#"{"a": {"up": 1}}"#) == [[.string("a"), .raw(#"{"up": 1}"#), .number("1")]])
        #expect(try read(#"{"h": [], "x": {}}"#, JSONPath("h")).isEmpty)
        #expect(try read("{}").isEmpty)
        #expect(try read("[]").isEmpty)
        for (text, path) in [(#"{"h": [1]}"#, "h"), ("[1]", "."), (#"{"h": 1}"#, "h"), (#"{"h": null}"#, "h")] {
            #expect(failure { _ = try read(text, JSONPath(path)) } == .wrongShape, "\(text)")
        }
        // Of two objects with one name the last counts.
        #expect(try read(#"{"h": {"a": 1}, "h": {"b": 2}}"#, JSONPath("h")).map(\.first) == [.string("b")])
    }

    @Test("the virtual systems of the appliance are rows of twelve columns")
    func cloudburst() throws {
        let columns = paths(
            "id", "name", "currentstatus", "currentstatus_text", "currentmessage", "currentmessage_text",
            "desiredstatus",
            "desiredstatus_text", "created", "updated", "owner", "pattern")
        let found = try rows(Fixture.bytes("cloudburst-virtualSystems-1.json"), JSONReader(columns: columns))
        #expect(found.count == 8)
        #expect(found[0][0] == .number("51"))
        #expect(found[0][2] == .string("RM01011"))
        #expect(found[0][6] == .null)
        #expect(found[1][4] == .string(#"RM07054("05Lab+Script")"#))
        #expect(found[1][6] == .string(""))
        #expect(found[0][8] == .number("1772443060895"))
        #expect(found.allSatisfy { $0.count == 12 && !$0.contains(.missing) })
    }

    @Test("numbers keep the text they were written with")
    func exactNumbers() throws {
        let texts = ["9007199254740993", "1e400", "1.10", "-0", "1E+2", "123456789012345678901234567890", "-0.0e-1"]
        let found = try rows("[\(texts.joined(separator: " ,\n"))]", columns: [.root])
        #expect(found.map { $0[0] } == texts.map { .number($0) })
    }

    @Test("cells are missing, null, true, false, text with escapes undone, or JSON text")
    func kinds() throws {
        let text = #"""
            {"data": {"list" : [ {"a": null, "b": true, "c":false, "d": "x\u0041\n\ud83d\ude00é\/", "e" : {"k":[1, 2 ]} ,
            "f":[] , "nics": [{"ip": "1"}, {"ip": "2\t"}], "1": "one", "a.b": 3 } ]}}
            """#
        let columns = try [
            "a", "b", "c", "d", "e", "f", "nics.1.ip", "1", #"a\.b"#, "zz", "e.k.0", "e.k", "nics.2", "e.k.x",
        ]
        .map { try JSONPath($0) }
        let found = try rows(text, items: JSONPath("data.list"), columns: columns)
        let expected: [JSONCell] = [
            .null, .bool(true), .bool(false), .string("xA\n😀é/"), .raw(#"{"k":[1, 2 ]}"#), .raw("[]"), .string("2\t"),
            .string("one"), .number("3"), .missing, .number("1"), .raw("[1, 2 ]"), .missing, .missing,
        ]
        #expect(found == [expected])
    }

    @Test("escaped member names match, and paths see through them")
    func escapedNames() throws {
        #expect(
            try rows(#"[{"n\u0061me": "x\ty", "o": "\u0062"}]"#, columns: paths("name", "o")) == [
                [.string("x\ty"), .string("b")]
            ])
    }

    @Test("the last of members with the same name counts, with nothing left of the first")
    func duplicates() throws {
        let text =
            #"{"items": [{"id": 1}, {"id": 2}], "items": [{"id": 3, "p": {"q": 1, "r": 2}, "id": 4, "p": {"r": 5}}]}"#
        let found = try rows(text, items: JSONPath("items"), columns: paths("id", "p.q", "p.r", "p"))
        #expect(found == [[.number("4"), .missing, .number("5"), .raw(#"{"r": 5}"#)]])
        #expect(
            failure { _ = try rows(#"{"items": [], "items": null}"#, items: JSONPath("items"), columns: []) }
                == .wrongShape)
    }

    @Test("a root object without an items path is one row, and document paths are read beside the rows")
    func document() throws {
        let reader = JSONReader(columns: paths("name"), document: paths("status", "paging.next", "zz"))
        var body = Array(#"{"name": "x", "paging": {"next": "/p?2"}, "status": 200}"#.utf8)
        var names: [String?] = []
        let summary = try reader.read(&body) { names.append($0.string(0)) }
        #expect(names == ["x"])
        #expect(summary.document == [.number("200"), .string("/p?2"), .missing])
        #expect(summary.rows == 1)
        #expect(body.count == 56 && body.last == UInt8(ascii: "}"))
    }

    @Test("document paths may lead through the items and to the root itself")
    func documentThroughItems() throws {
        let text = #" {"items": [{"id": 1}, {"id": 2}] , "n": 2} "#
        var body = Array(text.utf8)
        let reader = try JSONReader(
            items: JSONPath("items"), columns: paths("id"),
            document: [JSONPath("items.1.id"), JSONPath("items"), .root])
        let summary = try reader.read(&body) { _ in }
        #expect(summary.document[0] == .number("2"))
        #expect(summary.document[1] == .raw(#"[{"id": 1}, {"id": 2}]"#))
        #expect(summary.document[2] == .raw(#"{"items": [{"id": 1}, {"id": 2}] , "n": 2}"#))
    }

    @Test("the bytes of a cell are read without a String, and a raw array splits into its elements")
    func bytesAndElements() throws {
        var body = Array(#"[{"tags": ["a\"b", 1.10, null, ["x"], true], "one": "1"}]"#.utf8)
        var elements: [[String]] = []
        _ = try JSONReader(columns: paths("tags", "one", "no")).read(&body) { row in
            #expect(row.bytes(1).elementsEqual("1".utf8))
            #expect(row.bytes(2).isEmpty)
            #expect(row.kind(0) == .array)
            elements = [row[0].elements, row[1].elements, row[2].elements]
        }
        #expect(elements == [["a\"b", "1.10", #"["x"]"#, "true"], ["1"], []])
    }

    @Test("a shorter body after a longer one is read alone, and a cut one does not end with the older bytes")
    func reuse() throws {
        let reader = JSONReader(columns: paths("id", "t"))
        let long = "[" + (0..<500).map { #"{"id": \#($0), "t": "\u0041"}"# }.joined(separator: ",") + "]"
        #expect(try rows(Array(long.utf8), reader).count == 500)
        #expect(try rows(Array(#"[{"id": 7}]"#.utf8), reader) == [[.number("7"), .missing]])
        #expect(failure { _ = try rows(Array(#"[{"id": 7}"#.utf8), reader) } == .truncated)
        var body = Array(long.utf8)
        body.removeLast(body.count - 40)
        #expect(failure { _ = try reader.read(&body) { _ in } } == .truncated)
        #expect(try rows(Array("[]".utf8), reader).isEmpty)
    }

    @Test("a byte order mark is not part of the document")
    func mark() throws {
        #expect(try rows([0xEF, 0xBB, 0xBF] + Array("[1]".utf8), JSONReader(columns: [.root])) == [[.number("1")]])
    }

    @Test("half a surrogate pair and bad UTF-8 become U+FFFD with a warning, the same in every poll")
    func repairs() throws {
        let reader = JSONReader(columns: [.root])
        var surrogate = Array(#"["a\ud83d", "\\ud800", "\ud83d\ude00", "\udc00\ud800x"]"#.utf8)
        var seen: [String?] = []
        let summary = try reader.read(&surrogate) { seen.append($0.string(0)) }
        #expect(summary.warnings == [.loneSurrogate])
        #expect(seen == ["a\u{FFFD}", #"\ud800"#, "😀", "\u{FFFD}\u{FFFD}x"])
        for _ in 0..<2 {
            var latin: [UInt8] = Array(#"["caf"#.utf8) + [0xE9] + Array(#""]"#.utf8)
            let summary = try reader.read(&latin) { #expect($0.string(0) == "caf\u{FFFD}") }
            #expect(summary.warnings == [.badEncoding])
        }
    }
}
