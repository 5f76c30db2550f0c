// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteTestSupport
@testable import VedetteCore

@Suite("WebURL")
struct WebURLTests {
    /// RFC 3986 §5.4.1 and §5.4.2 but for `g:h`, `http:g` and other schemes, which are no web addresses here.
    @Test(
        "references resolve as RFC 3986 §5.4 says",
        arguments: [
            ("g", "http://a/b/c/g"), ("./g", "http://a/b/c/g"), ("g/", "http://a/b/c/g/"), ("/g", "http://a/g"),
            ("//g", "http://g"), ("?y", "http://a/b/c/d;p?y"), ("g?y", "http://a/b/c/g?y"),
            ("#s", "http://a/b/c/d;p?q#s"), ("g#s", "http://a/b/c/g#s"), ("g?y#s", "http://a/b/c/g?y#s"),
            (";x", "http://a/b/c/;x"), ("g;x", "http://a/b/c/g;x"), ("g;x?y#s", "http://a/b/c/g;x?y#s"),
            ("", "http://a/b/c/d;p?q"), (".", "http://a/b/c/"), ("./", "http://a/b/c/"), ("..", "http://a/b/"),
            ("../", "http://a/b/"), ("../g", "http://a/b/g"), ("../..", "http://a/"), ("../../", "http://a/"),
            ("../../g", "http://a/g"), ("../../../g", "http://a/g"), ("../../../../g", "http://a/g"),
            ("/./g", "http://a/g"), ("/../g", "http://a/g"), ("g.", "http://a/b/c/g."), (".g", "http://a/b/c/.g"),
            ("g..", "http://a/b/c/g.."), ("..g", "http://a/b/c/..g"), ("./../g", "http://a/b/g"),
            ("./g/.", "http://a/b/c/g/"), ("g/./h", "http://a/b/c/g/h"), ("g/../h", "http://a/b/c/h"),
            ("g;x=1/./y", "http://a/b/c/g;x=1/y"), ("g;x=1/../y", "http://a/b/c/y"),
            ("g?y/./x", "http://a/b/c/g?y/./x"),
            ("g?y/../x", "http://a/b/c/g?y/../x"), ("g#s/./x", "http://a/b/c/g#s/./x"),
        ])
    func resolves(reference: String, expected: String) throws {
        let base = try #require(WebURL("http://a/b/c/d;p?q"))
        #expect(base.resolving(reference)?.text == expected)
    }

    @Test(
        "only http and https addresses with a host and without credentials are taken",
        arguments: [
            "ftp://a/", "file:///etc/passwd", "http://", "http:///x", "//a", "a", "http://u:p@a/", "http://a b/",
            "javascript:x",
        ])
    func refused(text: String) {
        #expect(WebURL(text) == nil)
        #expect(WebURL("http://a/")?.resolving("javascript:alert(1)") == nil)
    }

    @Test(
        "an origin names scheme, host and port, so that a credential stays with it",
        arguments: [
            ("https://A.example/x", "https://a.example:443"), ("https://a.example:443/", "https://a.example:443"),
            ("https://a.example:/", "https://a.example:443"), ("http://a.example", "http://a.example:80"),
            ("https://a.example:8443?q", "https://a.example:8443"), ("https://[::1]/", "https://[::1]:443"),
            ("https://[::1]:1/", "https://[::1]:1"), ("https://a.example#@b.example/", "https://a.example:443"),
        ])
    func origins(url: String, origin: String) { #expect(WebURL(url)?.origin == origin) }

    @Test("a parameter is set in its place or at the end, encoded")
    func setting() throws {
        let url = try #require(WebURL("https://a/x?b=1&c=2#f"))
        #expect(url.setting([("b", "ä &"), ("d", "4")]) == "https://a/x?b=%C3%A4%20%26&c=2&d=4")
    }
}

@Suite("JSON")
struct JSONTests {
    @Test(
        "what is no JSON is refused",
        arguments: [
            "", " ", "01", "1.", ".5", "+1", "-", "1e", "1e+", "0x1", "NaN", "Infinity", "tru", "[1,]", "[,1]",
            "{\"a\":1,}",
            "{\"a\" 1}", "{a:1}", "[1] 2", "\"a", "\"\u{1}\"", #""\q""#, #""\u12""#, #""\u+123""#, #""\ud800""#,
            #""\ud800\u0041""#, "[", "{", "'a'",
        ])
    func refused(text: String) { #expect(throws: JSONSyntaxError.self) { try JSON(parsing: text.utf8) } }

    @Test(
        "a string ends at its quotation mark, and keeps each character, wherever they stand",
        arguments: [
            "\"", "\\", "/", "\u{1}", "\u{1F}", " ", "!", "[", "]", "\u{7F}", "\u{80}", "é", "\u{A2}", "\u{DC}", "語",
            "😀",
        ])
    func characters(of special: String) throws {
        for before in 0..<20 {
            for after in 0..<10 {
                let text = String(repeating: "x", count: before) + special + String(repeating: "y", count: after)
                #expect(try JSON(parsing: JSON.string(text).bytes) == .string(text))
            }
            let start = String(repeating: "x", count: before)
            #expect(throws: JSONSyntaxError.self) { try JSON(parsing: "\"\(start)\u{1F}yyyyyyyyy\"".utf8) }
            #expect(throws: JSONSyntaxError.self) {
                try JSON(parsing: Array("\"\(start)".utf8) + [0xC3] + Array("yyyyyyyyy\"".utf8))
            }
        }
    }

    @Test("bytes that are no UTF-8, and depth without end, are refused")
    func hostile() {
        #expect(throws: JSONSyntaxError.self) { try JSON(parsing: [34, 0xFF, 34]) }
        #expect(throws: JSONSyntaxError.self) { try JSON(parsing: String(repeating: "[", count: 100_000).utf8) }
    }

    @Test(
        "a number keeps its text",
        arguments: [
            "0", "-0", "9007199254740993", "1.10", "1e400", "-1.5E-10", "123456789012345678901234567890",
        ])
    func numbers(text: String) throws {
        #expect(try JSON(parsing: text.utf8) == .number(text))
        #expect(try JSON(parsing: text.utf8).text == text)
    }

    private func random(_ dice: inout SplitMix64, depth: Int) -> JSON {
        switch Int.random(in: 0..<(depth > 0 ? 7 : 4), using: &dice) {
        case 0: return .null
        case 1: return .bool(Bool.random(using: &dice))
        case 2: return .number(Int.random(in: -5...5, using: &dice))
        case 3, 4:
            let scalars: [Unicode.Scalar] = [
                "a", "\"", "\\", "\n", "\u{0}", "\u{7F}", "é", "😀", "\u{2028}", "/", "\t",
            ]
            var text = ""
            for _ in 0..<Int.random(in: 0...6, using: &dice) {
                text.unicodeScalars.append(scalars.randomElement(using: &dice) ?? "a")
            }
            return .string(text)
        case 5: return .array((0..<Int.random(in: 0...3, using: &dice)).map { _ in random(&dice, depth: depth - 1) })
        default:
            return .object(
                (0..<Int.random(in: 0...3, using: &dice)).map {
                    JSON.Member(name: "n\($0)", value: random(&dice, depth: depth - 1))
                })
        }
    }

    @Test("what is written is read back the same, on one line", arguments: 1...20)
    func roundTrip(seed: UInt64) throws {
        var dice = SplitMix64(seed)
        for _ in 0..<50 {
            let value = random(&dice, depth: 4)
            #expect(try JSON(parsing: value.bytes) == value)
            #expect(!value.bytes.contains { $0 < 32 || $0 == 127 })
        }
    }

    @Test("JSON escapes every character that a terminal obeys, and of the others quotation mark and backslash alone")
    func escapesWhatATerminalObeys() {
        let scalars = (0...0x10FFFF).compactMap { Unicode.Scalar($0 as UInt32) }
        let differing = scalars.filter { scalar in
            let text = String(scalar)
            let isWritten = JSON.string(text).text == "\"\(text)\""
            return isWritten != (TerminalText.safe(text) == text && scalar != "\"" && scalar != "\\")
        }
        #expect(scalars.count == 1_112_064)
        #expect(differing == [])
    }

    @Test("escapes of the wire are read")
    func escapes() throws {
        #expect(try JSON(parsing: #" "\u00e9\ud83d\ude00\/\b\f\r\t" "#.utf8) == .string("é😀/\u{8}\u{C}\r\t"))
    }
}

@Suite("Event JSON")
struct EventJSONTests {
    private let event = Event(
        id: Identifier("0199"), seq: 1042, kind: .changed, time: Timestamp(milliseconds: 1_795_226_400_123),
        source: "lab-systems", sourceKind: "cloudburst", poll: "p-7f3a",
        item: Item(
            key: "59", title: "prod-1", state: "Ready for use", url: "https://x",
            fields: ["owner": "/resources/users/6"]),
        changes: [FieldChange(field: "state", from: "Starting", to: "Ready for use", lasted: 252.4)])

    @Test("an event is exactly the contract's object")
    func transform() {
        let expected =
            #"{"specversion":"1.0","id":"0199","source":"/sources/lab-systems","type":"io.vedette.item.changed","#
            + #""subject":"59","time":"2026-11-21T02:00:00.123Z","datacontenttype":"application/json","data":{"#
            + #""source":"lab-systems","kind":"cloudburst","seq":1042,"poll":"p-7f3a","item":{"key":"59","#
            + #""title":"prod-1","state":"Ready for use","url":"https://x","fields":{"owner":"/resources/users/6"}},"#
            + #""changes":[{"field":"state","from":"Starting","to":"Ready for use","lasted":252.4}]}}"#
        #expect(event.json.text == expected)
    }

    @Test("every kind of event is read back as it was written", arguments: Event.Kind.allCases)
    func roundTrip(kind: Event.Kind) throws {
        var event = event
        event.kind = kind
        event.source = "räume & co"
        event.item?.time = Timestamp(milliseconds: 5)
        event.item?.notes = ["words": .list(["a", "b"])]
        event.changes.append(FieldChange(field: "zone", from: nil, to: .list([])))
        event.error = Event.Problem(failure: "timeout", detail: "no answer", server: "lab")
        #expect(Event(json: try JSON(parsing: event.json.bytes)) == event)
        let place = kind.isAboutSink ? "/sinks/" : "/sources/"
        let source = kind.isAboutWatcher ? "/watcher" : place + "r%C3%A4ume%20%26%20co"
        #expect(event.json["source"]?.string == source)
    }

    @Test("an event of a type that a newer version added is read, keeps its type, and is matched by no rule")
    func newerType() throws {
        var json = event.json.text
        json.replace("io.vedette.item.changed", with: "io.vedette.item.moved")
        let read = try #require(Event(json: try JSON(parsing: json.utf8)))
        #expect(read.kind == .unknown && read.type == "io.vedette.item.moved")
        #expect(read.json.text == json)
        #expect(read.item == event.item && read.changes == event.changes)
        #expect(MessageTitle.of(read).hasSuffix("event of the unknown type io.vedette.item.moved"))
        let changed = Condition.changes(event.changes.map(\.field))
        #expect(try changed.mismatch(with: event) == nil)
        for condition in [changed, .not(changed), .any([changed, .not(changed)]), .all([])] {
            #expect(
                try condition.mismatch(with: read) == "its type 'io.vedette.item.moved' is unknown to this version")
        }
        #expect(!Event.Kind.stored.contains(.unknown))
    }

    @Test("JSON that is no event is refused", arguments: ["{}", "[]", "null", #"{"id":"1","type":"x"}"#])
    func refused(text: String) throws { #expect(Event(json: try JSON(parsing: text.utf8)) == nil) }
}

@Suite("Support")
struct SupportTests {
    @Test("a digest is the same on every machine and version: it is stored")
    func digest() {
        #expect(StableHash.of([UInt8]()) == 0x5DC2_B1C4_8779_CA87)
        #expect(StableHash.of(Array("The quick brown fox jumps over the lazy dog".utf8)) == 0xE5EF_D055_5873_DE1C)
        var parts = StableHash()
        parts.add("ab")
        parts.add("c")
        var others = StableHash()
        others.add("a")
        others.add("bc")
        #expect(parts.value != others.value)
    }

    @Test("any byte changes a digest")
    func digestBytes() {
        let body = [UInt8](repeating: 7, count: 100)
        var seen: Set<UInt64> = [StableHash.of(body)]
        for i in body.indices {
            var other = body
            other[i] ^= 1
            #expect(seen.insert(StableHash.of(other)).inserted)
            #expect(seen.insert(StableHash.of(Array(body[..<i]))).inserted)
        }
    }

    @Test("any byte changes the digest of a long body too, and so does the order of its parts")
    func longDigest() {
        let body = (0..<4300).map { UInt8(truncatingIfNeeded: $0 / 16 + 7) }
        var seen: Set<UInt64> = [StableHash.of(body)]
        // 37 and 64 have no common divisor: every place in a stretch of four lanes is met.
        for i in stride(from: 0, to: body.count, by: 37) {
            var other = body
            other[i] ^= 1
            #expect(seen.insert(StableHash.of(other)).inserted)
        }
        for count in 4095...4161 { #expect(seen.insert(StableHash.of(Array(body[..<count]))).inserted) }
        for distance in [16, 32, 48, 64, 128] {
            var other = body
            for i in 0..<16 { other.swapAt(i, i + distance) }
            #expect(seen.insert(StableHash.of(other)).inserted)
        }
        #expect(StableHash.of(body) == 0x1527_B8CE_8C84_A184)
    }

    @Test("an item's digest is of what is compared and of nothing else")
    func itemDigest() {
        let item = Item(key: "1", title: "t", state: "s", fields: ["a": "x"])
        #expect(
            Item(key: "1", title: "t", state: "s", url: "u", time: at(1), fields: ["a": "x"], notes: ["n": "1"]).digest
                == item.digest)
        #expect(Item(key: "1", title: "s", state: "t", fields: ["a": "x"]).digest != item.digest)
        #expect(Item(key: "1", title: "t", state: "s", fields: ["a": .list(["x"])]).digest != item.digest)
        #expect(Item(key: "1", title: "t", state: nil, fields: ["a": "x"]).digest != item.digest)
    }

    @Test("an identifier has the layout of RFC 9562 §5.7, in the order of time")
    func identifier() {
        let time = Timestamp(milliseconds: 0x0123_4567_89AB)
        #expect(Identifier(time: time, random: (.max, .max)).description == "01234567-89ab-7fff-bfff-ffffffffffff")
        #expect(Identifier(time: time, random: (0, 0)).description == "01234567-89ab-7000-8000-000000000000")
        #expect(pollIdentifier(random: 0x7F3A << 48) == "p-7f3a0000")
    }

    private func headers(_ name: String, _ value: String) -> ResponseHeaders { ResponseHeaders([(name, value)]) }

    @Test(
        "an HTTP date is read in each form of RFC 9110 §5.6.7",
        arguments: [
            "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
            // Netscape's form, which many cookies have.
            "Sun, 06-Nov-1994 08:49:37 GMT",
        ])
    func httpDate(text: String) {
        #expect(Timestamp(httpDate: text, now: at(1_700_000_000)) == at(784_111_777))
    }

    @Test(
        "text that is no HTTP date is refused",
        arguments: [
            "Sun, 06 Nov 1994 08:49:37 CET", "", "Sun, 06 Nov 94 08:49:37 GMT", "Sunday, 06-Nov-994 08:49:37 GMT",
            "Sunday, 06-Nov-94 08:49:37", "Sun Nov 6 08:49:37 1994", "Sun Nov  6 08:49:37 94", "Sun Nov 06 08:49 1994",
            "Sunday, 31-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994 GMT",
        ])
    func noHTTPDate(text: String) { #expect(Timestamp(httpDate: text, now: at(1_700_000_000)) == nil) }

    @Test("a year of two digits more than 50 years ahead is in the past (RFC 9110 §5.6.7)")
    func shortYear() {
        // 2023-11-14.
        let now = at(1_700_000_000)
        #expect(Timestamp(httpDate: "Tuesday, 14-Nov-73 00:00:00 GMT", now: now) == at(3_277_843_200))
        #expect(Timestamp(httpDate: "Wednesday, 14-Nov-74 00:00:00 GMT", now: now) == at(153_619_200))
    }

    @Test("Retry-After is seconds or a date; the past, the negative and garbage are nothing")
    func retryAfter() {
        let now = at(784_111_777)
        let cases: [(String, Duration?)] = [
            ("120", .seconds(120)), ("0", nil), ("-5", nil), ("soon", nil), ("", nil), ("1.5", nil),
            ("99999999999999999999999", .seconds(1 << 31)), ("1000000000000", .seconds(1 << 31)),
            ("Sun, 06 Nov 1994 08:50:37 GMT", .seconds(60)), ("Sun, 06 Nov 1994 08:48:37 GMT", nil),
        ]
        for (text, expected) in cases {
            #expect(headers("retry-after", text).retryAfter(at: now) == expected, "\(text)")
        }
        #expect(ResponseHeaders().retryAfter(at: now) == nil)
    }

    @Test("freshness is max-age less Age, and no Age ends the program")
    func freshness() {
        func fresh(_ control: String, age: String? = nil) -> Duration? {
            ResponseHeaders([("Cache-Control", control)] + (age.map { [("Age", $0)] } ?? [])).freshFor
        }
        #expect(fresh("public, max-age=60") == .seconds(60) && fresh("Max-Age=60", age: "20") == .seconds(40))
        #expect(fresh("max-age=60", age: "\(Int64.min)") == .seconds(60))
        #expect(fresh("max-age=60", age: "\(Int64.max)") == .zero)
        #expect(fresh("no-cache, max-age=7200") == nil && fresh("max-age=7200, no-store") == nil)
        let lines = ResponseHeaders([("Cache-Control", "public"), ("Cache-Control", "max-age=60")])
        #expect(lines.freshFor == .seconds(60))
        #expect(fresh("max-age=0") == nil && fresh("no-store") == nil && fresh("max-age=x") == nil)
    }

    @Test("a Last-Modified of the response's own second is no validator; an older one or an ETag is")
    func validators() {
        func read(modified: String, date: String?, etag: String? = nil) -> Validators {
            var headers = [("Last-Modified", modified)]
            if let date { headers.append(("Date", date)) }
            if let etag { headers.append(("ETag", etag)) }
            return ResponseHeaders(headers).validators(at: at(784_111_777))
        }
        let modified = "Sun, 06 Nov 1994 08:49:37 GMT"
        let earlier = "Sun, 06 Nov 1994 08:49:36 GMT"
        let later = "Sun, 06 Nov 1994 08:49:38 GMT"
        #expect(read(modified: modified, date: modified).isEmpty)
        #expect(read(modified: modified, date: earlier).isEmpty)
        #expect(read(modified: modified, date: later) == Validators(lastModified: modified))
        #expect(read(modified: modified, date: nil) == Validators(lastModified: modified))
        #expect(read(modified: "yesterday", date: later) == Validators(lastModified: "yesterday"))
        #expect(
            read(modified: modified, date: modified, etag: "\"v1\"")
                == Validators(etag: "\"v1\"", lastModified: modified))
    }

    @Test("a header is found in any case, and its type and charset read")
    func responseHeaders() {
        let lines = "HTTP/1.1 200 OK\r\nContent-Type:  Text/HTML; Charset=\"utf-8\" \r\nX: 1\r\nx: 2\r\n"
        let headers = ResponseHeaders(lines: Array(lines.utf8))
        #expect(headers.mediaType == "text/html" && headers.charset == "utf-8")
        #expect(headers.all("X") == ["1", "2"] && headers["content"] == nil)
    }

    @Test("a suggestion is the nearest name, if it is near")
    func suggestions() {
        let names = ["source", "sources", "sinks", "every"]
        #expect(suggestion(for: "soruce", among: names) == "source")
        #expect(suggestion(for: "Every", among: names) == "every")
        #expect(suggestion(for: "password", among: names) == nil)
        #expect(suggestion(for: "x", among: []) == nil)
        #expect(suggestion(for: "z", among: ["a", "zz"]) == nil)
        #expect(suggestion(for: "5", among: ["59"]) == nil)
        #expect(suggestion(for: "ab", among: ["ax", "b"]) == nil)
        #expect(suggestion(for: "A", among: ["a"]) == "a")
        #expect(suggestion(for: "dwn", among: ["down"]) == "down")
        #expect(suggestion(for: "upp", among: ["up"]) == "up")
        func edits(_ a: String, _ b: String, _ limit: Int = 3) -> Int? {
            distance(Array(a.unicodeScalars), Array(b.unicodeScalars), atMost: limit)
        }
        #expect(edits("", "abc") == 3 && edits("abc", "") == 3 && edits("ab", "ba") == 1)
        #expect(edits("abcdef", "abdcef", 1) == 1 && edits("abcdef", "badcfe", 3) == 3)
        #expect(edits("abcdef", "badcfe", 2) == nil && edits("", "abcd") == nil)
    }

    @Test(
        "a name of any length, and any number of candidates, cost next to nothing: long names are not compared"
    )
    func boundedSuggestions() {
        let long = String(repeating: "a", count: 15_000)
        #expect(suggestion(for: long, among: [long + "b", long]) == nil)
        #expect(suggestion(for: "soruce", among: [long, "source"]) == "source")
        var compared = 0
        let endless = sequence(first: 0) { $0 + 1 }.lazy.map { number in
            compared = number + 1
            return "name \(number)"
        }
        #expect(suggestion(for: "nmae 7", among: endless) == "name 7")
        #expect(compared <= 20_001)
    }

    @Test("an error quotes a name on one line and cuts a long one")
    func quotedNames() {
        #expect(quoted("lab") == "'lab'")
        #expect(["~/a.b-c", "my dir", "it's", ""].map(shellWord) == ["~/a.b-c", "'my dir'", #"'it'\''s'"#, "''"])
        #expect(quoted("a\nb") == #"'a\nb'"#)
        #expect(
            quoted(String(repeating: "a", count: 15_000)) == "'" + String(repeating: "a", count: 100)
                + "…'")
    }

    @Test("a secret describes itself nowhere")
    func secret() {
        let secret = Secret("hunter2")
        var dumped = ""
        dump(Credentials(user: "u", password: secret), to: &dumped)
        let all = "\(secret) \(Header("Authorization", secret)) \(String(reflecting: secret)) \(dumped)"
        #expect(!all.contains("hunter2") && secret.value == "hunter2")
    }
}

@Suite("The Link header")
struct NextLinkTests {
    @Test(
        "only a link with the relation next names the next page (RFC 8288)",
        arguments: [
            (#"<https://a/2>; rel="next""#, "https://a/2"), (#"<?page=2>; rel=next, <?page=9>; rel=last"#, "?page=2"),
            (#"<?page=1>; rel="prev", <?page=3>; title="x"; REL="prefetch NEXT""#, "?page=3"),
            (#"</docs/next>; rel="help""#, nil), (#"<?page=2>; rel="last"; title="next""#, nil), ("next", nil),
            (#"<?9>; title="see, rel=next; x"; rel="prev""#, nil), (#"<?9>; rel=prev; rel=next"#, nil),
            (#"<?1>; title="a \"<b>, c"; rel=prev, <?3>; rel=next"#, "?3"),
        ] as [(String, String?)])
    func nextLink(_ line: String, _ expected: String?) {
        #expect(ResponseHeaders([("Link", line)]).nextLink == expected)
    }
}
