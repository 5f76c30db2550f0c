// SPDX-License-Identifier: Apache-2.0

import Testing
@testable import VedetteDocument

@Suite("Selectors of CSS")
struct CSSSelectorTests {
    private static let page = """
        <html><body><ul id="list" class="big list"><li class="new">one</li><li>two <b lang="de-AT">b</b></li>
        <li class="new last" data-n="3">three</li></ul><p title="it's">p1</p><p>p2 <a href="/x.pdf">pdf</a></p>
        <div></div></body></html>
        """

    @Test(
        "a selector finds the same elements as XPath",
        arguments: [
            ("li", ["one", "two b", "three"]), ("UL#list > li.new", ["one", "three"]), ("li.new.last", ["three"]),
            ("ul li:first-child", ["one"]), ("li:last-child", ["three"]), ("li:nth-child(2)", ["two b"]),
            ("li:nth-child(odd)", ["one", "three"]), ("li:nth-last-child(1)", ["three"]),
            ("li + li", ["two b", "three"]),
            ("li.new ~ li", ["two b", "three"]), ("p:first-of-type", ["p1"]), ("p:nth-of-type(2)", ["p2 pdf"]),
            ("[data-n]", ["three"]), ("[data-n='3']", ["three"]), ("[class~=last]", ["three"]), ("[lang|=de]", ["b"]),
            ("a[href$='.pdf']", ["pdf"]), ("a[href^=\"/x\"]", ["pdf"]), ("a[href*=x]", ["pdf"]),
            ("p[title=\"it's\"]", ["p1"]),
            ("li:not(.new)", ["two b"]), ("p:has(a)", ["p2 pdf"]), ("ul:has(> li.last) b", ["b"]),
            ("li:nth-child(-n+2)", ["one", "two b"]), ("li:nth-child(2n)", ["two b"]),
            ("li:nth-child(n+2)", ["two b", "three"]),
            ("li:nth-child(3n-1)", ["two b"]), ("li:nth-child(0)", []), ("li:nth-last-of-type(1)", ["three"]),
            ("div:only-of-type", [""]), ("li:is(.last, :first-child)", ["one", "three"]),
            ("li:not(.new, .old)", ["two b"]), ("p:has(b, a)", ["p2 pdf"]), (#"#\6cist b"#, ["b"]),
            ("a::attr(href)", ["/x.pdf"]), ("p ~ p::text", ["p2"]), ("a[href*='']", []), ("[class~='big list']", []),
            ("p:contains('p2')", ["p2 pdf"]), ("b, a", ["b", "pdf"]), ("div:empty", [""]), ("* > a", ["pdf"]),
        ])
    func finds(_ selector: String, _ texts: [String]) throws {
        let tree = try DOMReader().html(Array(CSSSelectorTests.page.utf8))
        let path = try XPath(CSSSelector(selector).xpath)
        #expect(try tree.texts(path, at: tree.root) == texts, "\(path)")
    }

    @Test(
        "what XPath cannot say, or what is no selector, is refused with the reason",
        arguments: [
            (
                "a:hover",
                "':hover' has no equal in XPath 1.0: a page that is only read has no such state; leave it out"
            ), ("p:lang(de)", "':lang' has no equal in XPath 1.0: write that part as XPath"),
            ("12a", "the name of an element begins with a letter, not with '1'"),
            ("a::before", "'::before' names no element; write '::attr(NAME)', '::text' or nothing"),
            ("a::text b", "nothing can follow '::attr()' and '::text'; write them last"),
            (
                "li:nth-child(n-9223372036854775808)",
                "'n-9223372036854775808' is no place; write a number, 'odd', 'even' or as '3n+1'"
            ),
            ("li:nth-child(x)", "'x' is no place; write a number, 'odd', 'even' or as '3n+1'"),
            (
                "*:first-of-type",
                "':first-of-type' needs the name of its element in XPath 1.0; write it before, as 'td:first-of-type'"
            ),
            ("p:not(div p)", "':not()' takes no 'p' inside here; name one element, as ':not(td.price)'"),
            (
                "[lang=DE i]",
                "the flag 'i' of '[lang=…]' has no equal in XPath 1.0; write the value in the page's own case"
            ),
            ("> li", "'>' at character 1 is no selector that can be read"),
            ("a[", "its end is no selector that can be read"), ("a >", "its end is no selector that can be read"),
            ("", "its end is no selector that can be read"),
            ("a ]", "']' at character 3 is no selector that can be read"),
        ])
    func refuses(_ selector: String, _ reason: String) {
        let error = #expect(throws: CSSSelector.Unsupported.self) { try CSSSelector(selector) }
        #expect(error?.reason == reason)
    }

    @Test("a selector of a row selects inside of it, and its children behind '>'")
    func relative() throws {
        let tree = try DOMReader().html(Array(CSSSelectorTests.page.utf8))
        let list = try #require(try tree.nodes(XPath(CSSSelector("ul").xpath)).first)
        for (selector, texts) in [("li.new", ["one", "three"]), ("> b", []), ("> li > b", ["b"]), ("p", [])] {
            let path = try XPath(CSSSelector(selector, isRelative: true).xpath)
            #expect(try tree.texts(path, at: list) == texts, "\(path)")
        }
    }

    @Test("names of XML keep their case, and a prefix stands before '|'")
    func xml() throws {
        #expect(try CSSSelector("Item > dc|Date[xmlLang]", isHTML: false).xpath == "//Item/dc:Date[@xmlLang]")
    }

    @Test("parentheses nested deeper than the limit are refused")
    func nesting() {
        let text = String(repeating: "p:not(", count: 17) + "a" + String(repeating: ")", count: 17)
        #expect(throws: CSSSelector.Unsupported(reason: "its parentheses are nested deeper than 16")) {
            try CSSSelector(text)
        }
    }

    @Test("a text with both quotes is a literal of XPath")
    func literals() { #expect(CSSSelector.literal("a'b\"c") == #"concat('a', "'", 'b"c')"#) }
}
