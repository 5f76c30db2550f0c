// SPDX-License-Identifier: Apache-2.0
import Testing
import VedetteDocument
import VedetteTestSupport

struct XMLHostileTests {
    @Test(
        "entities that are no short plain texts, and default attributes, are refused, used or unused",
        arguments: [
            "<!ENTITY a 'x<b>y</b>'>", "<!ENTITY a '&#60;b>'>", "<!ENTITY a '&#38;c;'>",
            "<!ENTITY a '\(String(repeating: "x", count: 1025))'>", "<!ENTITY a 'x'><!ATTLIST feed x CDATA 'y'>",
            "<!ENTITY a SYSTEM 'file:///etc/passwd'>",
            "<!ENTITY % p SYSTEM 'http://127.0.0.1:9/x'> %p;",
            "<!ENTITY a 'x'><!ENTITY b '&a;&a;&a;&a;&a;&a;&a;&a;'><!ENTITY c '&b;&b;&b;&b;&b;&b;&b;&b;'>",
            "<!NOTATION n SYSTEM 'n'><!ENTITY a SYSTEM 'x' NDATA n>", "<!ATTLIST feed x CDATA 'y'>",
        ])
    func declarations(declaration: String) {
        for use in ["&a;", "&c;", ""] {
            let text = "<!DOCTYPE feed [\(declaration)]><feed><title>\(use)</title></feed>"
            #expect(failure { _ = try xml(text) } == .entityDeclared)
        }
    }

    @Test("a parameter entity inside a declaration is an error of the syntax (XML 1.0 §2.8), used or unused")
    func parameterInDeclaration() {
        for declared in ["", "<!ENTITY % p 'x'>"] {
            for use in ["&a;", ""] {
                let text = "<!DOCTYPE feed [\(declared)<!ENTITY a '%p;'>]><feed><title>\(use)</title></feed>"
                let found = failure { _ = try xml(text) }
                #expect(found == (declared.isEmpty ? .syntax : .entityDeclared), "\(text)")
            }
        }
    }

    @Test("entities that are short plain texts are replaced, and their references cannot make a document long")
    func plainEntities() throws {
        func titled(_ declarations: String, _ title: String) -> String {
            "<?xml version='1.0'?><!-- c --><!DOCTYPE feed [\(declarations)]><feed><title>\(title)</title></feed>"
        }
        #expect(failure { _ = try xml(titled("<!ENTITY a 'x&#233;>\"'> <!ENTITY b-1 \"y\">", "&a;&b-1;&amp;")) } == nil)
        let long = "<!ENTITY a '\(String(repeating: "x", count: 1024))'>"
        #expect(failure { _ = try xml(titled(long, String(repeating: "&a;", count: 1000))) } == nil)
        #expect(failure { _ = try xml(titled(long, String(repeating: "&a;", count: 2000))) } == .tooLarge)
    }

    @Test("depth is bounded")
    func depth() {
        func nested(_ depth: Int) -> String {
            "<feed>" + String(repeating: "<a>", count: depth - 1) + String(repeating: "</a>", count: depth - 1)
                + "</feed>"
        }
        #expect(failure { _ = try xml(nested(256)) } == nil)
        #expect(failure { _ = try xml(nested(257)) } == .tooDeep)
        #expect(failure { _ = try xml(nested(100_000)) } == .tooDeep)
        var limits = XMLLimits()
        limits.depth = 3
        #expect(failure { _ = try xml(nested(4), limits: limits) } == .tooDeep)
    }

    @Test("elements, attributes, namespaces, text and the whole are bounded", .tags(.I8))
    func counters() {
        var limits = XMLLimits()
        limits.elements = 3
        limits.textBytes = 1000
        limits.attributes = 10
        limits.bytes = 20_000
        func kind(_ text: String) -> DocumentError.Kind? { failure { _ = try xml(text, limits: limits) } }
        #expect(kind("<feed><a/><a/></feed>") == nil)
        #expect(kind("<feed><a/><a/><a/></feed>") == .tooLarge)
        let long = String(repeating: "x", count: 1000)
        #expect(kind("<feed><title>\(long)</title></feed>") == nil)
        #expect(kind("<feed><title>\(long)<b>y</b></title></feed>") == .tooLarge)
        #expect(kind("<feed><content type='xhtml'>\(long)<b/></content></feed>") == .tooLarge)
        #expect(kind("<feed><title></title>\(long)y<a>\(long)</a></feed>") == nil)
        func attributes(_ count: Int) -> String { (0..<count).map { " a\($0)='>'" }.joined() }
        #expect(kind("<feed\(attributes(10))/>") == nil)
        #expect(kind("<feed\(attributes(11))/>") == .tooLarge)
        #expect(kind("<feed\(attributes(2000))/>") == .tooLarge)
        #expect(kind("<feed>" + String(repeating: " ", count: 20_000) + "</feed>") == .tooLarge)
    }

    @Test("a tag with a hundred thousand attributes is refused before it is parsed")
    func attributeBomb() {
        let text = "<feed" + (0..<100_000).map { " a\($0)=''" }.joined() + "/>"
        #expect(failure { _ = try xml(text) } == .tooLarge)
    }

    @Test("namespaces in force are bounded, also below what is skipped")
    func namespaceBomb() {
        let tag = "<a" + (0..<200).map { " xmlns:n\($0)='u\($0)'" }.joined() + ">"
        #expect(failure { _ = try xml("<feed>" + String(repeating: tag, count: 6)) } == .tooLarge)
        let closed = String(repeating: tag + "</a>", count: 20)
        #expect(failure { _ = try xml("<feed>\(closed)</feed>") } == nil)
    }

    @Test("random damage never crashes and never shortens a list silently")
    func damage() throws {
        let whole = try Fixture.bytes("connections-public-1-p2.xml")
        var seed: UInt64 = 7
        func random(_ bound: Int) -> Int {
            seed = seed &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(seed >> 33) % bound
        }
        let entries = try xml(whole).recorder.entries
        for _ in 0..<1000 {
            var body = whole
            body[random(body.count)] = Array("<>&;\"'/ \u{0}\u{1}é!-".utf8)[random(13)]
            // A damaged namespace makes the whole root unknown, which a kind refuses.
            if let page = try? xml(body), !page.recorder.unknown.contains(where: { $0.hasSuffix("feed") }) {
                #expect(abs(page.recorder.entries - entries) <= 1)
            }
        }
    }
}
