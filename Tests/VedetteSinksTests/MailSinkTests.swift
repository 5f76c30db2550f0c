// SPDX-License-Identifier: Apache-2.0

import Synchronization
import Testing
import VedetteCore

@testable import VedetteSinks

@Suite("The mail sink")
struct MailSinkTests {
    @Test("the options arrive in the mail")
    func used() async throws {
        let carrier = ScriptedCarrier(250)
        let sink = try MailSample.sink(
            carrier,
            [
                "url": .text("smtps://Mail.example.org:4650"), "user": .text("ann"), "password": .secret(Secret("pw")),
                "cc": .list([.text("bob@example.org"), .text("ann@example.org")]), "hello": .text("watch.example.org"),
                "tls": .tls(TLSPolicy(ca: "/etc/ca.pem")), "timeout": .duration(.seconds(7)),
            ])
        #expect(await sink.deliver(.of(id: "msg_7")) == .delivered)
        let mail = try #require(carrier.mails.first)
        #expect(mail.server.origin == "smtps://mail.example.org:4650" && mail.login?.user == "ann")
        #expect(mail.login?.password.value == "pw" && mail.tls.ca == "/etc/ca.pem" && mail.hello == "watch.example.org")
        #expect(mail.sender == "watch@example.org" && mail.timeout == .seconds(7) && mail.group == "post")
        #expect(mail.recipients == ["ann@example.org", "jg@example.net", "bob@example.org"])
        let text = String(decoding: mail.content, as: UTF8.self)
        #expect(text.contains("\r\nMessage-ID: <msg_7@example.org>\r\n"))
        #expect(text.contains("\r\nCc: bob@example.org, ann@example.org\r\n"))
    }

    @Test("STARTTLS is required, except on this machine")
    func upgrades() throws {
        #expect(try MailSample.settings().upgrade == .required)
        #expect(try MailSample.settings(["url": .text("smtp://127.0.0.1:25")]).upgrade == .never)
        #expect(try MailSample.settings(["starttls": .text("never")]).upgrade == .never)
        let local = try MailSample.settings([
            "url": .text("smtp://localhost"), "user": .text("a"), "password": .secret(Secret("b")),
            "starttls": .text("never"),
        ])
        #expect(local.login?.user == "a")
    }

    static let wrong: [(option: String, more: [String: OptionValue])] = [
        ("url", ["url": .text("mail.example.org")]), ("url", ["url": .text("smtp://ann:s3cret@mail.example.org")]),
        ("url", ["url": .text("https://mail.example.org")]), ("from", ["from": .text("Vedette")]),
        ("to", ["to": .list([])]), ("to", ["to": .list([.text("ann@example.org"), .text("bob")])]),
        ("to", ["to": .list(Array(repeating: .text("a@x"), count: 101))]), ("cc", ["cc": .list([.text("ü@x")])]),
        ("hello", ["hello": .text("a b")]), ("user", ["user": .text("ann")]),
        ("password", ["password": .secret(Secret("s3cret"))]),
        ("user", ["user": .text(""), "password": .secret(Secret("s3cret"))]),
        ("starttls", ["starttls": .text("optional"), "user": .text("a"), "password": .secret(Secret("s3cret"))]),
        ("starttls", ["starttls": .text("never"), "user": .text("a"), "password": .secret(Secret("s3cret"))]),
        ("starttls", ["url": .text("smtps://x"), "starttls": .text("required")]),
        ("timeout", ["timeout": .duration(.zero)]), ("timeout", ["timeout": .duration(.seconds(601))]),
    ]

    @Test("a wrong option is refused with its path and the remedy, without a secret", arguments: wrong)
    func refused(_ row: (option: String, more: [String: OptionValue])) {
        let problem = #expect(throws: OptionProblem.self) { try MailSample.settings(row.more) }
        #expect(problem?.path.first == row.option)
        #expect((problem?.detail.count ?? 0) > 15 && problem?.detail.contains("s3cret") == false)
    }

    private enum Fate { case retried, rejected, paused }

    private static func fate(_ outcome: Outcome) -> Fate? {
        switch outcome {
        case .retry: .retried
        case .rejected: .rejected
        case .paused: .paused
        case .delivered, .disabled: nil
        }
    }

    @Test("every code at every stage: 4xx is retried, 5xx is about the mail, the sender or the login")
    func outcomes() {
        let stages: [MailReply.Stage] = [.greeting, .login, .sender, .recipient(0), .data, .content]
        for (stage, code) in stages.flatMap({ stage in (200..<600).map { (stage, $0) } }) {
            let outcome = MailOutcome.of(MailReply(stage: stage, code: code), to: ["ann@x"], secrets: [])
            guard !(stage == .content && code < 300) else {
                #expect(outcome == .delivered)
                continue
            }
            let logins = [530, 534, 535, 538].contains(code)
            let wanted: Fate =
                switch stage {
                case _ where code < 500: .retried
                case .login: .paused
                case _ where logins: .paused
                case .greeting: .retried
                case .sender: code == 552 ? .rejected : .paused
                case .recipient, .data, .content: .rejected
                }
            #expect(Self.fate(outcome) == wanted, "\(stage) \(code)")
            #expect(outcome.reason?.contains(String(code)) == true)
        }
    }

    @Test("a greylisted mail is retried after a minute, with the reason")
    func greylisted() async throws {
        let sink = try MailSample.sink(ScriptedCarrier(451, "4.7.1 Greylisted, come again", at: .recipient(1)))
        #expect(
            await sink.deliver(.of())
                == .retry(
                    reason: "the server answered 451 to jg@example.net (4.7.1 Greylisted, come again)",
                    after: .seconds(60)))
    }

    @Test("a server's text is escaped and cut, and hidden when it holds the password")
    func words() async throws {
        let more: [String: OptionValue] = ["user": .text("ann"), "password": .secret(Secret("s3cret pass"))]
        func reason(_ text: String, _ stage: MailReply.Stage = .content) async throws -> String {
            try await MailSample.sink(ScriptedCarrier(554, text, at: stage), more).deliver(.of()).reason ?? ""
        }
        #expect(
            try await reason("\u{1B}[31mno\r\n\u{202E}")
                == #"the server answered 554 to the mail (\x1b[31mno\r\n\u202e)"#)
        #expect(try await reason(String(repeating: "x", count: 400)).count < 250)
        for text in ["you said s3cret pass", "you said czNjcmV0IHBhc3M="] {
            #expect(try await reason(text) == "the server answered 554 to the mail")
        }
        #expect(try await reason("hello", .login) == "the server answered 554 to the login: check user and password")
    }

    @Test("without a reply the mail is retried; a server without a login pauses the sink")
    func silence() async throws {
        for failure in [Failure.timeout, .closed, .resolve, .tlsUntrusted, .tlsPin, .configuration, .cancelled] {
            let carrier = ScriptedCarrier { _ in .failure(FetchError(failure, "it is so")) }
            #expect(try await MailSample.sink(carrier).deliver(.of()).isRetry)
        }
        let carrier = ScriptedCarrier { _ in .failure(FetchError(.unauthorized, "it offers none")) }
        #expect(try await MailSample.sink(carrier).deliver(.of()) == .paused(reason: "it offers none"))
    }

    @Test("a changed password is tried at once")
    func renewal() async throws {
        let secret = Secret("old", resolve: { "new" })
        let carrier = ScriptedCarrier { mail in
            .success(
                MailReply(
                    stage: mail.login?.password.value == "new" ? .content : .login,
                    code: mail.login?.password.value == "new" ? 250 : 535))
        }
        let sink = try MailSample.sink(carrier, ["user": .text("ann"), "password": .secret(secret)])
        #expect(await sink.deliver(.of()).isRetry)
        #expect(await sink.deliver(.of()) == .delivered)
    }

    @Test("a repeated attempt sends the same mail")
    func repeated() async throws {
        let carrier = ScriptedCarrier(421, at: .greeting)
        let sink = try MailSample.sink(carrier)
        _ = await sink.deliver(.of())
        _ = await sink.deliver(.of())
        #expect(carrier.mails.count == 2 && carrier.mails[0].content == carrier.mails[1].content)
    }
}
