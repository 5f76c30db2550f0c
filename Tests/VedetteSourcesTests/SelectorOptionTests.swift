// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteCore

@testable import VedetteSources

/// Selectors of CSS in the options of `html` and `xml`. changedetection.io 57, uptime-kuma 3936.
@Suite("Selectors of CSS in options")
struct SelectorOptionTests {
    private static let shop = """
        <html><body><div class="ad"><a href="/x">ad</a></div><table class="offers big">
        <tr class="row sold"><td><a href="/p/1">Lamp</a></td><td class="price">12 €</td></tr>
        <tr class="row"><td><a href="/p/2">Desk</a></td><td class="price">80 €</td></tr></table>
        <a class="next" href="?page=2">more</a></body></html>
        """

    @Test("rows, keys, fields and the next page by selectors, beside XPath")
    func rows() throws {
        let kind = try Fixture.kind(
            "html",
            [
                "items": .text("css:table.offers > tr.row"), "key": .list([.text("css: a::attr(href)")]),
                "title": .list([.text("{{css:a}} at {{td[2]}}")]), "state": .list([.text("css:.none, .price")]),
                "fields": .map([("price", .text("css:> td.price"))]), "ignore": .list([.text("css:.sold a")]),
                "next": .text("css:a.next::attr(href)"), "measures": .map([("sold", .text("count(td)"))]),
            ])
        var page = PageBody(bytes: Array(Self.shop.utf8), url: "https://shop.example.org/list")
        let error = #expect(throws: ReadError.self) { try kind.read(&page) }
        #expect(error?.detail.contains("css: a::attr(href)") == true, "the first row has lost its link")
        let all = try Fixture.kind(
            "html",
            [
                "items": .text("css:table.offers > tr.row"), "key": .list([.text("css: a::attr(href)")]),
                "title": .list([.text("{{css:a}} at {{td[2]}}")]), "fields": .map([("price", .text("css:> td.price"))]),
                "next": .text("css:a.next::attr(href)"),
            ])
        var again = PageBody(bytes: Array(Self.shop.utf8), url: "https://shop.example.org/list")
        let read = try all.read(&again)
        #expect(read.items.map(\.key) == ["/p/1", "/p/2"])
        #expect(read.items.map(\.title) == ["Lamp at 12 €", "Desk at 80 €"])
        #expect(read.items.map { $0["price"] } == ["12 €", "80 €"])
        #expect(read.next?.url == "https://shop.example.org/list?page=2")
    }

    @Test("a part of a page by a selector, and names of XML in their case")
    func selects() throws {
        var page = PageBody(bytes: Array(Self.shop.utf8), url: "https://shop.example.org/list")
        let kind = try Fixture.kind("html", ["select": .text("css:tr:not(.sold) .price")])
        #expect(try kind.read(&page).items[0]["text"] == "80 €")
        var xml = PageBody(bytes: Array("<Jobs><Job n='1'><State>up</State></Job></Jobs>".utf8), url: "https://h/")
        let jobs = try Fixture.kind(
            "xml",
            [
                "items": .text("css:Jobs > Job"), "key": .list([.text("@n")]), "state": .list([.text("css:State")]),
            ])
        #expect(try jobs.read(&xml).items.map(\.state) == ["up"])
    }

    @Test("a selector that XPath cannot express is refused with the part and the remedy, and so is the prefix 'css'")
    func refused() {
        let hover = #expect(throws: OptionProblem.self) { try Fixture.kind("html", ["items": .text("css:a:hover")]) }
        #expect(
            hover?.detail
                == "'css:a:hover' cannot be translated into XPath: ':hover' has no equal in XPath 1.0: a page that is only read has no such state; leave it out"
        )
        let prefix = #expect(throws: OptionProblem.self) {
            try Fixture.kind("xml", ["namespaces": .map([("css", .text("urn:x"))])])
        }
        #expect(prefix?.path == ["namespaces", "css"])
    }
}
