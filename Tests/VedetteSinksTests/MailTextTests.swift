// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import VedetteCore

@testable import VedetteSinks

@Suite("Encoded texts in mails")
struct MailTextTests {
    @Test(
        "plain words are kept, others are encoded",
        arguments: [
            ("prod-1 is ready", "prod-1 is ready"), ("é", "=?utf-8?B?w6k=?="), ("a  b", "=?utf-8?B?YSAgYg==?="),
            ("=?x", "=?utf-8?B?PT94?="), ("", "=?utf-8?B??="),
        ])
    func words(_ text: String, _ words: String) { #expect(MailText.words(text).joined(separator: " ") == words) }

    @Test(
        "names are quoted where a character in them has a meaning",
        arguments: [
            ("Ann Example", "Ann Example"), ("Example, Ann", "\"Example, Ann\""), ("Dr. \"X\\", "\"Dr. \\\"X\\\\\""),
            ("Jürgen", "=?utf-8?B?SsO8cmdlbg==?="),
        ])
    func phrases(_ name: String, _ words: String) { #expect(MailText.phrase(name).joined(separator: " ") == words) }

    @Test("a long text is folded, and an encoded word never splits a character")
    func folding() throws {
        let long = String(repeating: "äöü€👨‍👩‍👧‍👦 ", count: 30)
        let words = MailText.words(long)
        #expect(words.allSatisfy { $0.utf8.count <= 56 })
        for word in words {
            let code = try #require(Data(base64Encoded: String(word.dropFirst(10).dropLast(2))))
            #expect(String(data: code, encoding: .utf8) != nil)
        }
        let field = MailText.field("Subject", MailText.words(String(repeating: "word ", count: 40) + "end"))
        let lines = field.components(separatedBy: "\r\n")
        #expect(lines.count > 2 && lines.dropLast().allSatisfy { $0.utf8.count <= 76 })
        #expect(field.replacing("\r\n", with: "") == "Subject: " + String(repeating: "word ", count: 40) + "end")
    }

    @Test(
        "quoted-printable",
        arguments: [
            ("a=b", "a=3Db\r\n"), ("é", "=C3=A9\r\n"), ("end ", "end=20\r\n"), ("a\tb\t", "a\tb=09\r\n"), ("", "\r\n"),
            ("a\nb", "a\r\nb\r\n"), ("a\r\n\nb", "a\r\n\r\nb\r\n"), ("From x", "=46rom x\r\n"),
            ("xFrom x", "xFrom x\r\n"),
            (String(repeating: "x", count: 76), String(repeating: "x", count: 76) + "\r\n"),
            (String(repeating: "x", count: 77), String(repeating: "x", count: 75) + "=\r\nxx\r\n"),
        ])
    func quoted(_ text: String, _ quoted: String) { #expect(MailText.quotedPrintable(text) == quoted) }

    @Test("Python decodes the quoted-printable text")
    func readBack() throws {
        var random = SystemRandomNumberGenerator()
        let scalars: [String] = ["a", " ", "=", "é", "\t", ".", "€", "\n", "F", "👩", "From ", "-", "_"]
        let texts = (0..<300).map { _ in
            (0..<Int.random(in: 0..<200, using: &random)).map { _ in scalars.randomElement(using: &random) ?? "" }
                .joined()
        }
        let lines = texts.map { Data(MailText.quotedPrintable($0).utf8).base64EncodedString() }.joined(separator: "\n")
        let script = """
            import base64, quopri, sys
            for line in sys.stdin.read().split():
                text = base64.b64decode(line)
                assert all(len(part) <= 76 for part in text.split(b"\\r\\n")), text
                print(base64.b64encode(quopri.decodestring(text).replace(b"\\r\\n", b"\\n")).decode())
            """
        let (output, status) = try Python.run(script, input: Array(lines.utf8))
        #expect(status == 0, "\(output)")
        let back = output.split(separator: "\n").map {
            String(decoding: Data(base64Encoded: String($0)) ?? Data(), as: UTF8.self)
        }
        #expect(back == texts.map { $0 + "\n" })
    }

    @Test(
        "dates",
        arguments: [
            ("1970-01-01T00:00:00Z", "Thu, 1 Jan 1970 00:00:00 +0000"),
            ("2000-02-29T23:59:59Z", "Tue, 29 Feb 2000 23:59:59 +0000"),
            ("2026-11-21T02:00:09.9Z", "Sat, 21 Nov 2026 02:00:09 +0000"),
        ])
    func dates(_ time: String, _ text: String) throws {
        #expect(MailText.date(try #require(Timestamp(rfc3339: time))) == text)
    }

    @Test(
        "addresses",
        arguments: [
            ("ann@example.org", "", "ann@example.org"),
            ("Ann Example <ann@example.org>", "Ann Example", "ann@example.org"),
            ("\"Ex, \\\"A\\\"\" <a.b+c@x>", "Ex, \"A\"", "a.b+c@x"), ("  <ann@x.org> ", "", "ann@x.org"),
            ("Jürgen <jg@xn--bcher-kva.example>", "Jürgen", "jg@xn--bcher-kva.example"),
        ])
    func addresses(_ text: String, _ name: String, _ address: String) throws {
        let parsed = try MailAddress(text, "to")
        #expect(parsed.name == name && parsed.address == address)
    }

    @Test(
        "an invalid address is refused",
        arguments: [
            "", "ann", "@x", "a@", "a b@x", "a@b@c", "a@x>", "<a@x", "a@x\r\nBcc: e@x", "a@bücher.example", "ü@x",
            "a..b@x",
            "a@x..y", "\"a b\"@x", "a@[127.0.0.1", "a,b@x", String(repeating: "a", count: 65) + "@x", "Ann a@x",
            "x <a@x> y",
        ])
    func noAddresses(_ text: String) {
        let problem = #expect(throws: OptionProblem.self) { try MailAddress(text, "to", "1") }
        #expect(problem?.path == ["to", "1"] && (problem?.detail.count ?? 0) > 15)
    }
}
