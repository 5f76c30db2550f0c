// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteCore

@testable import VedetteSources

@Suite("The xml kind")
struct XMLResourceTests {
    private func read(
        _ options: [String: OptionValue], _ bytes: [UInt8], headers: ResponseHeaders = .init()
    ) throws -> Page {
        var page = PageBody(bytes: bytes, headers: headers, url: "https://api.example.org/v1/media/list.xml?page=1")
        return try Fixture.kind("xml", options).read(&page)
    }

    private func read(_ options: [String: OptionValue], _ text: String) throws -> Page {
        try read(options, Array(text.utf8))
    }

    private static let articles: [String: OptionValue] = [
        "items": .text("/evriThing/mediaResult/articleList/article"),
        "key": .list([.text("concat(link/@hostName, link/@path)")]), "title": .list([.text("title")]),
        "link": .text("concat('https://', link/@hostName, link/@path)"),
        "fields": .map([("entities", .text("topEntities/entity/name"))]),
        "notes": .map([("author", .text("author")), ("summary", .text("content"))]),
        "require": .map([("/evriThing/@status", .list([.text("OK")]))]), "error": .list([.text("//statusInfo")]),
    ]

    @Test("the Evri API: articles keyed by host and path")
    func evri() throws {
        let page = try read(Self.articles, Fixture.bytes("evri-related.xml"))
        let first = page.items[0]
        #expect(page.items.map(\.key) == ["news.example.org/2026/11/engine-parts", "events.example.org/lectures/12"])
        #expect(first.title == "Engine parts found in a museum cellar")
        #expect(first.url == "https://news.example.org/2026/11/engine-parts")
        #expect(first["entities"] == .list(["Analytical Engine", "London"]))
        #expect(page.items[1]["entities"] == "Lovelace")
        #expect(first["author"] == "R. Penn")
        #expect(page.items[1]["author"] == nil)
        #expect(page.warnings.isEmpty)
    }

    @Test("a document with an error of its own is a failure with its text")
    func ownError() throws {
        let bytes = try Fixture.bytes("evri-error.xml")
        let error = #expect(throws: ReadError.self) { try read(Self.articles, bytes) }
        #expect(error?.failure == .bodyStatus)
        #expect(error?.detail == "the document says /evriThing/@status is ERROR, not OK: No such entity.")
        let bare = #expect(throws: ReadError.self) { try read(["error": .list([.text("//statusInfo")])], bytes) }
        #expect(bare?.detail == "the document is an error: No such entity.")
        let absent = #expect(throws: ReadError.self) {
            try read(["require": .map([("/r/@ok", .list([.text("1"), .text("2")]))])], "<r id='1'/>")
        }
        #expect(absent?.detail == "the document says /r/@ok is absent, not 1 or 2")
        _ = try read(["require": .map([("count(//x) > 0", .list([.text("false")]))])], "<r id='1'/>")
    }

    @Test("every option together: composite key and state, time, measures, namespaces, next page and window")
    func everything() throws {
        let page = try read(
            [
                "items": .text("//s:vm"), "key": .list([.text("@host"), .text("s:id")]),
                "title": .list([.text("s:nick"), .text("s:name")]),
                "state": .list([.text("s:status"), .text("s:result")]), "link": .text("@href"), "time": .text("s:at"),
                "fields": .map([("disks", .text("s:disk/@size")), ("big", .text("s:disk/@size > 100"))]),
                "notes": .map([("pos", .text("position()"))]),
                "measures": .map([("load", .text("s:load")), ("n", .text("count(s:disk)"))]),
                "namespaces": .map([("s", .text("urn:systems"))]), "next": .text("/s:list/@next"),
                "mode": .text("window"),
                "ignore": .list([.text("//s:noise")]),
            ],
            """
            <list xmlns="urn:systems" next="list.xml?page=2">
              <vm host="h1" href="../vm/1"><id>7</id><name>web<noise> 12:01</noise></name><status>done</status><result/>
                <at>2026-11-21T02:00:00Z</at><disk size="50"/><disk size="200"/><load>0.25</load></vm>
              <vm host="h1"><id>8</id><nick>db</nick><name>x</name><status>run</status><result>ok</result><load>n/a</load></vm>
            </list>
            """)
        let (first, second) = (page.items[0], page.items[1])
        #expect([first.key, second.key] == ["h1/7", "h1/8"])
        #expect([first.title, second.title] == ["web", "db"])
        #expect([first.state, second.state] == ["done", "run/ok"])
        #expect(first.url == "https://api.example.org/v1/vm/1")
        #expect(first.time?.rfc3339 == "2026-11-21T02:00:00.000Z")
        #expect(first.fields == ["disks": .list(["50", "200"]), "big": "true"])
        #expect(second.fields == ["big": "false"])
        #expect(second.notes == ["pos": "2"])
        #expect(first.measures == ["load": "0.25", "n": "2"])
        #expect(second.measures == ["n": "0"])
        #expect(page.next?.url == "https://api.example.org/v1/media/list.xml?page=2")
        #expect(try Fixture.kind("xml", ["mode": .text("window")]).mode == .window)
    }

    @Test(
        "an invalid address of the next page is a failure, because that page would be missed",
        arguments: ["xml", "html"])
    func unresolved(_ name: String) throws {
        let options: [String: OptionValue] = ["items": .text("//a"), "next": .text("//b/@href")]
        let root = name == "xml" ? "r" : "html"
        let text = "<\(root)><a id='1'>x</a><b href='javascript:load(2)'>more</b></\(root)>"
        let kind = try Fixture.kind(name, options)
        var page = PageBody(bytes: Array(text.utf8), url: "https://api.example.org/list")
        let error = #expect(throws: ReadError.self) { try kind.read(&page) }
        #expect(error?.failure == .shape)
        #expect(error?.detail == "the next page's address is not valid; check 'next'")
        // A file has one page, whatever it says.
        var file = PageBody(bytes: Array(text.utf8), url: "file:///tmp/list")
        #expect(try kind.read(&file).next == nil)
        guard name == "xml" else { return }
        let headers = ResponseHeaders([("Link", "<javascript:load(2)>; rel=next")])
        #expect(throws: ReadError.self) { try read([:], Array("<r id='1'/>".utf8), headers: headers) }
    }

    @Test("parts of a key that contain the separator do not merge two items")
    func joined() throws {
        let page = try read(
            ["items": .text("//i"), "key": .list([.text("@a"), .text("@b")])],
            "<r><i a='x/y' b='z'/><i a='x' b='y/z'/><i a='5%' b='c'/></r>")
        #expect(page.items.map(\.key) == ["x%2Fy/z", "x/y%2Fz", "5%25/c"])
        // A key of one part is as it is.
        #expect(try read(["items": .text("//i")], "<r><i id='x/y'/></r>").items[0].key == "x/y")
    }

    @Test("by default the root is the item, keyed by its id, titled by title or name")
    func defaults() throws {
        let item = try read([:], "<r><id>5</id><name>n</name></r>").items[0]
        #expect(item.key == "5")
        #expect(item.title == "n")
        #expect(
            try read(["items": .text("//i")], "<r><i id='1' title='t'/><i id='2'><id>no</id></i></r>").items.map(\.key)
                == ["1", "2"])
    }

    @Test("the next page is followed by the Link header too")
    func linkHeader() throws {
        let headers = ResponseHeaders([("Link", "<?page=2>; rel=\"next\"")])
        #expect(
            try read([:], Array("<r id='1'/>".utf8), headers: headers).next?.url
                == "https://api.example.org/v1/media/list.xml?page=2")
    }

    @Test("a form, a document and a WebDAV method are sent as they are written; a plain GET is what it was")
    func requests() throws {
        func request(_ options: [String: OptionValue]) throws -> (RequestTemplate, type: String?, depth: String?) {
            let template = try Fixture.kind("xml", options).request(
                base: "https://ec2.example.org/", context: PollContext())
            func header(_ name: String) -> String? { template.headers.first { $0.name == name }?.value }
            return (template, header("Content-Type"), header("Depth"))
        }
        let (plain, plainType, _) = try request([:])
        #expect(plain.method == "GET" && plain.body == nil && plainType == nil)
        let form = JSON.members(["Action": .string("DescribeInstances"), "Filter.1": .string("a b&c"), "n": .number(1)])
        let (ec2, formType, _) = try request(["body": .json(form)])
        #expect(ec2.method == "POST" && formType == "application/x-www-form-urlencoded")
        #expect(String(decoding: ec2.body ?? [], as: UTF8.self) == "Action=DescribeInstances&Filter.1=a%20b%26c&n=1")
        let (soap, soapType, _) = try request(["body": .json(.string("<Envelope/>"))])
        #expect(
            soap.method == "POST" && soapType == "text/xml; charset=utf-8" && soap.body == Array("<Envelope/>".utf8))
        let (dav, _, depth) = try request(["method": .text("PROPFIND")])
        #expect(dav.method == "PROPFIND" && depth == "1" && dav.body == nil)
        #expect(throws: OptionProblem.self) { try request(["method": .text("GET"), "body": .json(.string("a=b"))]) }
        #expect(throws: OptionProblem.self) { try request(["body": .json(.members(["a": .array([])]))]) }
        let requests: [[String: OptionValue]] = [[:], ["body": .json(form)], ["method": .text("PROPFIND")]]
        #expect(Set(try requests.map { try Fixture.kind("xml", $0).identity }).count == 3)
    }

    @Test("templates take XPaths")
    func templates() throws {
        let page = try read(
            ["items": .text("/r/i"), "link": .text("/jobs/{{@id}}"), "title": .list([.text("{{n}} of {{@id}}")])],
            "<r><i id='1/2'><n>one</n></i></r>")
        #expect(page.items[0].url == "https://api.example.org/jobs/1%2F2" && page.items[0].title == "one of 1/2")
    }

    @Test("an item without its key is a failure that says which one")
    func missingKey() {
        let error = #expect(throws: ReadError.self) { try read(["items": .text("//i")], "<r><i id='1'/><i/></r>") }
        #expect(error?.failure == .shape)
        #expect(error?.detail == "item number 2 has no '@id' or 'id', which is its key; check 'key' and 'items'")
    }

    @Test("a warning explains why no item is found in a document with a namespace")
    func namespaceHint() throws {
        let text = "<feed xmlns='http://www.w3.org/2005/Atom'><entry><id>1</id></entry></feed>"
        let page = try read(["items": .text("//entry")], text)
        #expect(page.items.isEmpty)
        #expect(page.warnings.first?.contains("is in the namespace http://www.w3.org/2005/Atom") == true)
        let right = try read(
            [
                "items": .text("//a:entry"), "key": .list([.text("a:id")]),
                "namespaces": .map([("a", .text("http://www.w3.org/2005/Atom"))]),
            ], text)
        #expect(right.items.map(\.key) == ["1"])
        #expect(right.warnings.isEmpty)
        // The namespace explains more than the hint about any expression.
        #expect(page.emptyHint == nil && right.emptyHint?.contains("'items' finds nothing") == true)
    }

    @Test(
        "a page of HTML, a cut, an empty and an endless document are failures",
        arguments: [
            ("<!DOCTYPE html><html><body>Sign in</body></html>", Failure.wrongType), ("<r><i id='1'/>", .truncated),
            ("", .empty),
            ("<r><i></r>", .malformed), ("<!DOCTYPE r [<!ENTITY a 'b<c/>'>]><r>&a;</r>", .malformed),
            ("{}", .wrongType),
            (String(repeating: "<a>", count: 1000), .tooLarge),
        ])
    func failures(text: String, failure: Failure) {
        let error = #expect(throws: ReadError.self) { try read([:], text) }
        #expect(error?.failure == failure)
    }

    @Test(
        "an option that cannot be read is refused with its place",
        arguments: [
            (
                ["items": OptionValue.text("//a[")], ["items"],
                "'//a[' is no XPath that can be read: a '[' is not closed"
            ),
            (["items": .text("count(//a)")], ["items"], "'count(//a)' yields a number; 'items' needs nodes"),
            (
                ["ignore": .list([.text("//a"), .text("'x'")])], ["ignore", "'x'"],
                "''x'' yields a text; 'ignore' needs nodes"
            ),
            (
                ["key": .list([.text("@id"), .text("//a")])], ["key", "//a"],
                "'//a' begins at the root of the document, so all items would have one key; write './/a'"
            ),
            (
                ["fields": .map([("x", .text("a:b"))])], ["fields", "x"],
                "'a:b' is no XPath that can be read: the prefix 'a' is not declared; declare it in 'namespaces'"
            ),
            (
                ["fields": .map([("state", .text("b"))])], ["fields", "state"],
                "'state' is an option of its own; write it beside 'fields'"
            ),
            (
                ["fields": .map([("x", .text("b"))]), "measures": .map([("x", .text("b"))])], ["measures", "x"],
                "'x' is a field, note or measure already; rename one"
            ),
            (["namespaces": .map([("1", .text("u"))])], ["namespaces", "1"], "'1' cannot be a prefix"),
            (
                ["require": .map([("//a]", .list([.text("1")]))])], ["require", "//a]"],
                "'//a]' is no XPath that can be read: a ']' closes nothing"
            ),
            (
                ["error": .list([.text("$a")])], ["error", "$a"],
                "'$a' is no XPath that can be read: it uses the variable '$a', and there are none"
            ),
            (["next": .text("")], ["next"], "'' is no XPath that can be read: it is empty"),
        ])
    func badOptions(options: [String: OptionValue], path: [String], detail: String) {
        let error = #expect(throws: OptionProblem.self) { try Fixture.kind("xml", options) }
        #expect(error?.path == path)
        #expect(error?.detail == detail)
    }

    @Test("the choice of items determines the identity, the expression of a field its fingerprint")
    func fingerprints() throws {
        let base = try Fixture.kind("xml", ["items": .text("//a"), "fields": .map([("x", .text("b"))])])
        let other = try Fixture.kind("xml", ["items": .text("//a"), "fields": .map([("x", .text("c"))])])
        #expect(base.identity == other.identity)
        #expect(base.fingerprints["x"] != other.fingerprints["x"])
        #expect(base.fingerprints["title"] == other.fingerprints["title"])
        #expect(try Fixture.kind("xml", ["items": .text("//b")]).identity != base.identity)
        #expect(
            try Fixture.kind("xml", ["items": .text("//a"), "key": .list([.text("@k")])]).identity != base.identity)
        #expect(base.fieldNames == ["x"])
    }

    @Test("a text longer than 64 KiB keeps its beginning and a digest of all of it")
    func longText() throws {
        func text(_ end: String) throws -> String? {
            let body = "<r id='1'><t>" + String(repeating: "é", count: 50_000) + end + "</t></r>"
            return try read(["fields": .map([("t", .text("t"))])], body).items[0]["t"]?.description
        }
        let (one, two) = (try #require(try text("a")), try #require(try text("b")))
        #expect(one.utf8.count <= 64 << 10)
        #expect(one != two)
        #expect(try text("a") == one)
        #expect(one.contains("é … (100001 bytes, digest "))
    }
}
