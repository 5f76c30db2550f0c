// SPDX-License-Identifier: Apache-2.0
import Testing
import VedetteDocument
import VedetteTestSupport

struct JSONErrorTests {
    @Test(
        "every truncation of a document is an error", .tags(.I2),
        arguments: ["cloudburst-virtualSystems-1.json", "connections-activitystreams-public.json"])
    func truncations(name: String) throws {
        var whole = try Fixture.bytes(name)
        while whole.last == UInt8(ascii: "\n") { whole.removeLast() }
        let items = name.hasPrefix("cloud") ? nil : try JSONPath("list")
        let reader = JSONReader(items: items, columns: paths("id"))
        #expect(failure { _ = try rows(whole, reader) } == nil)
        for count in 0..<whole.count {
            let kind = failure { _ = try rows(Array(whole[..<count]), reader) }
            #expect(kind == (count == 0 ? .empty : .truncated), "cut to \(count) bytes")
        }
    }

    @Test(
        "a body that is not JSON is refused with the place",
        arguments: [
            (#"{"a": 1,}"#, 8), ("[1,]", 3), ("[01]", 1), ("[tru]", 1), (#"["\q"]"#, 3), (#"{"a" 1}"#, 5), ("[1] x", 4),
            ("[1}", 2), ("{1:2}", 1), ("[1 2]", 3), ("[\"a\u{1}\"]", 3), ("[1.]", 1), ("[+1]", 1), (#"["\u12G4"]"#, 6),
            (#"{"a":1}{"b":2}"#, 7), ("[NaN]", 1), ("['a']", 1), ("[1,,2]", 3), ("[,1]", 1), (#"[{"a":tru }]"#, 6),
        ])
    func malformed(text: String, offset: Int) {
        do {
            _ = try rows(text, columns: [.root])
            Issue.record("accepted")
        } catch {
            let error = error as? DocumentError
            #expect(error?.kind == .syntax)
            #expect(error?.offset == offset)
        }
    }

    @Test("values that no path reads are validated too")
    func unwanted() {
        for text in [#"[{"x": {"y": [01]}}]"#, #"[{"x": "\q"}]"#, #"[{"\q": 1}]"#, #"[{"x": nul}]"#, #"[{"x": 1.e1}]"#]
        {
            #expect(failure { _ = try rows(text, columns: paths("id")) } == .syntax, "\(text)")
        }
    }

    @Test(
        "a document of the wrong kind has a class of its own",
        arguments: [
            ("", DocumentError.Kind.empty), (" \n", .empty), ("<!DOCTYPE HTML><p>", .wrongType), ("<a/>", .wrongType),
            ("12", .wrongShape), ("\"x\"", .wrongShape), ("true", .wrongShape), ("hello", .syntax),
        ])
    func wrongKinds(text: String, kind: DocumentError.Kind) {
        #expect(failure { _ = try rows(text, columns: []) } == kind)
    }

    @Test("the login page and the empty 200 of the fixtures have different error classes")
    func fixtures() throws {
        let reader = JSONReader(columns: [])
        let page = try Fixture.bytes("connections-login-200.html")
        let empty = try Fixture.bytes("cloudburst-empty-200.txt")
        #expect(failure { _ = try rows(page, reader) } == .wrongType)
        #expect(failure { _ = try rows(empty, reader) } == .empty)
    }

    @Test("UTF-16 is refused as an encoding")
    func utf16() {
        let reader = JSONReader(columns: [])
        #expect(failure { _ = try rows([0xFF, 0xFE, 0x5B, 0, 0x5D, 0], reader) } == .encoding)
    }

    @Test(
        "items that are not an array are an error that names the path",
        arguments: [#"{"x": 1}"#, #"{"items": null}"#, #"{"items": {"a": {}}}"#, #"{"items": 3}"#, "[1]"])
    func shapes(text: String) {
        do {
            _ = try rows(text, items: JSONPath("items"), columns: [])
            Issue.record("accepted")
        } catch {
            #expect((error as? DocumentError)?.kind == .wrongShape)
            #expect("\(error)".contains("'items'"))
        }
    }

    @Test("an items path that asks an array for a name is told so")
    func nameInArray() {
        func problem(_ text: String, _ items: String) -> String {
            do {
                _ = try rows(text, items: JSONPath(items), columns: [])
                return ""
            } catch {
                return "\(error)"
            }
        }
        #expect(problem(#"{"a": [{"b": [1]}]}"#, "a.b").contains("since 'a' is an array"))
        #expect(problem(#"[{"b": [1]}]"#, "b").contains("since the root is an array"))
        #expect(problem(#"{"a": [1]}"#, "a.5").contains("leads nowhere in the JSON document"))
    }

    @Test("depth, rows and the length of a string are bounded", .tags(.I8))
    func limits() throws {
        func nested(_ depth: Int) -> String {
            String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
        }
        #expect(failure { _ = try rows(nested(128), columns: []) } == nil)
        #expect(failure { _ = try rows(nested(129), columns: []) } == .tooDeep)
        #expect(failure { _ = try rows(nested(100_000), columns: []) } == .tooDeep)
        var limits = JSONLimits()
        limits.rows = 3
        limits.stringBytes = 5
        #expect(failure { _ = try rows("[1,2,3]", columns: [], limits: limits) } == nil)
        #expect(failure { _ = try rows("[1,2,3,4]", columns: [], limits: limits) } == .tooLarge)
        #expect(failure { _ = try rows(#"["12345"]"#, columns: [], limits: limits) } == nil)
        #expect(failure { _ = try rows(#"["123456"]"#, columns: [], limits: limits) } == .tooLarge)
        #expect(failure { _ = try rows(#"[{"123456": 1}]"#, columns: [], limits: limits) } == .tooLarge)
    }

    @Test("random damage never crashes and never gives rows of a broken document")
    func damage() throws {
        let whole = try Fixture.bytes("cloudburst-virtualSystems-2.json")
        let reader = JSONReader(columns: paths("id", "name", "owner"))
        var seed: UInt64 = 42
        func random(_ bound: Int) -> Int {
            seed = seed &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(seed >> 33) % bound
        }
        for _ in 0..<2000 {
            var body = whole
            for _ in 0...random(3) { body[random(body.count)] = Array("\"\\{}[],:0 \u{0}é".utf8)[random(13)] }
            let error = failure { _ = try rows(body, reader) }
            #expect(error != .empty)
        }
    }
}
