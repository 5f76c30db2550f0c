// SPDX-License-Identifier: Apache-2.0
import Testing
import VedetteDocument

@Suite("Trees of HTML")
struct DOMHTMLTests {
    @Test("broken markup of a usual page is recovered")
    func recovery() throws {
        let tree = try htmlTree(
            """
            <!DOCTYPE html><HTML lang=en><head><title>Jobs &amp; more</title>
            <meta charset=utf-8><script>if (a < b && c > d) document.write("<p>no</p>");</script></head>
            <BODY class="x y"><p>One<p>Two <b>bold<i>both</b></i>
            <ul><li>a<li>b<li class=last data-n='3'>c &copy; &nbsp;d</ul>
            <table><tr><td>1<td>2<tr><td>3</table>
            <a href="/x?a=1&amp;b=2" @click=go disabled>link</a><br/><div>tail 1 < 2 &unknown; & end</div>
            </body></html>
            """)
        #expect(try tree.ask("//title") == ["Jobs & more"])
        #expect(try tree.ask("//ul/li") == ["a", "b", "c © d"])
        #expect(try tree.ask("//li[@class='last']/@data-n") == ["3"])
        #expect(try tree.ask("//tr").count == 2)
        #expect(try tree.ask("//td") == ["1", "2", "3"])
        #expect(try tree.ask("//a/@href") == ["/x?a=1&b=2"])
        #expect(try tree.ask("//a/@*").count == 2)
        #expect(try tree.ask("//body/p").count == 2)
        #expect(try tree.ask("//body/div") == ["tail 1 < 2 &unknown; & end"])
        #expect(try tree.ask("count(//p[. = 'no'])") == ["0"])
        #expect(try tree.ask("/html/@lang") == ["en"])
    }

    @Test("the text of a page is what a browser shows, and blocks are separated")
    func text() throws {
        let tree = try htmlTree(
            """
            <html><body><style>p{}</style><p>One</p><p>T<b>w</b>o</p>a<br>b<script>var x</script><template>t</template>
            <label>l</label> <select><option>o</option></select><!-- <p>c</p> --><td>x</td><div>y<div>z</div></div>
            <textarea><b>raw</b></textarea><p hidden>h</p><i style="DISPLAY : none!important">i</i><b style=visibility:hidden>v</b>
            <noscript>n</noscript><i style="overflow:hidden">w</i></body></html>
            """)
        #expect(try tree.ask("//body") == ["One Two a b l o x y z w"])
        #expect(try tree.ask("//textarea") == ["<b>raw</b>"] && tree.ask("//p[@hidden]") == ["h"])
        #expect(try tree.ask("string(//script)") == ["var x"])
        #expect(try tree.ask("//script/text()") == ["var x"])
    }

    @Test("words on both sides of an inline element with white space around it stay separated")
    func spaces() throws {
        let tree = try htmlTree(
            "<html><body><my-tag>a</my-tag> <my-tag>b</my-tag> <i>c</i> <i>d</i><u>e</u></body></html>")
        #expect(try tree.ask("//body") == ["a b c de"])
    }

    @Test("texts and attributes read references to C1 characters as windows-1252, and the names of HTML 5")
    func references() throws {
        let tree = try htmlTree(
            """
            <title>A &#8211; &#150; B&colon; C</title><p title="&#x80;&lpar;&quot;&rpar;">&#128;&nbsp;12&comma;50 &#x92 &#0151;
            &amp;comma; &comma &unknown; &percnt;</p><script>"&comma;&#128;"</script>
            """)
        #expect(try tree.ask("//title") == ["A – – B: C"])
        #expect(try tree.ask("//p/@title") == ["€(\")"])
        #expect(try tree.ask("//p") == ["€ 12,50 ’ — &comma; &comma &unknown; %"])
        #expect(try tree.ask("//script/text()") == ["\"&comma;&#128;\""])
    }

    @Test("a fragment without html and body is a page")
    func fragment() throws {
        let tree = try htmlTree("<div id=a>x</div><div id=b>y</div>")
        #expect(try tree.ask("//div/@id") == ["a", "b"])
        #expect(try tree.ask("//*[@id = 'b']") == ["y"])
    }

    @Test("an XHTML page is a page, another XML document is none")
    func xhtml() throws {
        let page =
            "<?xml version='1.0'?><!DOCTYPE html><html xmlns='http://www.w3.org/1999/xhtml'><body><a id='i'/><p>x</p></body></html>"
        #expect(try htmlTree(page).ask("//body/p") == ["x"])
        #expect(failure { _ = try htmlTree("<?xml version='1.0'?><rss><channel/></rss>") } == .wrongType)
    }

    @Test("a document that is not HTML is refused with its class")
    func wrongTypes() {
        func kind(_ text: String) -> DocumentError.Kind? { failure { _ = try htmlTree(text) } }
        #expect(kind("") == .empty)
        #expect(kind(" \r\n\u{FEFF} ") == .empty)
        #expect(kind("{\"a\": \"<b>\"}") == .wrongType)
        #expect(kind("[1]") == .wrongType)
        #expect(kind("just words, 1 < 2") == .wrongType)
        #expect(kind("%PDF-1.4 <a>") == .wrongType)
    }

    @Test("a page that opens <html> must close it, unless that is waived")
    func end() throws {
        #expect(failure { _ = try htmlTree("<html><body><p>x") } == .truncated)
        #expect(failure { _ = try htmlTree("<p>x<!-- </html>") } == .truncated)
        #expect(failure { _ = try htmlTree("<html><p>x<script>'</html>'") } == .truncated)
        #expect(failure { _ = try htmlTree("<p>x<a href='") } == .truncated)
        #expect(try htmlTree("<html><body><p>x", mustEnd: false).ask("//p") == ["x"])
        #expect(try htmlTree("<p>x<a href='", mustEnd: false).ask("//p") == ["x"])
        #expect(try htmlTree("<!doctype html><p>x").ask("//p") == ["x"])
        let open = try DOMReader().html(Array("<html><p>x".utf8), needsEndTag: false)
        #expect(try open.ask("//p") == ["x"] && !open.hasEndTag && htmlTree("<html><p>x</html>").hasEndTag)
        #expect(failure { _ = try DOMReader().html(Array("<html><p>x<a".utf8), needsEndTag: false) } == .truncated)
        #expect(try htmlTree("<html><p>x</HTML ><p>y<!-- z").ask("//p") == ["x", "y"])
    }

    @Test("every truncation of an HTML page is an error")
    func cuts() throws {
        let whole = Array(
            "<!DOCTYPE html>\n<html><head><title>é</title></head><body><p class='a>b'>x<!-- c --><script>1</script></p></body></html>"
                .utf8)
        for length in 0..<whole.count {
            #expect(failure { _ = try DOMReader().html(Array(whole[..<length])) } != nil, "\(length) bytes")
        }
        #expect(try DOMReader().html(whole).ask("//p") == ["x"])
    }

    @Test("encodings by header, byte order mark and meta, and by guess")
    func encodings() throws {
        func read(_ bytes: [UInt8], _ charset: String? = nil) throws -> [String] {
            try DOMReader().html(bytes, charset: charset).ask("//p")
        }
        let e = Array("<p>".utf8) + [0xE9] + Array("</p>".utf8)
        #expect(try read(e) == ["é"])
        #expect(try read(e, "iso-8859-7") == ["ι"])
        #expect(try read(Array("<meta charset='koi8-r'>".utf8) + e) == ["И"])
        #expect(try read(Array("<meta charset='koi8-r'>".utf8) + e, "iso-8859-1") == ["é"])
        #expect(try read(Array("<meta charset='koi8-r'>".utf8) + e, "x-unheard-of") == ["И"])
        let old = "<META http-equiv='Content-Type' content='text/html; charset=windows-1251'>"
        #expect(try read(Array(old.utf8) + e) == ["й"])
        #expect(try read(Array("<meta charset=utf-16><p>é€😀</p>".utf8)) == ["é€😀"])
        let wide = "\u{FEFF}<p>é€😀</p>".utf16.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] }
        #expect(try read(wide, "iso-8859-1") == ["é€😀"])
        #expect(try read(Array("<p>é".utf8) + [0xFF] + Array("</p>".utf8), "utf-8") == ["é\u{FFFD}"])
    }

    @Test("many characters of several bytes survive, wherever a chunk ends")
    func multibyte() throws {
        let text = String(repeating: "é€😀a", count: 30_000)
        #expect(try htmlTree("<p>\(text)</p>").ask("//p") == [text])
        #expect(try htmlTree("<p title='\(text)'>x</p>").ask("//p/@title") == [text])
    }

    @Test("a script may contain text that resembles its end, and XPath reaches data in it")
    func scripts() throws {
        let tree = try htmlTree(
            "<html><script type='application/ld+json'>{\"a\": \"<b></bs>\"}</script><script>'</scripts>'<!-- '</script><p>x</p></html>"
        )
        #expect(try tree.ask("//script[@type='application/ld+json']") == ["{\"a\": \"<b></bs>\"}"])
        #expect(try tree.ask("string(//script[@type='application/ld+json'])") == ["{\"a\": \"<b></bs>\"}"])
        #expect(try tree.ask("//p") == ["x"])
    }
}
