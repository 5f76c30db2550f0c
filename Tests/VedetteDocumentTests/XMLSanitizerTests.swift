// SPDX-License-Identifier: Apache-2.0
import Testing
import VedetteDocument

struct XMLSanitizerTests {
    @Test("HTML entities and bare ampersands are read as their characters, with a warning")
    func entities() throws {
        let page = try xml(
            "<feed><title>a&nbsp;b &eacute;t&eacute; AT&T &foo; & &hellip;</title><link href='?a=1&b=2&eacute;&amp;c'/></feed>"
        )
        #expect(page.recorder.titles == ["a\u{A0}b été AT&T &foo; & …"])
        #expect(page.recorder.links == ["?a=1&b=2é&c"])
        #expect(page.warnings == [.bareAmpersand, .htmlEntity].sorted())
    }

    @Test("the ampersands of CDATA, comments and instructions are left alone")
    func opaque() throws {
        let page = try xml("<feed><!-- a&b --><?x a&b ?><title><![CDATA[a&nbsp;&b]]> &nbsp;</title></feed>")
        #expect(page.recorder.titles == ["a&nbsp;&b \u{A0}"])
        #expect(page.warnings == [.htmlEntity])
    }

    @Test("control characters are removed, raw or by reference, and all else stays")
    func controls() throws {
        let page = try xml("<feed><title>a\u{0}b\u{1B}[1m&#8;&#x1F;c\td&#9;e</title><id>\u{8}x</id></feed>")
        #expect(page.recorder.titles == ["ab[1mc\td\te"])
        #expect(page.recorder.ids == ["x"])
        #expect(page.warnings == [.controlCharacters])
    }

    @Test("a control character is found at every place; tabs and line breaks are allowed")
    func everyControl() throws {
        for length in 0..<40 {
            let text = String(repeating: "é\n\t", count: 8).prefix(length)
            let page = try xml("<feed><title>\(text)\u{1}\(text)</title></feed>")
            #expect(page.recorder.titles == ["\(text)\(text)"])
            #expect(page.warnings == [.controlCharacters])
            #expect(try xml("<feed><title>\(text)</title></feed>").warnings == [])
        }
    }

    @Test("white space before the declaration, text after the root and an unknown prefix are reported")
    func dependencies() throws {
        let page = try xml(
            "\n\n<?xml version='1.0'?><feed><dc:date>1</dc:date><title>x</title></feed>\n<b>Warning</b>: PHP")
        #expect(page.recorder.titles == ["x"])
        #expect(page.warnings == [.leadingSpace, .trailingContent, .namespace].sorted())
    }

    @Test("corrections do not hide a cut")
    func cut() {
        #expect(failure { _ = try xml("<feed><title>a & b</title><id>&nbsp") } == .truncated)
    }

    private static let euro = "<feed><title>é€</title></feed>"

    @Test("encodings come from the byte order mark, the response, the declaration, in this order")
    func encodings() throws {
        func title(_ bytes: [UInt8], _ charset: String? = nil) throws -> XMLOutcome { try xml(bytes, charset: charset) }
        func utf16(_ text: String, mark: Bool, big: Bool) -> [UInt8] {
            let units = (mark ? [0xFEFF] : []) + Array(text.utf16)
            return units.flatMap { big ? [UInt8($0 >> 8), UInt8($0 & 255)] : [UInt8($0 & 255), UInt8($0 >> 8)] }
        }
        for big in [true, false] {
            for mark in [true, false] {
                let text = "<?xml version='1.0' encoding='UTF-16'?>" + Self.euro
                let page = try title(utf16(text, mark: mark, big: big), "iso-8859-1")
                #expect(page.recorder.titles == ["é€"])
                #expect(page.warnings.isEmpty)
            }
        }
        func single(_ bytes: [UInt8], declared: String? = nil) -> [UInt8] {
            let declaration = declared.map { "<?xml version='1.0' encoding=\"\($0)\"?>" } ?? ""
            return Array(declaration.utf8) + Array("<feed><title>".utf8) + bytes + Array("</title></feed>".utf8)
        }
        #expect(try title(single([0xE9, 0x80]), "ISO-8859-1").recorder.titles == ["é€"])
        #expect(try title(single([0xE9, 0x80], declared: "windows-1252")).recorder.titles == ["é€"])
        #expect(try title(single([0xCF], declared: "iso-8859-1"), "windows-1251").recorder.titles == ["П"])
        #expect(try title(single([0xD0, 0xD2], declared: "koi8-r")).recorder.titles == ["пр"])
        #expect(try title(single(Array("é".utf8), declared: "utf-8"), "iso-8859-1").recorder.titles == ["é"])
        #expect(try title([0xEF, 0xBB, 0xBF] + single(Array("é".utf8)), "koi8-r").recorder.titles == ["é"])
        #expect(try title(single(Array("é".utf8), declared: "x-none")).recorder.titles == ["é"])
        #expect(failure { _ = try title(single([0xE9], declared: "x-none")) } == .encoding)
    }

    @Test("bytes of windows-1252 in a text that is UTF-8 by name are its letters, beside real UTF-8 too")
    func windowsBytes() throws {
        for (bytes, title) in [
            ([0x93, 0x47, 0x72, 0xF6, 0xDF, 0x65, 0x94], "“Größe”"), ([0xE9, 0x94, 0x20], "é” "),
            (Array("ß ".utf8) + [0xFC], "ß ü"),
        ] {
            let page = try xml(Array("<feed><title>".utf8) + bytes + Array("</title></feed>".utf8), charset: "utf-8")
            #expect(page.recorder.titles == [title])
            #expect(page.warnings == [.windowsBytes])
        }
        // Characters that are cut are no letters, nor is a byte that windows-1252 does not have.
        for bytes in [Array("ß ".utf8) + [0xE2, 0x82, 0x20], [0xE9, 0x8D]] {
            let page = try xml(Array("<feed><title>".utf8) + bytes + Array("</title></feed>".utf8))
            #expect(page.warnings == [.badEncoding])
        }
    }

    @Test("bytes that do not fit become U+FFFD with a warning, the same in every poll")
    func badBytes() throws {
        let body = Array("<feed><title>caf".utf8) + [0xE9, 0x20, 0xFF] + Array("</title></feed>".utf8)
        for _ in 0..<2 {
            let page = try xml(body, charset: "utf-8")
            #expect(page.recorder.titles == ["caf\u{FFFD} \u{FFFD}"])
            #expect(page.warnings == [.badEncoding])
        }
        let page = try xml(Array("<feed><title>x".utf8) + [0x81] + Array("y</title></feed>".utf8), charset: "cp1252")
        #expect(page.recorder.titles == ["x\u{FFFD}y"])
        #expect(page.warnings == [.badEncoding])
    }
}
