// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@Suite("mail, at a real server", .timeLimit(.minutes(10)))
struct MailTests {
    @Test("a test message arrives over STARTTLS with a login, is greylisted first, and no secret is told")
    func sends() async throws {
        let home = try Home()
        let papers = try await Papers(in: home.directory)
        let server = try await MailServer(
            home.directory, "--certificate", papers.path("server.pem"), "--key", papers.path("server.key"),
            "--tls", "required", "--login", "watch:s3cret-mail")
        func configure(_ more: String) throws {
            try home.write(
                """
                sinks:
                  post:
                    kind: mail
                    url: smtp://127.0.0.1:\(server.port)
                    user: watch
                    password: {env: PASSWORD}
                    from: Vedette <watch@example.org>
                    to: [Ann <grey@example.org>, Jürgen <jg@example.org>]
                \(more)
                """)
        }
        func send(_ password: String) async throws -> Program.Result {
            try await home.vedette("send", "post", "--text", "Grüße", environment: ["PASSWORD": password])
        }
        try configure("")
        let untrusted = try await send("s3cret-mail")
        #expect(untrusted.code == 69 && untrusted.err.contains("tls-untrusted"), "\(untrusted.err)")
        try configure("    tls: {ca: \(papers.path("ca.pem"))}")
        let wrong = try await send("s3cret-wrong")
        #expect(wrong.code == 69 && wrong.err.contains("535"), "\(wrong.err)")
        let grey = try await send("s3cret-mail")
        #expect(grey.code == 69 && grey.err.contains("451 to grey@example.org (4.7.1 Greylisted"), "\(grey.err)")
        let sent = try await send("s3cret-mail")
        #expect(sent.code == 0, "\(sent.err)")
        for result in [untrusted, wrong, grey, sent] { #expect(!(result.out + result.err).contains("s3cret")) }
        let taken = try #require(server.mail(1))
        #expect(taken["tls"] as? Bool == true && taken["user"] as? String == "watch")
        #expect(taken["defects"] as? [String] == [])
        #expect(taken["to"] as? [String] == ["grey@example.org", "jg@example.org"])
        let parts = taken["parts"] as? [[String: String]] ?? []
        #expect(parts.map { $0["type"] } == ["text/plain", "text/html"])
        #expect(parts.allSatisfy { $0["text"]?.contains("Grüße") == true })
        await server.end()
    }
}
