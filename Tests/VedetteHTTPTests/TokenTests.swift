// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import VedetteCore

@testable import VedetteHTTP

@Suite("OAuth 2 client credentials: token responses (RFC 6749 §5)")
struct GrantedTokenTests {
    private func read(_ body: String, status: Int = 200) -> Result<GrantedToken, FetchError> {
        Result { () throws(FetchError) in
            try GrantedToken(Response(status: status, body: Array(body.utf8)), from: "https://id.example:443")
        }
    }

    @Test(
        "a token is used until a minute, or a fifth of its lifetime, before it expires",
        arguments: zip(
            ["3600", "\"3600\"", "60", "2", "0", "-5", "1e30", "null", "\"x\""],
            [3540, 3540, 48, 2, 0, 0, 86_340, 3540, 3540]))
    func life(_ expires: String, _ seconds: Int64) throws {
        let token = try read(#"{"access_token":"t","token_type":"BEARER","expires_in":\#(expires)}"#).get()
        #expect(token.lifetime == seconds * 1000 && token.value.value == "t")
    }

    @Test("the cache returns a token until it expires, and removes only the refused one")
    func cache() throws {
        var cache = OAuthTokenCache()
        let key = GrantKey(ClientGrant(url: "u", client: "c", secret: Secret("s")))
        let other = GrantKey(ClientGrant(url: "u", client: "c", secret: Secret("s"), scope: "x"))
        let first = try read(#"{"access_token":"one","expires_in":100}"#).get()
        cache.keep(first, of: key, now: 1000)
        #expect(cache.token(key, now: 80_999)?.value == "one" && cache.token(other, now: 1000) == nil)
        #expect(cache.token(key, now: 81_000) == nil)
        let second = try read(#"{"access_token":"two","expires_in":100}"#).get()
        cache.keep(second, of: key, now: 2000)
        cache.remove(first.value, of: key)
        #expect(cache.token(key, now: 2000)?.value == "two")
        cache.remove(second.value, of: key)
        #expect(cache.token(key, now: 2000) == nil)
    }

    @Test("tokens of old secrets are removed")
    func bounds() throws {
        var cache = OAuthTokenCache()
        let token = try read(#"{"access_token":"t","expires_in":100}"#).get()
        let keys = (0..<5000).map { GrantKey(ClientGrant(url: "u", client: "c", secret: Secret("\($0)"))) }
        for key in keys { cache.keep(token, of: key, now: 0) }
        #expect(keys.filter { cache.token($0, now: 0) != nil }.count <= 1024)
        #expect(cache.token(keys[4999], now: 0) != nil)
    }

    @Test(
        "each refusal is one sentence without text of the server",
        arguments: [
            (400, "invalid_client", Failure.unauthorized, "id or secret"),
            (401, "invalid_client", .unauthorized, "id or secret"),
            (400, "invalid_grant", .unauthorized, "password or refresh token"),
            (400, "unauthorized_client", .unauthorized, "does not allow this client"),
            (400, "invalid_scope", .configuration, "scope"),
            (400, "unsupported_grant_type", .configuration, "this grant"),
            (400, "invalid_request", .configuration, "incomplete"),
            (400, "s3cret", .clientError, "answered 400"), (503, "s3cret", .serverError, "answered 503"),
            (302, "s3cret", .redirect, "answered 302"), (429, "", .rateLimited, "answered 429"),
        ])
    func refusals(_ status: Int, _ code: String, _ expected: Failure, _ words: String) {
        let body = #"{"error":"\#(code)","error_description":"s3cret"}"#
        guard case .failure(let error) = read(body, status: status) else {
            Issue.record("a token came")
            return
        }
        #expect(error.failure == expected && error.detail.contains(words) && !error.detail.contains("s3cret"))
        #expect(error.detail.hasPrefix("https://id.example:443 "))
    }

    @Test(
        "a response without a usable token is malformed",
        arguments: [
            "", "<html>", "{}", #"{"access_token":""}"#, #"{"access_token":5}"#,
            #"{"access_token":"s3cret","token_type":"mac"}"#, #"{"access_token":"s3cret\r\nX: y"}"#,
        ])
    func malformed(_ body: String) {
        guard case .failure(let error) = read(body) else {
            Issue.record("a token came")
            return
        }
        #expect(error.failure == .malformed && !error.detail.contains("s3cret"))
    }
}

@Suite("OAuth 2 client credentials on the wire")
struct TokenWireTests {
    private static func grant(_ url: String, inBody: Bool = false) -> ClientGrant {
        ClientGrant(
            url: url, client: "cli ent", secret: Secret("s3c:ret"), scope: "a b", audience: "https://x", inBody: inBody)
    }

    /// Returns the tokens t0, t1 …
    private static func issuer(expires: Int = 3600) throws -> WireServer {
        try WireServer(at: "127.0.0.2") { .ok(#"{"access_token":"t\#($0.number)","expires_in":\#(expires)}"#) }
    }

    @Test("one request fetches the token for all, and it is kept", arguments: [false, true])
    func shared(inBody: Bool) async throws {
        let (issuer, server) = (try Self.issuer(), try WireServer(.ok()))
        defer { WireServer.close(issuer, server) }
        let request = Request.get(server.url()) {
            $0.headers = [Header("User-Agent", "Watcher/1"), Header("X-Key", Secret("k3y"))]
            $0.credentials = .grant(Self.grant(issuer.url("/token"), inBody: inBody))
        }
        try await withClient { client async throws in
            try await withThrowingTaskGroup { group in
                for _ in 0..<20 { group.addTask { _ = try await client.fetch(request) } }
                try await group.waitForAll()
            }
            let response = try await client.fetch(request)
            #expect(response.status == 200 && response.token?.value == "t0", "for those who redact the response")
        }
        #expect(issuer.requests.count == 1)
        #expect(server.requests.count == 21)
        #expect(server.requests.allSatisfy { $0.header("Authorization") == ["Bearer t0"] })
        let asked = try #require(issuer.requests.first)
        #expect(asked.method == "POST" && asked.header("Content-Type") == ["application/x-www-form-urlencoded"])
        #expect(asked.header("User-Agent") == ["Watcher/1"] && asked.header("X-Key") == [])
        let fields = "grant_type=client_credentials&scope=a%20b&audience=https%3A%2F%2Fx"
        #expect(asked.body == fields + (inBody ? "&client_id=cli%20ent&client_secret=s3c%3Aret" : ""))
        let basic = "Basic " + Data("cli%20ent:s3c%3Aret".utf8).base64EncodedString()
        #expect(asked.header("Authorization") == (inBody ? [] : [basic]))
    }

    @Test("a user's password and a refresh token are sent as RFC 6749 says; a public client sends its id alone")
    func grants() async throws {
        let (issuer, server) = (try Self.issuer(), try WireServer(.ok()))
        defer { WireServer.close(issuer, server) }
        try await withClient { client async throws in
            for (kind, secret) in [
                (ClientGrant.Kind.password(user: "a n", password: Secret("p&w")), ""), (.refresh(Secret("r=1")), "s"),
            ] {
                var grant = ClientGrant(url: issuer.url(), client: "me", secret: Secret(secret))
                grant.kind = kind
                #expect(try await client.status(.get(server.url()) { $0.credentials = .grant(grant) }) == 200)
            }
        }
        #expect(
            issuer.requests.map(\.body) == [
                "grant_type=password&username=a%20n&password=p%26w&client_id=me",
                "grant_type=refresh_token&refresh_token=r%3D1",
            ])
        let basic = "Basic " + Data("me:s".utf8).base64EncodedString()
        #expect(issuer.requests.map { $0.header("Authorization") } == [[], [basic]])
    }

    @Test("a refresh token that the server replaces is used from then on")
    func rotation() async throws {
        let issuer = try WireServer(at: "127.0.0.2") {
            .ok(#"{"access_token":"t","expires_in":0,"refresh_token":"r\#($0.number + 1)"}"#)
        }
        let server = try WireServer(.ok())
        defer { WireServer.close(issuer, server) }
        var grant = ClientGrant(url: issuer.url(), client: "me", secret: Secret(""))
        grant.kind = .refresh(Secret("r0"))
        let request = Request.get(server.url()) { $0.credentials = .grant(grant) }
        try await withClient { client async throws in for _ in 0..<3 { _ = try await client.fetch(request) } }
        let sent = issuer.requests.map { $0.body.split(separator: "&")[1] }
        #expect(sent == ["refresh_token=r0", "refresh_token=r1", "refresh_token=r2"])
    }

    @Test("a password that is refused is not sent again: servers lock accounts")
    func wrongPassword() async throws {
        let issuer = try WireServer(.reply("400 Bad", #"{"error":"invalid_grant"}"#))
        defer { issuer.close() }
        var grant = ClientGrant(url: issuer.url(), client: "me", secret: Secret(""))
        grant.kind = .password(user: "ann", password: Secret("wrong"))
        let request = Request.get("http://127.0.0.1:1/") { $0.credentials = .grant(grant) }
        try await withClient { client async throws in
            for _ in 0..<3 { #expect(await client.failed(request)?.failure == .unauthorized) }
        }
        #expect(issuer.requests.count == 1)
    }

    @Test("after a 401 there is one renewal and one retry, for all requests that were refused together")
    func renewed() async throws {
        let issuer = try Self.issuer()
        let server = try WireServer {
            $0.header("Authorization") == ["Bearer t1"] ? .ok() : .reply("401 Unauthorized", "")
        }
        defer { WireServer.close(issuer, server) }
        let request = Request.get(server.url()) { $0.credentials = .grant(Self.grant(issuer.url())) }
        try await withClient { client async throws in
            try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<5 { group.addTask { try await client.status(request) } }
                for try await status in group { #expect(status == 200) }
            }
        }
        #expect(issuer.requests.count == 2)
    }

    @Test("a server that refuses every token gets one retry")
    func refused() async throws {
        let (issuer, server) = (try Self.issuer(), try WireServer(.reply("401 Unauthorized", "")))
        defer { WireServer.close(issuer, server) }
        let request = Request.get(server.url()) { $0.credentials = .grant(Self.grant(issuer.url())) }
        #expect(try await withClient { client in try await client.status(request) } == 401)
        #expect(issuer.requests.count == 2 && server.requests.count == 2)
    }

    @Test("an expired token is renewed before the request")
    func ended() async throws {
        let (issuer, server) = (try Self.issuer(expires: 0), try WireServer(.ok()))
        defer { WireServer.close(issuer, server) }
        let request = Request.get(server.url()) { $0.credentials = .grant(Self.grant(issuer.url())) }
        try await withClient { client async throws in for _ in 0..<3 { _ = try await client.fetch(request) } }
        #expect(server.requests.map { $0.header("Authorization") } == [["Bearer t0"], ["Bearer t1"], ["Bearer t2"]])
    }

    @Test("an error of the token server is the error of the fetch, without a secret, and no request is sent")
    func errors() async throws {
        let server = try WireServer(.ok())
        let issuer = try WireServer(.reply("400 Bad", #"{"error":"invalid_client","error_description":"s3c:ret"}"#))
        let mover = try WireServer(.redirect(307, to: server.url("/thief")))
        defer { WireServer.close(server, issuer, mover) }
        try await withClient { client async throws in
            func failed(_ url: String) async -> FetchError? {
                await client.failed(.get(server.url()) { $0.credentials = .grant(Self.grant(url, inBody: true)) })
            }
            let refused = await failed(issuer.url())
            #expect(refused?.failure == .unauthorized && refused?.detail.contains("s3c") == false)
            #expect(await failed(mover.url())?.failure == .redirect)
            #expect(await failed("http://no-such-name.invalid/")?.failure == .resolve)
            #expect(await failed("nonsense")?.failure == .configuration)
        }
        #expect(server.connections == 0)
    }

    @Test("a request that is cancelled while its token is fetched ends at once; others get the token")
    func cancelled() async throws {
        let issuer = try WireServer { $0.number == 0 ? .silence : .ok(#"{"access_token":"t1"}"#) }
        let server = try WireServer(.ok())
        defer { WireServer.close(issuer, server) }
        let request = Request.get(server.url()) { $0.credentials = .grant(Self.grant(issuer.url())) }
        try await withClient { client async throws in
            let waiting = (0..<3).map { _ in Task { await client.failed(request) } }
            _ = await issuer.received(1)
            for task in waiting { task.cancel() }
            for task in waiting { #expect(await task.value?.failure == .cancelled) }
            // No request waits any more, so the token request is cancelled too; the next one starts another.
            await issuer.left(1)
            #expect(try await client.status(request) == 200)
        }
        #expect(server.requests.count == 1)
    }

    @Test("shutdown cancels requests that wait for a token")
    func shutdown() async throws {
        let issuer = try WireServer(.silence)
        defer { issuer.close() }
        let request = Request.get("http://127.0.0.1:1/") { $0.credentials = .grant(Self.grant(issuer.url())) }
        let client = try HTTPClient()
        let task = Task { await client.failed(request) }
        _ = await issuer.received(1)
        await client.shutdown()
        #expect(await task.value?.failure == .cancelled)
        #expect(await client.failed(request)?.failure == .cancelled)
    }

    @Test("a token is sent to its origin only, and a 401 of another origin renews nothing")
    func forOtherOrigins() async throws {
        let issuer = try Self.issuer()
        let second = try WireServer(.reply("401 Unauthorized", ""))
        let there = second.url()
        let server = try WireServer(.redirect(302, to: there), at: "127.0.0.3")
        defer { WireServer.close(issuer, second, server) }
        let request = Request.get(server.url()) { $0.credentials = .grant(Self.grant(issuer.url())) }
        #expect(try await withClient { client in try await client.status(request) } == 401)
        #expect(second.requests.map { $0.header("Authorization") } == [[]])
        #expect(issuer.requests.count == 1 && server.requests.count == 1)
    }
}
