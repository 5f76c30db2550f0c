// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteCore

@testable import VedetteSources

@Suite("The html kind")
struct HTMLResourceTests {
    private func read(
        _ options: [String: OptionValue], _ text: String, url: String = "https://shop.example.org/a/list.html"
    )
        throws -> Page
    {
        var page = PageBody(bytes: Array(text.utf8), url: url)
        return try Fixture.kind("html", options).read(&page)
    }

    private static let shop = """
        <!DOCTYPE html><html><head><title>The shop</title></head><body><nav>Hello, it is <b id=clock>12:01</b></nav>
        <table class=offers><tr><th>Name<th>Price
        <tr class="row odd" id=p1><td><a href="p/1?ref=x">Lamp</a><td>12.50&nbsp;&euro;
        <tr class="row" id=p2><td><a href="p/2">Desk</a><td>80 &euro;<td class=state>sold <i>out</i></table>
        <a rel=next href="?page=2">more</a></body></html>
        """

    @Test("rows of a table without end tags, by XPath")
    func rows() throws {
        let page = try read(
            [
                "items": .text("//table[@class='offers']//tr[contains(concat(' ', @class, ' '), ' row ')]"),
                "title": .list([.text("td[1]")]), "state": .list([.text("td[@class='state']")]),
                "fields": .map([("price", .text("td[2]"))]),
                "measures": .map([("euros", .text("number(substring-before(translate(td[2], '\u{A0}', ' '), ' '))"))]),
                "next": .text("//a[@rel='next']/@href"),
            ], Self.shop)
        #expect(page.items.map(\.key) == ["p1", "p2"])
        #expect(page.items.map(\.title) == ["Lamp", "Desk"])
        #expect(page.items.map(\.state) == [nil, "sold out"])
        #expect(page.items.map(\.url) == ["https://shop.example.org/a/p/1?ref=x", "https://shop.example.org/a/p/2"])
        #expect(page.items.map { $0["price"] } == ["12.50 €", "80 €"])
        #expect(page.items.map { $0["euros"] } == ["12.5", "80"])
        #expect(page.next?.url == "https://shop.example.org/a/list.html?page=2")
    }

    @Test("'sort' is doubted where the page is one line, and where no field of a row can be a list")
    func sorts() throws {
        func doubts(_ options: [String: OptionValue]) throws -> [String] {
            try Fixture.kind("html", options, filter: TextFilter(sorts: true)).doubts.map(\.detail)
        }
        #expect(try doubts([:]).first?.contains("the text of the page is one line") == true)
        #expect(try doubts(["items": .text("//li")]).first?.contains("the order of the items means nothing") == true)
        #expect(try doubts(["select": .text("//li")]) == [])
        for options: [String: OptionValue] in [[:], ["items": .text("//li")]] {
            #expect(try doubts(options.merging(["fields": .map([("tags", .text("//b"))])]) { $1 }) == [])
        }
        #expect(try Fixture.kind("html").doubts == [])
    }

    @Test("by default a row is keyed by its id or its first link, titled by its text and linked by its first link")
    func defaults() throws {
        let page = try read(["items": .text("//li")], "<ul><li id=a>one <a href=/1>x</a><li><a href='/2'>two</a></ul>")
        #expect(page.items.map(\.key) == ["a", "/2"])
        #expect(page.items.map(\.title) == ["one x", "two"])
        #expect(page.items.map(\.url) == ["https://shop.example.org/1", "https://shop.example.org/2"])
    }

    @Test("a link takes over the path of a long address, not its query, and at most 2 KiB of it")
    func longAddresses() throws {
        let rows = "<ul><li id=a><a href=x>x</a><li id=b><a href=/y>y</a><li id=c><a href='#z'>z</a></ul>"
        func links(_ url: String, base: String = "") throws -> [String?] {
            try read(["items": .text("//li")], base + rows, url: url).items.map(\.url)
        }
        let path = String(repeating: "a/", count: 2000)
        #expect(try links("https://h/a/?q") == ["https://h/a/x", "https://h/y", "https://h/a/?q#z"])
        #expect(try links("https://h/a/?sig=\(path)") == ["https://h/a/x", "https://h/y", "#z"])
        #expect(try links("https://h/\(path)") == ["x", "https://h/y", "#z"])
        #expect(try links("https://h/a/", base: "<base href='https://i/\(path)'>").first == "https://h/a/x")
    }

    @Test("without items the page is one item, and its text is compared")
    func wholePage() throws {
        let page = try read(["ignore": .list([.text("//nav"), .text("//th")])], Self.shop)
        let item = page.items[0]
        #expect(page.items.count == 1)
        #expect(item.key == "page")
        #expect(item.title == "The shop")
        #expect(item.url == "https://shop.example.org/a/list.html")
        #expect(item.fields == ["text": "Lamp 12.50 € Desk 80 € sold out more"])
        let elsewhere = try read(
            ["ignore": .list([.text("//nav"), .text("//th")])], Self.shop, url: "https://shop.example.org/b?session=1")
        #expect(elsewhere.items[0].digest == item.digest)
        #expect(try Fixture.kind("html").fieldNames == ["text"])
    }

    @Test("a change in ignored nodes is no change")
    func noise() throws {
        func digest(_ page: String, _ options: [String: OptionValue]) throws -> UInt64 {
            try read(options, page).items[0].digest
        }
        let later = Self.shop.replacing("12:01", with: "12:02").replacing(
            "class=offers", with: "class='offers' data-nonce=x")
        let sold = Self.shop.replacing("80", with: "75")
        let ignoring: [String: OptionValue] = ["ignore": .list([.text("//*[@id='clock']")])]
        #expect(try digest(Self.shop, [:]) != digest(later, [:]))
        #expect(try digest(Self.shop, ignoring) == digest(later, ignoring))
        #expect(try digest(Self.shop, ignoring) != digest(sold, ignoring))
        #expect(try digest(Self.shop, ["select": .text("//table")]) == digest(later, ["select": .text("//table")]))
    }

    @Test("a selection that finds nothing is a failure, a page without text a warning")
    func nothing() throws {
        let error = #expect(throws: ReadError.self) { try read(["select": .text("//main")], Self.shop) }
        #expect(error?.failure == .shape)
        let page = try read([:], "<html><body><div id=app></div><script>run()</script></body></html>")
        #expect(page.items[0].fields == ["text": ""])
        #expect(page.warnings == ["the page has no text; it may be made by scripts, which are not run"])
    }

    @Test("a long page keeps its beginning and a digest")
    func long() throws {
        let words = String(repeating: "word ", count: 20_000)
        let page = try read([:], "<p>\(words)</p>")
        #expect(page.items[0]["text"]?.description.utf8.count ?? 0 <= 64 << 10)
        #expect(page.warnings.count == 1)
        #expect(try read([:], "<p>\(words)x</p>").items[0].digest != page.items[0].digest)
    }

    @Test("links follow the page's base")
    func base() throws {
        let page = try read(
            ["items": .text("//a"), "key": .list([.text("@href")])],
            "<html><head><base href='/deep/er/'></head><a href='x'>l</a></html>")
        #expect(page.items[0].url == "https://shop.example.org/deep/er/x")
    }

    @Test("the option require detects a login page")
    func login() throws {
        let options: [String: OptionValue] = ["require": .map([("count(//table) > 0", .list([.text("true")]))])]
        _ = try read(options, Self.shop)
        let error = #expect(throws: ReadError.self) {
            try read(options, String(decoding: Fixture.bytes("connections-login-200.html"), as: UTF8.self))
        }
        #expect(error?.failure == .bodyStatus)
    }

    @Test(
        "a cut page is a failure unless its end is optional; a body that is not HTML is always one",
        arguments: [
            ("<html><body><p>x<a", Failure.truncated), ("", .empty), ("{\"a\":1}", .wrongType),
            ("plain words", .wrongType),
            ("<?xml version='1.0'?><feed/>", .wrongType),
        ])
    func failures(text: String, failure: Failure) throws {
        let error = #expect(throws: ReadError.self) { try read([:], text) }
        #expect(error?.failure == failure)
        let options: [String: OptionValue] = ["end": .text("optional")]
        if failure == .truncated {
            #expect(try read(options, text).items[0]["text"] == "x")
        } else {
            #expect(throws: ReadError.self) { try read(options, text) }
        }
    }

    @Test(
        "an option that is not used is refused with its place",
        arguments: [
            (["key": OptionValue.list([.text("@id")])], ["key"]),
            (["items": .text("//a"), "select": .text("//b")], ["select"]),
            (["fields": .map([("text", .text("//p"))])], ["fields", "text"]),
            (["select": .text("string(//b)")], ["select"]),
            (["items": .text("//A[")], ["items"]),
        ])
    func badOptions(options: [String: OptionValue], path: [String]) {
        let error = #expect(throws: OptionProblem.self) { try Fixture.kind("html", options) }
        #expect(error?.path == path)
    }

    @Test("the default interval is half an hour")
    func interval() { #expect(HTMLResource.entry.every == .seconds(1800)) }

    @Test("reading a page twice gives the same items")
    func determinism() throws {
        let options: [String: OptionValue] = ["items": .text("//tr"), "key": .list([.text("position()")])]
        #expect(try read(options, Self.shop).items == read(options, Self.shop).items)
    }
}
