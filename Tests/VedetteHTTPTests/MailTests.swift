// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteCore

@testable import VedetteHTTP

@Suite("Mail against aiosmtpd")
struct MailTests {
    @Test("a mail arrives byte for byte with its dots and envelope, and the client sends QUIT")
    func arrives() async throws {
        let box = try await MailBox()
        try await withClient { client async throws in
            let reply = try await client.send(.to("b", "c", at: box.port) { $0.hello = "watch.example.org" })
            #expect(reply == MailReply(stage: .content, code: 250, text: "2.0.0 Taken"))
            #expect(reply.isAcceptance)
            while await client.runningMails > 0 { await Task.yield() }
        }
        let taken = try #require(try box.taken().first)
        #expect(taken.raw == Mail.text && taken.defects == [])
        #expect(taken.from == "a@example.org" && taken.to == ["b@example.org", "c@example.org"])
        #expect(taken.hello == "watch.example.org" && !taken.tls)
        #expect(box.log == "quit\n")
    }

    @Test("STARTTLS and TLS from the first byte work, with a login", arguments: ["required", "first"])
    func secure(_ tls: String) async throws {
        let box = try await MailBox("--tls", tls, "--login", "ann:pass word")
        let authority = try await Certificates.all.value.authority
        try await withClient { client async throws in
            let mail = try Mail.to("b", at: box.port, scheme: tls == "first" ? "smtps" : "smtp") {
                ($0.upgrade, $0.tls.ca) = (.required, authority)
                $0.login = Mail.Login(user: "ann", password: Secret("pass word"))
            }
            #expect(try await client.send(mail).isAcceptance)
        }
        let taken = try #require(try box.taken().first)
        #expect(taken.tls && taken.user == "ann" && taken.raw == Mail.text)
    }

    @Test("a mail that one authority allows says nothing of the next one, which has another")
    func authorities() async throws {
        let box = try await MailBox("--tls", "first")
        let certificates = try await Certificates.all.value
        try await withClient { client async throws in
            func send(_ authority: String?) async throws -> Bool {
                let mail = try Mail.to("b", at: box.port, scheme: "smtps") {
                    ($0.upgrade, $0.tls.ca) = (.required, authority)
                }
                do throws(FetchError) {
                    return try await client.send(mail).isAcceptance
                } catch {
                    #expect(error.failure == .tlsUntrusted)
                    return false
                }
            }
            for _ in 0..<2 {
                #expect(try await send(certificates.authority))
                #expect(try await !send(certificates.selfSigned.certificate))
                #expect(try await !send(nil))
            }
        }
        #expect(try box.taken().count == 2)
    }

    @Test("a large mail arrives complete, over TLS too", arguments: ["never", "start"])
    func large(_ tls: String) async throws {
        let box = try await MailBox("--tls", tls)
        let authority = try await Certificates.all.value.authority
        let text = Mail.text + String(repeating: "..a line of a large mail, again and again\r\n", count: 20_000)
        try await withClient { client async throws in
            let mail = try Mail.to("b", at: box.port) { ($0.content, $0.tls.ca) = (Array(text.utf8), authority) }
            #expect(try await client.send(mail).isAcceptance)
        }
        let taken = try #require(try box.taken().first)
        #expect(taken.raw == text && taken.tls == (tls == "start"))
    }

    @Test(
        "a refusal has its stage and text, and no recipient gets the mail",
        arguments: [
            (["b", "grey"], MailReply(stage: .recipient(1), code: 451, text: "4.7.1 Greylisted, come again")),
            (["unknown", "b"], MailReply(stage: .recipient(0), code: 550, text: "5.1.1 No such user")),
            (["b", "full"], MailReply(stage: .recipient(1), code: 452, text: "4.2.2 Mailbox full")),
            (["spam"], MailReply(stage: .content, code: 554, text: "5.7.1 <b>\u{1b}[31mSpam</b> not taken")),
        ])
    func refused(_ recipients: [String], _ reply: MailReply) async throws {
        let box = try await MailBox()
        try await withClient { client async throws in
            var mail = try Mail.to(at: box.port)
            mail.recipients = recipients.map { $0 + "@example.org" }
            #expect(try await client.send(mail) == reply)
            while await client.runningMails > 0 { await Task.yield() }
        }
        #expect(try box.taken().isEmpty)
        #expect(box.log == "quit\n")
    }

    @Test("a retry after greylisting is accepted")
    func greylisting() async throws {
        let box = try await MailBox()
        try await withClient { client async throws in
            let mail = try Mail.to("grey", at: box.port)
            #expect(try await client.send(mail).code == 451)
            #expect(try await client.send(mail).isAcceptance)
        }
        #expect(try box.taken().count == 1)
    }

    @Test("a refused sender is reported as such")
    func sender() async throws {
        let box = try await MailBox()
        try await withClient { client async throws in
            let mail = try Mail.to("b", at: box.port) { $0.sender = "stranger@example.org" }
            #expect(try await client.send(mail) == MailReply(stage: .sender, code: 550, text: "5.7.1 Not your address"))
        }
    }

    @Test("a wrong password and a temporary failure of the login differ in their code")
    func logins() async throws {
        let wrong = try await MailBox("--login", "ann:right", "--clear-login")
        let later = try await MailBox("--login", "later:", "--clear-login")
        try await withClient { client async throws in
            for (box, code) in [(wrong, 535), (later, 454)] {
                let mail = try Mail.to("b", at: box.port) {
                    $0.login = Mail.Login(user: "ann", password: Secret("wrong"))
                }
                let reply = try await client.send(mail)
                #expect(reply.stage == .login && reply.code == code)
            }
        }
    }

    @Test("a server that requires a login refuses a mail without one")
    func noLogin() async throws {
        let box = try await MailBox("--login", "ann:right", "--clear-login")
        try await withClient { client async throws in
            let reply = try await client.send(.to("b", at: box.port))
            #expect(reply.stage == .sender && reply.code == 530)
        }
    }

    @Test("a login that the server does not offer is an error")
    func noneOffered() async throws {
        // This server offers no login without TLS.
        let box = try await MailBox("--login", "ann:right")
        try await withClient { client async throws in
            let mail = try Mail.to("b", at: box.port) { $0.login = Mail.Login(user: "ann", password: Secret("right")) }
            #expect(await client.failed(mail)?.failure == .unauthorized)
        }
        #expect(try box.taken().isEmpty)
    }
}
