// SPDX-License-Identifier: Apache-2.0
import Testing
import VedetteDocument
import VedetteTestSupport

struct XMLReaderTests {
    @Test("a page of updates gives its entries and links with their ampersands")
    func connections() throws {
        let page = try xml(Fixture.bytes("connections-public-1.xml"))
        #expect(page.warnings.isEmpty)
        #expect(page.recorder.entries == 20)
        #expect(page.recorder.ids[1] == "urn:lsid:ibm.com:news:story-af4aa504-fd5d-5fff-b30a-6bd9cf3b6338")
        #expect(page.recorder.titles[2] == "Tomás Varga: back from leave, catching up on tickets")
        #expect(
            page.recorder.links[0] == "https://connections.example.org/news/atom/stories/public?ps=20&lang=en&page=1")
        #expect(page.recorder.contents[0] == "<p>The first twelve agents moved over the weekend.</p>")
        #expect(page.recorder.unknown.contains("{http://activitystrea.ms/spec/1.0/}verb"))
    }

    @Test("namespaces are matched by URI, not by prefix")
    func namespaces() throws {
        let text = """
            <a:feed xmlns:a="http://www.w3.org/2005/Atom" xmlns="urn:other" xmlns:x="http://purl.org/dc/elements/1.1/">
            <title>no</title><a:title>yes</a:title><x:date>2026</x:date><a:link x:href="no"/></a:feed>
            """
        let page = try xml(text)
        #expect(page.recorder.titles == ["yes"])
        #expect(page.recorder.dates == ["2026"])
        #expect(page.recorder.links.isEmpty)
        #expect(page.recorder.unknown == ["{urn:other}title"])
    }

    @Test("an undeclared prefix is not the same as no namespace")
    func undeclaredPrefix() throws {
        let page = try xml("<feed><x:title>no</x:title><title>yes</title><link x:href='no'/><link href='yes'/></feed>")
        #expect(page.recorder.titles == ["yes"])
        #expect(page.recorder.links == ["yes"])
        #expect(page.warnings == [.namespace])
    }

    @Test("text is collected from descendants and CDATA, markup is written out again")
    func collects() throws {
        let text = """
            <feed><title>a <b>bold</b><![CDATA[ <c> & d]]> &amp;&#65;</title>
            <content type="xhtml"><div xmlns="http://www.w3.org/1999/xhtml">x &lt; <a href="?a&amp;b=&quot;">y</a><br/></div></content>
            <content>&lt;p&gt;</content></feed>
            """
        let page = try xml(text)
        #expect(page.recorder.titles == ["a bold <c> & d &A"])
        #expect(page.recorder.contents == [#"<div>x &lt; <a href="?a&amp;b=&quot;">y</a><br/></div>"#, "<p>"])
    }

    @Test("xml:base and xml:lang apply to the elements below, and no further")
    func inherited() throws {
        let text = """
            <feed xml:base="http://h/a/" xml:lang="en"><entry xml:base="b/"><content xml:lang="it">1</content></entry>
            <content>2</content></feed>
            """
        let page = try xml(text)
        #expect(page.recorder.bases == [["http://h/a/", "b/"], ["http://h/a/"]])
        #expect(page.recorder.languages == ["it", "en"])
    }

    @Test("an error that a handler throws ends the reading")
    func refusal() {
        #expect(failure { _ = try xml("<rss><channel/></rss>") } == .wrongShape)
    }

    @Test("a DOCTYPE alone, comments and instructions around the root are accepted")
    func prolog() throws {
        let text = """
            <?xml version="1.0"?><?style x?><!-- & -->
            <!DOCTYPE feed PUBLIC "-//Netscape//DTD RSS 0.91//EN" "http://my.netscape.com/publish/formats/rss-0.91.dtd">
            <feed><title>x</title></feed><!-- cached --><?end?>
            """
        let page = try xml(text)
        #expect(page.recorder.titles == ["x"])
        #expect(page.warnings.isEmpty)
    }

    @Test(
        "every truncation of a page is an error", .tags(.I2),
        arguments: ["connections-public-1-p2.xml", "evri-entities.xml"])
    func truncations(name: String) throws {
        var whole = try Fixture.bytes(name)
        while whole.last == UInt8(ascii: "\n") { whole.removeLast() }
        #expect(failure { _ = try xml(whole) } == nil)
        for count in 0..<whole.count {
            let kind = failure { _ = try xml(Array(whole[..<count])) }
            #expect(kind == (count == 0 ? .empty : .truncated), "cut to \(count) bytes")
        }
    }

    @Test("broken markup is an error with its place")
    func malformed() {
        for text in ["<feed><a></b></feed>", "<feed><title x=1/></feed>", "<feed a='1' a='2'/>", "<feed>a<</feed>"] {
            do {
                _ = try xml(text)
                Issue.record("accepted \(text)")
            } catch {
                let error = error as? DocumentError
                #expect(error?.kind == .syntax)
                #expect(error?.offset != nil)
            }
        }
    }

    @Test(
        "a document of the wrong kind has a class of its own",
        arguments: [
            ("", DocumentError.Kind.empty), (" \n ", .empty), ("<html><body/></html>", .wrongType), ("{}", .wrongType),
            ("<?xml version='1.0'?><!-- x --><!DOCTYPE html><html/>", .wrongType), ("hello", .wrongType),
            ("<?xml version='1.0'?><?x?><x:HTML xmlns:x='y'/>", .wrongType),
        ])
    func wrongKinds(text: String, kind: DocumentError.Kind) {
        #expect(failure { _ = try xml(text) } == kind)
    }

    @Test("the login page of the fixtures is a wrong type")
    func loginPage() throws {
        let page = try Fixture.bytes("connections-login-200.html")
        #expect(failure { _ = try xml(page) } == .wrongType)
    }
}
