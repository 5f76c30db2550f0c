// SPDX-License-Identifier: Apache-2.0
import Testing
import VedetteDocument

@Suite("Character encodings")
struct EncodingTests {
    private func title(_ bytes: [UInt8], declared: String? = nil, charset: String? = nil) throws -> XMLOutcome {
        let declaration = declared.map { "<?xml version=\"1.0\" encoding=\"\($0)\"?>" } ?? ""
        return try xml(
            Array("\(declaration)<feed><title>".utf8) + bytes + Array("</title></feed>".utf8), charset: charset)
    }

    @Test(
        "the usual names of encodings are known",
        arguments: [
            ("ISO-8859-1", "é", [0xE9]), ("iso_8859-1", "é", [0xE9]), ("Latin1", "é", [0xE9]),
            ("windows-1252", "€", [0x80]),
            ("CP1252", "€", [0x80]), ("iso-8859-15", "€", [0xA4]), ("latin-9", "€", [0xA4]), ("ISO8859_2", "ą", [0xB1]),
            ("windows-1251", "ж", [0xE6]), ("cp-1251", "ж", [0xE6]), ("win-1251", "ж", [0xE6]), ("koi8-r", "ж", [0xD6]),
            ("KOI8-U", "є", [0xA4]), ("IBM866", "ж", [0xA6]), ("x-sjis", "ソ", [0x83, 0x5C]),
            ("Windows-31J", "①", [0x87, 0x40]), ("Shift_JIS", "~\\", [0x7E, 0x5C]), ("x-euc-jp", "日", [0xC6, 0xFC]),
            ("gbk", "中", [0xD6, 0xD0]), ("GB_2312-80", "中", [0xD6, 0xD0]), ("big5-hkscs", "中", [0xA4, 0xA4]),
            ("ks_c_5601-1987", "가", [0xB0, 0xA1]), ("tis-620", "ก", [0xA1]), ("macintosh", "é", [0x8E]),
            ("iso-8859-9", "ğ", [0xF0]), ("iso-8859-8-i", "ש", [0xF9]),
            ("iso-2022-jp", "日", [0x1B, 0x24, 0x42, 0x46, 0x7C, 0x1B, 0x28, 0x42]),
        ] as [(String, String, [UInt8])])
    func names(name: String, text: String, bytes: [UInt8]) throws {
        for page in [try title(bytes, declared: name), try title(bytes, charset: name)] {
            #expect(page.recorder.titles == [text])
            #expect(page.warnings.isEmpty)
        }
    }

    @Test("UTF-32 is recognised by its byte order mark or by the zeros beside the first character")
    func utf32() throws {
        let text = "<feed><title>é🔥</title></feed>"
        for big in [true, false] {
            for mark in [true, false] {
                let units = (mark ? [0xFEFF] : []) + text.unicodeScalars.map(\.value)
                let bytes = units.flatMap { unit in
                    let four = [24, 16, 8, 0].map { UInt8(unit >> UInt32($0) & 255) }
                    return big ? four : four.reversed()
                }
                let page = try xml(bytes, charset: "utf-8")
                #expect(page.recorder.titles == ["é🔥"])
                #expect(page.warnings.isEmpty)
                #expect(failure { _ = try xml(Array(bytes.dropLast(8))) } == .truncated)
            }
        }
    }

    @Test(
        "UTF-16 and UTF-32 without a mark are read by the name that a server or a person gives, where the bytes have zeros"
    )
    func wideNames() throws {
        let text = "5 € für Jan"
        let little = text.utf16.flatMap { [UInt8($0 & 255), UInt8($0 >> 8)] }
        let big = text.utf16.flatMap { [UInt8($0 >> 8), UInt8($0 & 255)] }
        for (name, bytes) in [
            ("utf-16le", little), ("UTF-16", little), ("unicode", little), ("utf-16be", big),
            ("utf-32le", text.unicodeScalars.flatMap { [UInt8($0.value & 255), UInt8($0.value >> 8), 0, 0] }),
        ] {
            #expect(try PlainText.decode(bytes, charset: name) == text)
            #expect(try PlainText.decode(bytes, charset: nil, encoding: name) == text)
            #expect(PlainText.isOtherThanUTF8(name, bytes))
            #expect(try PlainText.decode(Array(text.utf8), charset: name, encoding: name) == text)
            #expect(!PlainText.isOtherThanUTF8(name, Array(text.utf8)))
        }
        // Also where the text begins as markup, unless its bytes cannot be UTF-16.
        #expect(try PlainText.decode([0x3C, 0, 0x61, 0], charset: nil, encoding: "utf-16le") == "<a")
        #expect(PlainText.isOtherThanUTF8("utf-16le", [0x3C, 0, 0x61, 0]))
        #expect(!PlainText.isOtherThanUTF8("utf-16le", [0x3C, 0x61, 0, 0x62]))
        #expect(try PlainText.decode([0xFE, 0xFF] + big, charset: "utf-16le", encoding: "utf-16le") == text)
    }

    @Test("a named encoding that the bytes contradict is replaced, with a warning")
    func contradictions() throws {
        let utf8 = Array("žluťoučký".utf8)
        #expect(try title(utf8, declared: "iso-8859-1").recorder.titles == ["žluťoučký"])
        #expect(try title(utf8, declared: "iso-8859-1").warnings == [.charset])
        // The response's charset is a server's habit, the declaration the author's word.
        #expect(try title(utf8, declared: "utf-8", charset: "iso-8859-1").warnings.isEmpty)
        let cyrillic: [UInt8] = [0xC6, 0xF3, 0xEA]
        let page = try title(cyrillic, declared: "windows-1251", charset: "utf-8")
        #expect(page.recorder.titles == ["Жук"])
        #expect(page.warnings == [.charset])
        // Nothing else is named: the letters are lost, the document is not.
        let lost = try title(cyrillic, declared: "utf-8")
        #expect(lost.recorder.titles == ["\u{FFFD}\u{FFFD}\u{FFFD}"])
        #expect(lost.warnings == [.badEncoding])
        // ASCII contradicts nobody, and two bytes a character may be UTF-8 by chance.
        #expect(try title(Array("plain".utf8), declared: "koi8-r").warnings.isEmpty)
        #expect(try title([0xC4, 0xBF], declared: "gbk").recorder.titles == ["目"])
    }

    @Test("text before the declaration hides neither it nor its encoding")
    func before() throws {
        let declaration = "<?xml version='1.0' encoding='iso-8859-1'?>"
        func page(_ junk: String) throws -> XMLOutcome {
            try xml(Array((junk + declaration + "<feed><title>").utf8) + [0xE9] + Array("</title></feed>".utf8))
        }
        for (junk, warning) in [
            ("\r\n\r\n", DocumentWarning.leadingSpace), ("\u{FEFF}\u{FEFF}", .leadingSpace), ("1a2b\r\n", .leadingText),
            ("<!-- built in 3 ms -->\n", .leadingText), ("<br />\n<b>Notice</b>: x in y<br />", .leadingText),
        ] where !junk.hasPrefix("\u{FEFF}") {
            let read = try page(junk)
            #expect(read.recorder.titles == ["é"])
            #expect(read.warnings == [warning])
        }
        let marks = try xml("\u{FEFF}\u{FEFF}<?xml version='1.0'?><feed><title>é</title></feed>")
        #expect(marks.recorder.titles == ["é"])
        #expect(marks.warnings == [.leadingSpace])
        // In a text it is a text.
        let inside = try xml("<feed><title><![CDATA[<?xml version='1.0'?>]]></title></feed>")
        #expect(inside.recorder.titles == ["<?xml version='1.0'?>"])
        #expect(inside.warnings.isEmpty)
        #expect(failure { _ = try xml("{\"a\": \"<?xml version='1.0'?><feed/>\"}") } == .wrongType)
        #expect(failure { _ = try xml(String(repeating: "x", count: 9000) + declaration + "<feed/>") } == .wrongType)
    }
}
