// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteCore
import VedetteHTTP
import VedetteTestSupport

@Suite("Redirects and secrets", .timeLimit(.minutes(10)))
struct RedirectTests {
    private func secretRequest(_ url: String) -> Request {
        Request(
            url: url,
            headers: [
                Header("X-Token", Secret("t0ken")), Header("authorization", "Bearer plain"), Header("Cookie", "c=1"),
                Header("Accept", "text/x"),
            ], session: "s")
    }

    @Test("nothing that could be a credential reaches another origin, also on another port", .tags(.I9))
    func stripped() async throws {
        let second = try WireServer { _ in .ok("there") }
        let first = try WireServer { _ in
            .text(
                "HTTP/1.1 302 Found\r\nSet-Cookie: id=s3ssion; Path=/\r\nLocation: \(second.origin)/x\r\n"
                    + "Content-Length: 0\r\n\r\n")
        }
        defer { for server in [first, second] { server.close() } }
        try await withClient { client in
            var request = secretRequest(first.origin + "/")
            #expect(try await client.bodyText(request) == "there")
            request.headers = []
            request.credentials = Credentials(user: "u", password: Secret("pa55"))
            let response = try await client.fetch(request)
            #expect(response.url == second.origin + "/x" && response.movedTo == nil)
            let sent = first.texts.joined()
            for secret in ["t0ken", "Bearer plain", "c=1", "Basic dTpwYTU1", "id=s3ssion"] {
                #expect(sent.contains(secret), "the first server did not get \(secret)")
            }
            let leaked = second.texts.joined().lowercased()
            #expect(leaked.contains("accept: text/x"))
            for word in ["t0ken", "authorization", "cookie", "dtpwytu1", "s3ssion"] {
                #expect(!leaked.contains(word), "the second server got \(word)")
            }
        }
    }

    @Test("credentials are sent after a redirect within the origin")
    func kept() async throws {
        let server = try WireServer { request in
            request.text.hasPrefix("GET /a ") ? .redirect(301, to: "b?q=1#f") : .ok("b")
        }
        defer { server.close() }
        try await withClient { client in
            let request = Request(
                url: server.origin + "/a", credentials: Credentials(user: "u", password: Secret("p")),
                validators: Validators(etag: "\"1\""))
            let response = try await client.fetch(request)
            #expect(response.text == "b" && response.movedTo?.hasPrefix(server.origin + "/b?q=1") == true)
            #expect(server.texts[1].hasPrefix("GET /b?q=1 HTTP/1.1\r\n"))
            #expect(server.texts[1].contains("Authorization: Basic dTpw\r\n"))
            #expect(server.texts[1].contains("If-None-Match: \"1\"\r\n"))
        }
    }

    @Test("validators are not sent after a temporary redirect: the 304 of a login page is not ours")
    func validators() async throws {
        let server = try WireServer { request in
            request.text.hasPrefix("GET /a ") ? .redirect(302, to: "/login") : .ok("login")
        }
        defer { server.close() }
        try await withClient { client in
            let validators = Validators(etag: "\"1\"", lastModified: "Wed, 21 Oct 2015 07:28:00 GMT")
            _ = try await client.fetch(Request(url: server.origin + "/a", validators: validators))
            #expect(server.texts[0].contains("If-Modified-Since: Wed, 21 Oct 2015 07:28:00 GMT\r\n"))
            #expect(!server.texts[1].contains("If-"))
        }
    }

    @Test(
        "303, and 301 and 302 after a POST, become GET without the body; 307 and 308 keep both",
        arguments: [
            (301, "GET"), (302, "GET"), (303, "GET"), (307, "POST"), (308, "POST"),
        ])
    func methods(status: Int, method: String) async throws {
        let server = try WireServer { request in
            request.text.contains(" /a ") ? .redirect(status, to: "/b") : .ok("done")
        }
        defer { server.close() }
        try await withClient { client in
            let request = Request(
                method: "POST", url: server.origin + "/a", headers: [Header("Content-Type", "text/plain")],
                body: Array("hello".utf8))
            _ = try await client.fetch(request)
            let second = server.texts[1]
            #expect(second.hasPrefix("\(method) /b "))
            #expect(second.hasSuffix("hello") == (method == "POST"))
            #expect(second.contains("text/plain") == (method == "POST"))
        }
    }

    @Test(
        "a loop, too many redirects, another scheme and an invalid URL are redirect errors",
        arguments: [
            "/", "file:///etc/passwd", "ftp://127.0.0.1/", "gopher://127.0.0.1/", "http://user:pass@127.0.0.1/",
            "http://",
        ])
    func refused(location: String) async throws {
        let server = try WireServer { _ in .redirect(302, to: location) }
        defer { server.close() }
        try await withClient { client in
            #expect(await client.failed(Request(url: server.origin + "/"))?.failure == .redirect)
            #expect(server.texts.count == (location == "/" ? 6 : 1))
        }
    }

    @Test("with no redirects allowed, a redirect is the response, whatever its URL")
    func returned() async throws {
        let server = try WireServer { _ in .redirect(308, to: "/b") }
        defer { server.close() }
        try await withClient { client in
            let response = try await client.fetch(Request(url: "HTTP://127.0.0.1:\(server.port)", redirects: 0))
            #expect(response.status == 308 && response.headers["location"] == "/b" && server.texts.count == 1)
        }
    }

    @Test("a redirect from https to http is refused, and the http server gets nothing")
    func downgrade() async throws {
        let lab = try await Lab.sound.value
        let server = try WireServer { _ in .ok("x") }
        defer { server.close() }
        try await withClient { client in
            let request = Request(
                url: "\(lab.faultsTLS)/redirect?to=http%3A%2F%2F127.0.0.1%3A\(server.port)%2F",
                tls: TLSPolicy(pin: lab.pin))
            #expect(await client.failed(request)?.failure == .redirect)
            #expect(server.connections == 0)
        }
    }

    @Test("cookies stay in their session")
    func sessions() async throws {
        let server = try WireServer { request in
            .ok("x", request.text.contains("/login") ? "Set-Cookie: id=one; Path=/; HttpOnly" : "X: y")
        }
        defer { server.close() }
        try await withClient { client in
            _ = try await client.fetch(Request(url: server.origin + "/login", session: "a"))
            for session in ["a", "b", nil] {
                _ = try await client.fetch(Request(url: server.origin + "/", session: session))
            }
            #expect(server.texts.map { $0.contains("Cookie: id=one\r\n") } == [false, true, false, false])
        }
    }

    @Test("line breaks, and a password in a URL, are refused and nothing is sent")
    func injection() async throws {
        let server = try WireServer { _ in .ok("x") }
        defer { server.close() }
        try await withClient { client in
            var requests = ["a\r\nX: y", "a\nb", "a\0b"].map { Request(url: server.origin, headers: [Header("A", $0)]) }
            requests += ["a:b", "a b", "", "a\r\n"].map { Request(url: server.origin, headers: [Header($0, "v")]) }
            requests.append(Request(url: server.origin, validators: Validators(etag: "\"a\r\nX: y\"")))
            requests.append(Request(method: "GET / HTTP/1.1\r\nX:", url: server.origin))
            requests.append(Request(url: "http://u:s3cret@127.0.0.1:\(server.port)/"))
            requests += ["ftp://127.0.0.1/", "file:///etc/passwd", "/path", ""].map { Request(url: $0) }
            for request in requests {
                let error = await client.failed(request)
                #expect(error?.failure == .configuration && error?.detail.contains("s3cret") == false)
            }
            #expect(server.connections == 0)
        }
    }
}
