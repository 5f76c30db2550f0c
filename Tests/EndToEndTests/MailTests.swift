// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@Suite("mail, at a real server", .timeLimit(.minutes(5)))
struct MailTests {
    /// aiosmtpd, which asks for STARTTLS and a login.
    private func server(_ papers: Papers, _ folder: URL) async throws -> (child: Child, port: Int) {
        let script = Program.root.appending(path: "Tests/VedetteHTTPTests/Servers/mail.py").path
        var trouble = ""
        for python in ["python3", "/usr/bin/python3"] {
            let child = try Child(
                "/usr/bin/env",
                [
                    python, script, "--folder", folder.path, "--certificate", papers.path("server.pem"), "--key",
                    papers.path("server.key"), "--tls", "required", "--login", "watch:s3cret-mail",
                ])
            if let line = try? await child.wait(until: { !$0.isEmpty })[0],
                let port = Program.object(line)?["port"] as? Int
            {
                return (child, port)
            }
            trouble = child.text(of: .err)
            await child.destroy()
        }
        throw Trouble("no mail server: \(trouble)")
    }

    @Test("a test message arrives over STARTTLS with a login, is greylisted first, and no secret is told")
    func sends() async throws {
        let home = try Home()
        let papers = try await Papers(in: home.directory)
        let (server, port) = try await server(papers, home.directory)
        func configure(_ more: String) throws {
            try home.write(
                """
                sinks:
                  post:
                    kind: mail
                    url: smtp://127.0.0.1:\(port)
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
        let text = try String(contentsOf: home.directory.appending(path: "1.json"), encoding: .utf8)
        let taken = try #require(Program.object(text))
        #expect(taken["tls"] as? Bool == true && taken["user"] as? String == "watch")
        #expect(taken["defects"] as? [String] == [])
        #expect(taken["to"] as? [String] == ["grey@example.org", "jg@example.org"])
        let parts = taken["parts"] as? [[String: String]] ?? []
        #expect(parts.map { $0["type"] } == ["text/plain", "text/html"])
        #expect(parts.allSatisfy { $0["text"]?.contains("Grüße") == true })
        await server.destroy()
    }
}
