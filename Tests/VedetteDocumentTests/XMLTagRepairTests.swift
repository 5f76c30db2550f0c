// SPDX-License-Identifier: Apache-2.0
import Testing
import VedetteDocument

/// A recorder that can begin again.
private final class Restartable: XMLHandler {
    private(set) var recorder = Recorder()
    private(set) var restarts = 0

    func start(_ element: borrowing XMLElement) throws(DocumentError) -> XMLAction { try recorder.start(element) }
    func end(_ element: borrowing XMLEnd) throws(DocumentError) { try recorder.end(element) }

    func restart() -> Bool {
        recorder = Recorder()
        restarts += 1
        return true
    }
}

@Suite("Markup that is not well-formed")
struct XMLTagRepairTests {
    private func read(_ text: String) throws -> (recorder: Recorder, warnings: [DocumentWarning]) {
        let handler = Restartable()
        let warnings = try XMLReader(Recorder.vocabulary).read(Array(text.utf8), handler: handler)
        #expect(handler.restarts == (warnings.contains(.markup) ? 1 : 0))
        return (handler.recorder, warnings)
    }

    @Test(
        "is mended where its meaning is beyond doubt",
        arguments: [
            ("a <b>bold", "a bold"), ("a</b>b", "ab"), ("a<br>b<hr>c<img src='x'>d", "abcd"), ("<p>a<p>b", "ab"),
            ("1 < 2", "1 < 2"), ("<3", "<3"), ("a <i>b <b>c</i> d", "a b c d"), ("a ]]> b", "a ]]> b"),
            ("<b a=1 c>x</b>", "x"), ("<b a='1' a='2'>x</b>", "x"), ("x<B>y</b>z", "xyz"), ("a<!-- - -- - -->b", "ab"),
            ("a<?xml version='1.0'?>b", "ab"), ("\u{FFFF}a\u{FFFE}", "a"), ("<i <b>x</b>", "<i x"),
            ("<![CDATA[<b>]]> < <![CDATA[</i>]]>", "<b> < </i>"), ("<ul><li>a<li>b</ul>", "ab"),
        ])
    func mends(inner: String, expected: String) throws {
        let page = try read("<feed><title>\(inner)</title><id>1</id><entry/></feed>")
        #expect(page.recorder.titles == [expected])
        #expect(page.recorder.ids == ["1"])
        #expect(page.recorder.entries == 1)
        #expect(page.warnings.contains(.markup))
    }

    @Test("an attribute given twice counts once, and the first counts")
    func duplicates() throws {
        let page = try read("<feed><link href='one' href=\"two\" href=three/></feed>")
        #expect(page.recorder.links == ["one"])
        #expect(page.warnings == [.duplicateAttribute, .markup].sorted())
    }

    @Test(
        "what may hide or end an entry is not mended",
        arguments: [
            "<feed><entry><title>a</entry></feed>", "<feed><entry><title>a</title></feed>", "<feed><x></y></feed>",
            "<feed><link href='x></entry><entry><link href='y'/></feed>", "<feed></entry></feed>",
            "<feed><title>a</feed></title>", "<feed><link href=\"a<b\"/></feed>", "<feed><b></entry></b></feed>",
        ])
    func refuses(text: String) {
        #expect(failure { _ = try read(text) } == .syntax)
    }

    @Test("a malformed document that is cut is refused")
    func cut() throws {
        let whole = Array("<feed><title>A <b>bold <i>x</title><link href=a/><id>1</id><entry></entry></feed>".utf8)
        for count in 0..<whole.count {
            let handler = Restartable()
            #expect(throws: DocumentError.self, "cut to \(count)") {
                _ = try XMLReader(Recorder.vocabulary).read(Array(whole[..<count]), handler: handler)
            }
        }
    }

    @Test(
        "markup that is begun again and again and never ends is passed over once", .timeLimit(.minutes(1)),
        arguments: [
            "<a/b=", "<a b=", "<a b=c", "<a b=\"", "<a b='<c d=\"", "</a", "<!--", "<?a ", "<![CDATA[", "<!DOCTYPE a ",
            "<", "&", "&#",
        ])
    func endless(mark: String) {
        #expect(failure { _ = try read("<feed></x>" + String(repeating: mark, count: 20_000)) } == .syntax)
    }

    @Test("limits apply to a repaired document too")
    func limits() {
        let deep = "<feed><title>1 < 2" + String(repeating: "<b>", count: 5000) + "</title></feed>"
        #expect(failure { _ = try read(deep) } == .syntax)
        let many = "<feed><title>1 < 2</title>" + String(repeating: "<br x>", count: 2000) + "</feed>"
        #expect(failure { _ = try read(many) } == nil)
    }

    @Test("a handler that cannot restart gets the first error")
    func withoutRestart() {
        #expect(failure { _ = try xml("<feed><title>1 < 2</title></feed>") } == .syntax)
    }

    @Test("an undeclared prefix has a meaning only when it is well known")
    func prefixes() throws {
        var vocabulary = Recorder.vocabulary
        vocabulary.assume("dc", means: "http://purl.org/dc/elements/1.1/")
        let recorder = Recorder()
        let text = "<feed><dc:date>1</dc:date><x:date>2</x:date><dc:title>3</dc:title></feed>"
        let warnings = try XMLReader(vocabulary).read(Array(text.utf8), handler: recorder)
        #expect(recorder.dates == ["1"])
        #expect(recorder.titles.isEmpty)
        #expect(warnings == [.namespace])
    }

    @Test("random damage to a malformed document never crashes and never loses entries silently")
    func damage() throws {
        let whole = Array(
            ("<feed>" + (1...20).map { "<entry><title>\($0) < <b>x</title><link href=a></link></entry>" }.joined()
                + "</feed>").utf8)
        var seed: UInt64 = 3
        func random(_ bound: Int) -> Int {
            seed = seed &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(seed >> 33) % bound
        }
        for _ in 0..<500 {
            var body = whole
            body[random(body.count)] = Array("<>&;\"'/ =!?".utf8)[random(11)]
            let handler = Restartable()
            guard (try? XMLReader(Recorder.vocabulary).read(body, handler: handler)) != nil else { continue }
            #expect(
                handler.recorder.entries >= 19 || !handler.recorder.unknown.isEmpty,
                "\(String(decoding: body, as: UTF8.self))")
        }
    }
}
