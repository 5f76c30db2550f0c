// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteDocument

@testable import vedette

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
            ("a:hover", "':hover' has no equal in XPath"), ("a::before", "'::' names no element"),
            ("li:nth-child(3n+1)", "a place is a number, 'odd' or 'even' here"),
            ("*:first-of-type", "':first-of-type' has no equal in XPath"),
            ("a[", "its end is no selector that can be read"), ("a >", "its end is no selector that can be read"),
            ("", "its end is no selector that can be read"),
            ("a ]", "']' at character 3 is no selector that can be read"),
        ])
    func refuses(_ selector: String, _ reason: String) {
        let error = #expect(throws: CSSSelector.Unsupported.self) { try CSSSelector(selector) }
        #expect(error?.reason == reason)
    }

    @Test("a text with both quotes is a literal of XPath")
    func literals() { #expect(CSSSelector.literal("a'b\"c") == #"concat('a', "'", 'b"c')"#) }
}
