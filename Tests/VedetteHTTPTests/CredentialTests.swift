// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import VedetteCore

@testable import VedetteHTTP

@Suite("Credentials on the wire")
struct CredentialTests {
    private static let challenge = [
        #"WWW-Authenticate: Digest realm="r", qop="auth", algorithm=MD5, nonce="n0nce", opaque="o""#
    ]

    /// Accepts a digest login of lamato, without checking the response value.
    private static func digestServer(at host: String = "127.0.0.1") throws -> WireServer {
        try WireServer(at: host) { request in
            request.header("Authorization").first?.contains(#"username="lamato""#) == true
                ? .ok("in") : .reply("401 Unauthorized", "who are you?", challenge)
        }
    }

    private static let digest = Credentials.digest(user: "lamato", password: Secret("p4ss"))

    @Test("digest: the challenge is answered, the password never sent, and the answer is the second one alone")
    func digest() async throws {
        let server = try Self.digestServer()
        defer { server.close() }
        try await withClient { client async throws in
            for _ in 0..<2 {
                let response = try await client.fetch(.get(server.url("/x?y=z")) { $0.credentials = Self.digest })
                #expect(response.status == 200 && response.text == "in" && response.headers["WWW-Authenticate"] == nil)
            }
        }
        let answer = try #require(server.requests.dropFirst().first?.header("Authorization").first)
        // RFC 7616 §3.4.1, with this client's own nonce.
        #expect(answer.hasPrefix("Digest ") && answer.contains(#"uri="/x?y=z""#) && answer.contains(#"nonce="n0nce""#))
        #expect(!server.texts.joined().contains("p4ss") && !server.texts.joined().contains("Basic"))
    }

    @Test("digest: a body is sent with the answer to the challenge")
    func digestBody() async throws {
        let server = try Self.digestServer()
        defer { server.close() }
        let request = Request(method: "POST", url: server.url(), body: Array("hello".utf8), credentials: Self.digest)
        #expect(try await withClient { client in try await client.bodyText(request) } == "in")
        #expect(server.requests.last?.body == "hello")
    }

    @Test("digest: wrong credentials end in a 401 after one answer")
    func digestRefused() async throws {
        let server = try WireServer(.reply("401 Unauthorized", "no", Self.challenge))
        defer { server.close() }
        let request = Request.get(server.url()) { $0.credentials = Self.digest }
        #expect(try await withClient { client in try await client.status(request) } == 401)
        #expect(server.requests.count == 2)
    }

    @Test("digest: a server that finds every answer stale is asked four times, also over a kept connection")
    func digestStale() async throws {
        let server = try WireServer { request in
            request.target == "/ok"
                ? .ok() : .reply("401 Unauthorized", "again", [Self.challenge[0] + ", stale=true"])
        }
        defer { server.close() }
        try await withClient { client async throws in
            _ = try await client.fetch(.get(server.url("/ok")))
            let error = await client.failed(.get(server.url("/stale")) { $0.credentials = Self.digest })
            #expect(error?.failure == .unauthorized, "\(error?.detail ?? "")")
        }
        #expect(server.requests.count { $0.target == "/stale" } == 4)
    }

    @Test("digest: one origin's challenge is answered to no other, whoever asks with the same password")
    func digestOrigins() async throws {
        let (first, second) = (try Self.digestServer(), try Self.digestServer(at: "127.0.0.2"))
        defer { WireServer.close(first, second) }
        try await withClient { client async throws in
            for server in [first, second, first] {
                let request = Request.get(server.url()) { $0.credentials = Self.digest }
                #expect(try await client.bodyText(request) == "in")
            }
            _ = try await client.status(.get(second.url("/plain")))
        }
        #expect(second.requests[0].header("Authorization") == [])
        #expect(second.requests.last?.header("Authorization") == [])
    }

    @Test("a token is sent as bearer, unless the configuration has an Authorization header")
    func bearer() async throws {
        let server = try WireServer(.ok())
        defer { server.close() }
        try await withClient { client async throws in
            for headers in [[], [Header("authorization", Secret("Own scheme"))]] {
                let request = Request.get(server.url()) {
                    ($0.headers, $0.credentials) = (headers, .bearer(Secret("t0ken")))
                }
                _ = try await client.fetch(request)
            }
        }
        #expect(server.requests.map { $0.header("Authorization") } == [["Bearer t0ken"], ["Own scheme"]])
    }

    private static let query = Credentials.query(name: "api key", value: Secret("s3cr&t="))

    @Test(
        "a query credential is added as the request goes out, once, and is seen nowhere else",
        arguments: ["/a?b=c#d", "/a", "/a?b=c&api%20key=s3cr%26t%3D", ""])
    func query(_ path: String) async throws {
        let server = try WireServer(.ok())
        defer { server.close() }
        let request = Request.get(server.origin + path) { $0.credentials = Self.query }
        let response = try await withClient { client in try await client.fetch(request) }
        let target = try #require(server.requests.first?.target)
        #expect(target.components(separatedBy: "api%20key=s3cr%26t%3D").count == 2)
        #expect(target.contains("b=c") == path.contains("b=c"))
        #expect(!response.url.contains("s3cr") && response.movedTo == nil)
    }

    @Test("a query credential goes along within the origin, also where the server repeats it, and shows in no address")
    func queryRedirect() async throws {
        let server = try WireServer { request in
            request.target.hasPrefix("/a") ? .redirect(301, to: "/b?x=y&api+key=s3cr%26t%3d") : .ok()
        }
        defer { server.close() }
        let request = Request.get(server.url("/a")) { $0.credentials = Self.query }
        let response = try await withClient { client in try await client.fetch(request) }
        #expect(server.requests.map(\.target) == ["/a?api%20key=s3cr%26t%3D", "/b?x=y&api%20key=s3cr%26t%3D"])
        #expect(response.url == server.url("/b?x=y") && response.movedTo == server.url("/b?x=y"))
        #expect(server.requests.allSatisfy { $0.header("Referer").isEmpty })
    }

    @Test("no error names a secret", arguments: ["http://127.0.0.1:1", "http://no-such-name.invalid"])
    func errors(_ origin: String) async throws {
        try await withClient { client async throws in
            for credentials in [
                Self.query, Self.digest, .bearer(Secret("t0ken")), .basic(user: "u", password: Secret("p4ss")),
            ] {
                let failure = await client.failed(.get(origin + "/p4th?q=s3cr") { $0.credentials = credentials })
                let text = "\(failure?.detail ?? "")"
                for secret in ["s3cr", "p4ss", "t0ken", "p4th"] { #expect(!text.contains(secret)) }
            }
        }
    }
}

@Suite("Case 21: what another origin gets to see")
struct OtherOriginTests {
    /// Every way to send a secret, and the text by which a second server would have it.
    private static let carriers: [(word: String, change: @Sendable (inout Request) -> Void)] = [
        ("Authorization", { $0.credentials = .basic(user: "u", password: Secret("p4ss")) }),
        ("Authorization", { $0.credentials = .digest(user: "u", password: Secret("p4ss")) }),
        ("t0ken", { $0.credentials = .bearer(Secret("t0ken")) }),
        ("t0ken", { $0.credentials = .query(name: "key", value: Secret("t0ken")) }),
        ("c00kie", { $0.headers = [Header("Cookie", "c00kie=1")] }),
        ("t0ken", { $0.headers = [Header("Authorization", "t0ken")] }),
        ("t0ken", { $0.headers = [Header("X-Anything", Secret("t0ken"))] }),
        ("t0ken", { $0.headers = [Header("X-Api-Key", "t0ken")] }),
        ("t0ken", { $0.headers = [Header("PRIVATE-TOKEN", "t0ken")] }),
        ("t0ken", { $0.headers = [Header("X-Auth-User", "t0ken")] }),
        ("t0ken", { $0.headers = [Header("X-Session", "t0ken")] }),
        ("evil.example", { $0.headers = [Header("Host", "evil.example")] }),
        ("jar", { $0.session = "s" }),
    ]

    @Test("case 21: to another host or port goes nothing that could be a credential", arguments: carriers.indices)
    func carrier(_ at: Int) async throws {
        let carrier = Self.carriers[at]
        let second = try WireServer(.ok("there"))
        let (port, name) = (second.port, "127.0.0.1")
        let first = try WireServer { request in
            request.target == "/set"
                ? .ok("", "Set-Cookie: jar=1; Path=/; Domain=127.0.0.1")
                : .redirect(307, to: "http://\(name):\(port)/there?key=t0ken2")
        }
        defer { WireServer.close(first, second) }
        try await withClient { client async throws in
            _ = try await client.fetch(.get(first.url("/set")) { $0.session = "s" })
            let response = try await client.fetch(.get(first.url("/x"), carrier.change))
            #expect(response.text == "there")
        }
        #expect(first.texts.dropFirst().joined().contains(carrier.word) || carrier.word == "Authorization")
        let arrived = try #require(second.texts.first).replacing("t0ken2", with: "")
        #expect(!arrived.contains(carrier.word), "\(arrived)")
    }

    @Test("case 21: a query credential that the first server repeats is taken out before the second sees it")
    func repeated() async throws {
        let second = try WireServer(.ok())
        let there = second.url("/b?key=s3cret&x=1")
        let first = try WireServer(.redirect(302, to: there), at: "127.0.0.2")
        defer { WireServer.close(first, second) }
        let request = Request.get(first.url("/a")) { $0.credentials = .query(name: "key", value: Secret("s3cret")) }
        let response = try await withClient { client in try await client.fetch(request) }
        #expect(second.requests.map(\.target) == ["/b?x=1"])
        #expect(!response.url.contains("s3cret"))
    }

    @Test("case 21: back at the first origin, what was taken away stays away")
    func roundTrip() async throws {
        let away = try WireServer(at: "127.0.0.2") { .redirect(302, to: "http://\($0.header("X-Home")[0])/home") }
        let out = away.url()
        let home = try WireServer { $0.target == "/home" ? .ok("back") : .redirect(302, to: out) }
        defer { WireServer.close(away, home) }
        let request = Request.get(home.url()) {
            ($0.credentials, $0.headers) = (.bearer(Secret("t0ken")), [Header("X-Home", "127.0.0.1:\(home.port)")])
        }
        #expect(try await withClient { client in try await client.bodyText(request) } == "back")
        #expect(home.requests.map { $0.header("Authorization") } == [["Bearer t0ken"], []])
        #expect(away.requests.map { $0.header("Authorization") } == [[]])
    }
}
