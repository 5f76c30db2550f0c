// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteCore

@testable import VedetteHTTP

@Suite("SMTP dialogue")
struct MailDialogueTests {
    private static func replies(_ chunks: [String]) throws(FetchError) -> [SMTPReply] {
        var (replies, out) = (MailReplies(), [SMTPReply]())
        for chunk in chunks {
            try replies.append(chunk.utf8)
            out += replies.take()
        }
        return out
    }

    @Test("replies are the same in pieces of any size")
    func cuts() throws {
        let text = "250-mail.test\r\n250-SIZE 1000\r\n250 HELP\r\n354 go\r\n221\r\n"
        let whole = try Self.replies([text])
        #expect(whole.map(\.code) == [250, 354, 221])
        #expect(whole[0].text == "mail.test SIZE 1000 HELP" && whole[2].text == "")
        for cut in 1..<text.count {
            #expect(try Self.replies([String(text.prefix(cut)), String(text.dropFirst(cut))]) == whole)
        }
        #expect(try Self.replies([text.replacing("\r\n", with: "\n")]) == whole)
    }

    @Test(
        "a line that is not a reply is refused",
        arguments: ["hello\r\n", "25 ok\r\n", "250_ok\r\n", "150 ok\r\n", "650 ok\r\n", "\r\n"])
    func garbage(_ line: String) {
        #expect(throws: FetchError.self) { try Self.replies([line]) }
    }

    @Test("a reply without an end is refused, and a long text is cut")
    func endless() throws {
        #expect(throws: FetchError.self) { try Self.replies(Array(repeating: "250-more\r\n", count: 7000)) }
        #expect(throws: FetchError.self) { try Self.replies([String(repeating: "2", count: 70_000)]) }
        let long = try Self.replies(["550 " + String(repeating: "word ", count: 1000) + "\r\n"])
        #expect(long[0].text.utf8.count == 400)
    }

    private static func mail(_ recipients: String...) throws -> Mail {
        Mail(
            server: try #require(MailServer("smtp://mail.example.org")), sender: "a@x", recipients: recipients,
            content: Array("H: v\r\n\r\n.x\r\n".utf8))
    }

    private static func talk(_ mail: Mail, _ codes: [Int]) throws -> (
        said: [String], finalReply: MailReply?, isFinished: Bool
    ) {
        var dialogue = MailDialogue(mail)
        var said = [String(decoding: dialogue.opening, as: UTF8.self)]
        for code in codes {
            let next = try dialogue.received(SMTPReply(code: code, text: "t"), isSent: true)
            if !next.isEmpty { said.append(String(decoding: next, as: UTF8.self)) }
        }
        return (said, dialogue.finalReply, dialogue.isFinished)
    }

    @Test("an accepted mail")
    func good() throws {
        let talk = try Self.talk(Self.mail("b@x", "c@x"), [250, 250, 251, 354, 250, 221])
        #expect(
            talk.said == [
                "MAIL FROM:<a@x>\r\n", "RCPT TO:<b@x>\r\n", "RCPT TO:<c@x>\r\n", "DATA\r\n",
                "H: v\r\n\r\n..x\r\n.\r\n", "QUIT\r\n",
            ])
        #expect(talk.finalReply?.isAcceptance == true && talk.isFinished)
    }

    @Test("only a 2xx to the content is acceptance")
    func odd() throws {
        let data = try Self.talk(Self.mail("b@x"), [250, 250, 250])
        #expect(
            data.finalReply == MailReply(stage: .data, code: 250, text: "t") && data.finalReply?.isAcceptance == false)
        for codes in [[354], [250, 354], [250, 250, 554], [250, 250, 354, 354], [421], [250, 250, 354, 451]] {
            let talk = try Self.talk(Self.mail("b@x"), codes)
            #expect(
                talk.finalReply?.code == codes.last && talk.finalReply?.isAcceptance == false
                    && talk.said.last == "QUIT\r\n")
        }
    }

    @Test("a positive reply before its command is refused, a negative one is the final reply")
    func early() throws {
        var dialogue = MailDialogue(try Self.mail("b@x"))
        #expect(throws: FetchError.self) { try dialogue.received(SMTPReply(code: 250, text: ""), isSent: false) }
        _ = try dialogue.received(SMTPReply(code: 421, text: "t"), isSent: false)
        #expect(dialogue.finalReply?.code == 421)
    }

    @Test(
        "dots are doubled and the content is ended",
        arguments: [
            ("", ".\r\n"), ("a", "a\r\n.\r\n"), (".", "..\r\n.\r\n"), ("\r\n.\r\n", "\r\n..\r\n.\r\n"),
            ("a\r\n", "a\r\n.\r\n"),
        ])
    func framing(_ content: String, _ framed: String) {
        #expect(String(decoding: MailDialogue.framed(Array(content.utf8)), as: UTF8.self) == framed)
    }

    @Test(
        "the URL of a mail server is parsed",
        arguments: [
            ("smtp://mail.example.org", "smtp://mail.example.org:587", false),
            ("SMTPS://Mail.Example.org/", "smtps://mail.example.org:465", false),
            ("smtp://127.0.0.1:2525", "smtp://127.0.0.1:2525", true),
            ("smtp://localhost", "smtp://localhost:587", true),
            ("smtp://[::1]:25", "smtp://[::1]:25", true), ("smtp://127.evil.org", "smtp://127.evil.org:587", false),
            ("smtp://[2001:db8::1]", "smtp://[2001:db8::1]:587", false),
        ])
    func servers(_ url: String, _ origin: String, _ isLoopback: Bool) throws {
        let server = try #require(MailServer(url))
        #expect(server.origin == origin && server.isLoopback == isLoopback)
    }

    @Test(
        "an invalid URL of a mail server is refused",
        arguments: [
            "", "mail.example.org", "http://x", "smtp://", "smtp://a:b@x", "smtp://x/path", "smtp://x:0",
            "smtp://x:65536",
            "smtp://x:", "smtp://[::1", "smtp://[x]", "smtp://x y", "smtp://x?y", "smtp://mäil", "smtp://x:+25",
            "smtp://.x",
        ])
    func noServers(_ url: String) { #expect(MailServer(url) == nil) }
}
