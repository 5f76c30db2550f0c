// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import VedetteCore

@testable import VedetteSinks

@Suite("Mails as their readers see them")
struct MailMessageTests {
    static let plain = """
        prod-1: Ready for use

        Starting → Ready for use

        state: Starting → Ready for use
        owner: /resources/users/6

        https://wca.example.com/59?a=1&b=2

        lab-systems · ready #prod
        Seen Sat, 21 Nov 2026 10:00:00 UTC
        """

    static func message(_ change: (inout Message) -> Void = { _ in }) -> Message {
        var message = Message.of(
            .changed(url: "https://wca.example.com/59?a=1&b=2"), id: "msg_0199-ab")
        message.tags = ["prod"]
        change(&message)
        return message
    }

    @Test("a line of a digest is a link to its item, in both parts; other lines are not")
    func digestLinks() throws {
        var event = Event.changed()
        (event.kind, event.item, event.changes) = (.digest, nil, [])
        event.summary = Event.Summary(count: 3, lines: ["one & only", "two", "three"])
        event.summary?.links = ["https://a.example.org/?x=1&y=2", "", "javascript:alert(1)"]
        let text = String(
            decoding: try MailSample.bytes(.of(event, text: MessageText.of(event))), as: UTF8.self)
        let plain = text.replacing("=\r\n", with: "").replacing("=3D", with: "=")
        #expect(plain.contains("\r\none & only\r\n  https://a.example.org/?x=1&y=2\r\ntwo\r\nthree\r\n"))
        #expect(
            plain.contains(
                "<a href=\"https://a.example.org/?x=1&amp;y=2\">one &amp; only</a><br>\r\ntwo<br>\r\nthree"))
        #expect(!plain.contains("javascript"))
    }

    @Test("a message has its header, a part in plain text and the same in HTML")
    func whole() throws {
        let mail = try #require(try ReadMail.of([MailSample.bytes(Self.message())]).first)
        #expect(mail.defects == [] && mail.type == "multipart/alternative")
        #expect(
            mail.names == [
                "From", "To", "Subject", "Date", "Message-ID", "In-Reply-To", "References", "Auto-Submitted",
                "Keywords",
                "X-Vedette-Source", "X-Vedette-Rule", "MIME-Version", "Content-Type",
            ])
        #expect(mail.headers["Subject"] == "prod-1: Ready for use")
        #expect(mail.headers["Message-ID"] == "<msg_0199-ab@example.org>")
        #expect(mail.headers["Auto-Submitted"] == "auto-generated" && mail.headers["Keywords"] == "prod")
        #expect(mail.headers["X-Vedette-Source"] == "lab-systems" && mail.headers["X-Vedette-Rule"] == "ready")
        #expect(
            mail.addresses == [
                ["Vedette", "watch@example.org"], ["", "ann@example.org"], ["Jürgen Groß", "jg@example.net"],
            ])
        #expect(mail.headers["(time)"] == "1795255205" && mail.headers["Date"] == "Sat, 21 Nov 2026 10:00:05 +0000")
        #expect(mail.parts.map(\.type) == ["text/plain", "text/html"])
        #expect(mail.parts[0].text == Self.plain)
        let html = mail.parts[1].text
        #expect(html.contains("<a href=\"https://wca.example.com/59?a=1&amp;b=2\">prod-1: Ready for use</a>"))
        #expect(html.contains("<th align=\"left\">state</th><td dir=\"auto\">Starting → Ready for use</td>"))
        #expect(!html.contains("src=") && !html.contains("@import") && !html.contains("<script"))
    }

    @Test("all mails of an item are one thread, other items' and the source's own are others")
    func threads() throws {
        func mail(_ event: Event, _ id: String, _ time: String) throws -> [UInt8] {
            try MailSample.bytes(.of(event, id: id), at: time)
        }
        let mails = try ReadMail.of([
            mail(.changed(key: "1"), "msg_1", "2026-11-21T10:00:00Z"),
            mail(.changed(title: "another", key: "1"), "msg_2", "2026-12-21T10:00:00Z"),
            mail(.changed(key: "2"), "msg_3", "2026-11-21T10:00:00Z"),
            mail(.about(.failing), "msg_4", "2026-11-21T10:00:00Z"),
        ])
        let threads = mails.map { $0.headers["References"] ?? "" }
        #expect(threads[0] == threads[1] && Set(threads).count == 3)
        #expect(mails.allSatisfy { $0.headers["References"] == $0.headers["In-Reply-To"] })
        #expect(Set(mails.map { $0.headers["Message-ID"] ?? "" }).count == 4)
        #expect(Set(threads).isDisjoint(with: mails.map { $0.headers["Message-ID"] ?? "" }))
    }

    @Test("a later attempt is the same mail but for its date")
    func again() throws {
        let (first, later) = (
            try MailSample.bytes(Self.message()), try MailSample.bytes(Self.message(), at: "2026-11-22T03:04:05Z")
        )
        func lines(_ bytes: [UInt8]) -> [String] {
            String(decoding: bytes, as: UTF8.self).components(separatedBy: "\r\n")
        }
        #expect(
            zip(lines(first), lines(later)).filter { $0 != $1 }.map(\.1) == ["Date: Sun, 22 Nov 2026 03:04:05 +0000"])
        #expect(first == (try MailSample.bytes(Self.message())))
    }

    @Test("priorities are told in the header", arguments: Priority.allCases)
    func priorities(_ priority: Priority) throws {
        let mail = try #require(try ReadMail.of([MailSample.bytes(Self.message { $0.priority = priority })]).first)
        #expect(mail.headers["Importance"] == (priority == .normal ? nil : priority.rawValue))
        #expect(mail.headers["X-Priority"] == [.low: "5", .high: "1"][priority])
    }

    /// The text as title, text, field, label, source and rule at once.
    static func hostile(_ text: String) -> Message {
        var message = ChatHostileTests.message(text)
        message.rule = text
        message.event.source = text
        return message
    }

    @Test("no text of a source breaks a mail, adds to its header or is obeyed in it")
    func hostileTexts() throws {
        let texts =
            ChatHostileTests.texts + [
                "=?utf-8?Q?evil?=", "a  b", " a ", "From me", ".", "=_boundary--", "é", "\u{FFFF}",
            ]
        let mails = try texts.map { try MailSample.bytes(Self.hostile($0)) }
        for (bytes, text) in zip(mails, texts) { Self.checkLines(bytes, text) }
        for (mail, text) in zip(try ReadMail.of(mails), texts) {
            #expect(mail.defects == [], "\(text.prefix(40))")
            #expect(Set(mail.names).count == mail.names.count && !mail.names.contains("X-Injected"))
            #expect(Set(mail.names).subtracting(["Keywords"]).count == 12)
            #expect(mail.parts.map(\.type) == ["text/plain", "text/html"])
            let content = ChatContent(Self.hostile(text))
            #expect(mail.headers["Subject"] == ChatText(.bytes).line(content.title, 240), "\(text.prefix(40))")
            #expect(mail.parts[0].text.hasPrefix(ChatText(.bytes).line(content.title, 1000)))
            for part in mail.parts { #expect(!part.text.unicodeScalars.contains(where: Self.isMoving)) }
            #expect(Self.tags(mail.parts[1].text).isSubset(of: Self.known))
        }
    }

    /// Lines end with CR LF, hold ASCII only, and are short enough for every server (RFC 5321 §4.5.3.1.6).
    private static func checkLines(_ bytes: [UInt8], _ text: String) {
        #expect(bytes.allSatisfy { (32..<127).contains($0) || $0 == 13 || $0 == 10 }, "\(text.prefix(40))")
        let lines = String(decoding: bytes, as: UTF8.self).components(separatedBy: "\r\n")
        #expect(!lines.contains { $0.utf8.contains(13) || $0.utf8.contains(10) })
        #expect(lines.map(\.utf8.count).max() ?? 0 <= 78 && bytes.count < 200_000)
        // A header line of nothing but spaces is no line (RFC 5322 §3.2.2).
        #expect(!lines.prefix { !$0.isEmpty }.contains { $0.allSatisfy(\.isWhitespace) })
    }

    private static func isMoving(_ scalar: Unicode.Scalar) -> Bool {
        (scalar.value < 32 && scalar != "\n") || (127..<160).contains(scalar.value)
            || (0x202A...0x202E).contains(scalar.value) || (0x2066...0x2069).contains(scalar.value)
    }

    private static let known: Set = [
        "!DOCTYPE", "html", "head", "meta", "title", "body", "h3", "a", "p", "br", "table", "tr", "th", "td", "span",
    ]

    /// The names of its elements.
    private static func tags(_ html: String) -> Set<String> {
        Set(
            html.components(separatedBy: "<").dropFirst().map { part in
                String(part.drop { $0 == "/" }.prefix { $0.isLetter || $0.isNumber || $0 == "!" })
            })
    }
}
