// SPDX-License-Identifier: Apache-2.0
import Testing
import VedetteDocument

@Suite("Trees of XML")
struct DOMTests {
    private let evri = "evri-entities.xml"

    @Test("each row gives its own texts")
    func rows() throws {
        let tree = try DOMReader().xml(Fixture.bytes(evri))
        let rows = try tree.nodes(XPath("//entities/entity"))
        #expect(rows.count == 3)
        let hrefs = try rows.flatMap { try tree.texts(XPath("@href"), at: $0) }
        #expect(
            hrefs == ["/person/ada-lovelace-0x1a2b3", "/product/analytical-engine-0x4c5d6", "/location/london-0x77e10"])
        #expect(try tree.texts(XPath("canonicalName"), at: rows[2]).isEmpty)
        #expect(try tree.texts(XPath("facets/facet"), at: rows[0]) == ["Mathematician"])
        #expect(try tree.texts(XPath("concat(position(), '/', last())"), at: rows[1]) == ["2/3"])
        #expect(try tree.ask("//category") == ["Science", "Technology"])
        #expect(try tree.ask("/evriThing/@status") == ["OK"])
    }

    @Test("texts, numbers and booleans are read, and an absent value gives none")
    func values() throws {
        let tree = try xmlTree("<r><a>1.50</a><a>2</a><empty/></r>")
        #expect(try tree.ask("count(//a)") == ["2"])
        #expect(try tree.ask("sum(//a)") == ["3.5"])
        #expect(try tree.ask("//a[1]") == ["1.50"])
        #expect(try tree.ask("//a = 2") == ["true"])
        #expect(try tree.ask("not(//a)") == ["false"])
        #expect(try tree.ask("string(//nothing)").isEmpty)
        #expect(try tree.ask("number(//nothing)").isEmpty)
        #expect(try tree.ask("//nothing").isEmpty)
        #expect(try tree.ask("//empty") == [""])
    }

    @Test("a number has the decimal form of XPath, without an exponent")
    func numbers() throws {
        let tree = try xmlTree("<r><a>12345678900</a><a>1</a><b>0.000001</b></r>")
        #expect(try tree.ask("sum(//a)") == ["12345678901"])
        #expect(try tree.ask("-sum(//a)") == ["-12345678901"])
        #expect(try tree.ask("number(//b)") == ["0.000001"])
        #expect(try tree.ask("-//b div 4") == ["-0.00000025"])
        #expect(try tree.ask("9007199254740991") == ["9007199254740991"])
        #expect(try tree.ask("12345678900.5 * 1") == ["12345678900.5"])
        #expect(try tree.ask("1000000000000 * 1000000000000") == ["1" + String(repeating: "0", count: 24)])
        #expect(try tree.ask("-0 * 1") == ["0"])
        #expect(try tree.ask("0.1 + 0.2") == ["0.3"])
        #expect(try tree.ask("1 div 0") == ["Infinity"])
    }

    @Test("white space is joined, CDATA is text, comments and instructions are left out")
    func text() throws {
        let tree = try xmlTree("<r>\n a\u{A0}\u{A0}b <!-- c --><i>d</i>e <![CDATA[<f> & ]]>&#103;<?h i?>\t</r>")
        #expect(try tree.ask("/r") == ["a b de <f> & g"])
        #expect(try tree.ask("//comment() | //processing-instruction()").isEmpty)
        #expect(try tree.ask("//text()").count == 3)
        #expect(try xmlTree("<r a=' x&#38;y  z '/>").ask("/r/@a") == ["x&y z"])
    }

    @Test("attributes, texts and namespaces can be rows and values")
    func kindsOfNodes() throws {
        let tree = try xmlTree("<r xmlns:p='urn:p'><a k='1'/><a k='2'/>t</r>")
        let rows = try tree.nodes(XPath("//@k"))
        #expect(try rows.flatMap { try tree.texts(XPath("."), at: $0) } == ["1", "2"])
        #expect(try rows.flatMap { try tree.texts(XPath("name(..)"), at: $0) } == ["a", "a"])
        #expect(try tree.ask("/r/namespace::p") == ["urn:p"])
        for row in try tree.nodes(XPath("//namespace::*")) { _ = try tree.texts(XPath(". | .. | //a"), at: row) }
    }

    @Test("results come in document order, each node once")
    func order() throws {
        let tree = try xmlTree("<r><a>1</a><b>2</b><a>3</a></r>")
        #expect(try tree.ask("//b | //a | //a[2] | //a/preceding::a") == ["1", "2", "3"])
    }

    @Test("ignored nodes are removed before any expression is evaluated, also nested ones")
    func ignoring() throws {
        let text = "<r id='r'><a t='1' u='2'>x<b><c/>y</b></a><a t='3'>z</a></r>"
        let tree = try xmlTree(text, ignoring: ["//b", "//c | //b/text()", "//@u", "//nothing", "string(//a)"])
        #expect(try tree.ask("/r") == ["xz"])
        #expect(try tree.ask("//@*") == ["r", "1", "3"])
        #expect(try xmlTree(text, ignoring: ["//a | //b | //c | //@t"]).ask("//*").count == 1)
        #expect(try xmlTree(text, ignoring: ["/r"]).ask("//*").isEmpty)
        #expect(try xmlTree(text, ignoring: ["/", "/r/namespace::*"]).ask("/r") == ["xyz"])
    }

    @Test("every truncation of a document is an error, never a shorter list")
    func cuts() throws {
        let whole = try Fixture.bytes("evri-related.xml")
        let end = try #require(whole.lastIndex(of: UInt8(ascii: ">"))) + 1
        for length in 0..<end {
            let kind = failure { _ = try DOMReader().xml(Array(whole[..<length])) }
            #expect(kind != nil, "\(length) bytes")
        }
        #expect(failure { _ = try DOMReader().xml(Array(whole[..<end])) } == nil)
    }

    @Test("a document that is not XML is refused with its class")
    func wrongTypes() {
        func kind(_ text: String) -> DocumentError.Kind? { failure { _ = try xmlTree(text) } }
        #expect(kind("") == .empty)
        #expect(kind(" \n ") == .empty)
        #expect(kind("<!DOCTYPE html><html><body>Sign in</body></html>") == .wrongType)
        #expect(kind("<?xml version='1.0'?><HTML/>") == .wrongType)
        #expect(kind("{\"a\": 1}") == .wrongType)
        #expect(kind("no markup") == .wrongType)
        #expect(kind("<a><b></a>") == .syntax)
    }

    @Test("small errors are corrected with a warning, and encodings are decoded")
    func healing() throws {
        let tree = try xmlTree("<r>a & b&nbsp;\u{1}c</r>after")
        #expect(try tree.ask("/r") == ["a & b c"])
        #expect(tree.warnings == [.controlCharacters, .bareAmpersand, .htmlEntity, .trailingContent].sorted())
        let latin = Array("<?xml version='1.0' encoding='ISO-8859-1'?><r>".utf8) + [0xE9] + Array("</r>".utf8)
        #expect(try DOMReader().xml(latin).ask("/r") == ["é"])
        let wide = "\u{FEFF}<r>é€😀</r>".utf16.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }
        #expect(try DOMReader().xml(wide).ask("/r") == ["é€😀"])
        #expect(
            try DOMReader().xml(Array("<r>".utf8) + [0xEB] + Array("</r>".utf8), charset: "koi8-r").ask("/r") == ["К"])
    }

    @Test("the same bytes give the same results")
    func determinism() throws {
        let bytes = try Fixture.bytes("connections-public-1.xml")
        let map = [("a", "http://www.w3.org/2005/Atom")]
        let first = try DOMReader().xml(bytes).ask("//a:entry/* | //a:entry//@*", map)
        #expect(first.count > 100)
        for _ in 0..<5 { #expect(try DOMReader().xml(bytes).ask("//a:entry/* | //a:entry//@*", map) == first) }
    }
}
