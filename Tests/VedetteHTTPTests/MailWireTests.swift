// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteCore
import VedetteTestSupport

@testable import VedetteHTTP

@Suite("Mail servers that misbehave")
struct MailWireTests {
    @Test("a server without STARTTLS gets nothing where it is required")
    func stripped() async throws {
        let box = try await MailBox()
        try await withClient { client async throws in
            let error = await client.failed(try .to("b", at: box.port) { $0.upgrade = .required })
            #expect(error?.failure == .tlsHandshake && error?.detail.contains("offers no STARTTLS") == true)
        }
        #expect(try box.taken().isEmpty && box.log == "")
    }

    @Test(
        "a server with an untrusted certificate gets nothing, over STARTTLS and TLS from the first byte",
        arguments: ["start", "first"])
    func untrusted(_ tls: String) async throws {
        let box = try await MailBox("--tls", tls)
        try await withClient { client async throws in
            let scheme = tls == "first" ? "smtps" : "smtp"
            #expect(await client.failed(try .to("b", at: box.port, scheme: scheme))?.failure == .tlsUntrusted)
            let pinned = try Mail.to("b", at: box.port, scheme: scheme) {
                $0.tls.pin = "sha256//AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="
            }
            #expect(await client.failed(pinned)?.failure == .tlsPin)
        }
        #expect(try box.taken().isEmpty && box.log == "")
    }

    @Test(
        "an alert in the handshake of a mail server is named as what it is, and one without TLS is told so",
        arguments: [(70, "no TLS version"), (112, "unrecognized_name"), (80, "internal_error"), (49, "access_denied")])
    func alerts(_ code: UInt8, _ words: String) async throws {
        // A fatal alert of TLS 1.2 (RFC 8446 §6).
        let server = try WireServer(.last([0x15, 3, 3, 0, 2, 2, code]))
        let plain = try WireServer(greeting: "220 mail.example ESMTP\r\n") { _ in .silence }
        defer { WireServer.close(server, plain) }
        try await withClient { client async throws in
            let failed = await client.failed(try .to("b", at: server.port, scheme: "smtps"))
            #expect(
                failed?.failure == .tlsHandshake && failed?.detail.contains(words) == true, "\(failed?.detail ?? "")")
            let toPlain = await client.failed(try .to("b", at: plain.port, scheme: "smtps"))
            #expect(toPlain?.failure == .tlsHandshake && toPlain?.detail.contains("write smtp://") == true)
        }
    }

    @Test(
        "a password is never sent to another machine without TLS, and no name is resolved for it",
        arguments: [false, true])
    func clear(isOptional: Bool) async throws {
        try await withClient { client async throws in
            var mail = try Mail.to("b", at: 1)
            mail.server = try #require(MailServer("smtp://mail.invalid"))
            mail.upgrade = isOptional ? .optional : .never
            mail.login = Mail.Login(user: "ann", password: Secret("s3cret"))
            let error = await client.failed(mail)
            #expect(error?.failure == .configuration && error?.detail.contains("s3cret") == false)
            mail.login = nil
            #expect(await client.failed(mail)?.failure == .resolve)
        }
    }

    @Test(
        "an argument that would start another command is refused",
        arguments: ["b@example.org>\r\nRCPT TO:<evil@example.org", "b@exämple.org", "", "b c@example.org"])
    func injected(_ recipient: String) async throws {
        let box = try await MailBox()
        try await withClient { client async throws in
            for place in 0..<3 {
                let mail = try Mail.to("b", at: box.port) {
                    switch place {
                    case 0: $0.recipients.append(recipient)
                    case 1: $0.sender = recipient
                    default: $0.hello = recipient
                    }
                }
                #expect(await client.failed(mail)?.failure == .configuration)
            }
        }
        #expect(try box.taken().isEmpty)
    }

    @Test("a connection that closes at the start of the content is a failure")
    func cut() async throws {
        let box = try await MailBox()
        try await withClient { client async throws in
            #expect(await client.failed(try .to("cut", at: box.port))?.failure == .closed)
        }
    }

    @Test("a missing final reply and a missing greeting end at the time limit")
    func silent() async throws {
        let (box, mute) = (try await MailBox(), try WireServer(.silence))
        defer { mute.close() }
        try await withClient { client async throws in
            let late = await client.failed(
                try .to("silent", at: box.port) { ($0.timeout, $0.replyTimeout) = (.seconds(1), .seconds(2)) })
            #expect(late?.failure == .timeout && late?.timedOut == false)
            let dead = await client.failed(try .to("b", at: mute.port) { $0.timeout = .milliseconds(300) })
            #expect(dead?.failure == .timeout && dead?.timedOut == true)
        }
    }

    @Test("a server that is slow to reply to a mail delays no poll")
    func patient() async throws {
        let (box, web) = (try await MailBox(), try WireServer(.ok()))
        defer { web.close() }
        try await withClient { client async throws in
            let mail = Task { try await client.send(.to("late", at: box.port)) }
            // The server does not reply yet.
            try await box.hasContent()
            for _ in 0..<50 { #expect(try await client.bodyText(.get(web.url())) == "ok") }
            #expect(await client.runningMails == 1)
            // Its reply will wake the loop.
            #expect(await client.watchedMails == 1)
            try box.touch("go")
            #expect(try await mail.value.isAcceptance)
        }
    }

    @Test("mail servers that never greet delay no other mail: each of their mails gives back its slot", .tags(.I7))
    func hanging() async throws {
        let (box, mute) = (try await MailBox(), try WireServer(.silence, at: "0.0.0.0"))
        defer { mute.close() }
        let mails = try (0..<32).map { number in
            var mail = try Mail.to("b", at: mute.port) { $0.timeout = .seconds(120) }
            mail.server = try #require(MailServer("smtp://127.0.1.\(number / 4 + 1):\(mute.port)"))
            mail.group = "mute \(number / 4)"
            return mail
        }
        try await withClient { client async throws in
            let stuck = mails.map { mail in Task { await client.failed(mail) } }
            while await client.runningMails < 32 { await Task.yield() }
            #expect(try await client.send(.to("b", at: box.port)).isAcceptance)
            #expect(await client.runningMails >= 32, "none of the others has ended")
            for task in stuck { task.cancel() }
            for task in stuck { #expect(await task.value?.failure == .cancelled) }
        }
    }

    @Test("a cancelled mail ends at once, before and after the content; shutdown does not wait for QUIT")
    func cancelled() async throws {
        let (box, mute) = (try await MailBox(), try WireServer(.silence))
        defer { mute.close() }
        try await withClient { client async throws in
            for (name, port) in [("b", mute.port), ("silent", box.port)] {
                let task = Task { await client.failed(try .to(name, at: port)) }
                while await client.runningMails == 0 { await Task.yield() }
                if name == "silent" { try await box.hasContent() }
                task.cancel()
                #expect(try await task.value?.failure == .cancelled)
                #expect(await client.runningMails == 0)
            }
            let last = Task { await client.failed(try .to("silent", at: box.port)) }
            try await box.hasContent()
            await client.shutdown()
            #expect(try await last.value?.failure == .cancelled)
            #expect(await client.failed(try .to("b", at: box.port))?.failure == .cancelled)
        }
    }

    @Test(
        "a refusal as greeting, another protocol, and a greeting without end",
        arguments: [
            ("554 No mail here\r\n", nil), ("421-Too many\r\n421 of you\r\n", nil),
            ("HTTP/1.1 200 OK\r\n\r\n", Failure.protocol),
            (String(repeating: "220-more and more\r\n", count: 5000), .tooLarge), ("\u{15}\u{3}\u{1}\n", .protocol),
        ])
    func greetings(_ greeting: String, _ failure: Failure?) async throws {
        let server = try WireServer(greeting: greeting) { _ in .silence }
        defer { server.close() }
        try await withClient { client async throws in
            let mail = try Mail.to("b", at: server.port)
            guard let failure else {
                let reply = try await client.send(mail)
                #expect(reply.stage == .greeting && String(reply.code) == greeting.prefix(3))
                return
            }
            #expect(await client.failed(mail)?.failure == failure)
        }
    }

    @Test("a closed port refuses a mail")
    func refused() async throws {
        try await withClient { client async throws in
            #expect(await client.failed(try .to("b", at: 1))?.failure == .refused)
        }
    }

    @Test("many mails are sent four at a time, and all arrive")
    func many() async throws {
        let box = try await MailBox()
        try await withClient { client async throws in
            let codes = try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<40 { group.addTask { try await client.send(.to("b", at: box.port)).code } }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(codes == Array(repeating: 250, count: 40))
        }
        #expect(try box.taken().count == 40)
    }
}
