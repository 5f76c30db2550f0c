// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import VedetteCore

@testable import VedetteHTTP

@Suite("OAuth 2 client credentials: what an answer means (RFC 6749 §5)")
struct GrantedTokenTests {
    private func read(_ body: String, status: Int = 200) -> Result<GrantedToken, FetchError> {
        Result { () throws(FetchError) in
            try GrantedToken(Response(status: status, body: Array(body.utf8)), from: "https://id.example:443")
        }
    }

    @Test(
        "a token is used until a minute, or a fifth of its life, before its end",
        arguments: zip(
            ["3600", "\"3600\"", "60", "2", "0", "-5", "1e30", "null", "\"x\""],
            [3540, 3540, 48, 2, 0, 0, 86_340, 3540, 3540]))
    func life(_ expires: String, _ seconds: Int64) throws {
        let token = try read(#"{"access_token":"t","token_type":"BEARER","expires_in":\#(expires)}"#).get()
        #expect(token.usable == seconds * 1000 && token.value.value == "t")
    }

    @Test("the shelf gives a token until its time, and lets go of the refused one alone")
    func shelf() throws {
        var shelf = OAuthTokenCache()
        let key = GrantKey(ClientGrant(url: "u", client: "c", secret: Secret("s")))
        let other = GrantKey(ClientGrant(url: "u", client: "c", secret: Secret("s"), scope: "x"))
        let first = try read(#"{"access_token":"one","expires_in":100}"#).get()
        shelf.keep(first, of: key, now: 1000)
        #expect(shelf.token(key, now: 80_999)?.value == "one" && shelf.token(other, now: 1000) == nil)
        #expect(shelf.token(key, now: 81_000) == nil)
        let second = try read(#"{"access_token":"two","expires_in":100}"#).get()
        shelf.keep(second, of: key, now: 2000)
        shelf.refuse(first.value, of: key)
        #expect(shelf.token(key, now: 2000)?.value == "two")
        shelf.refuse(second.value, of: key)
        #expect(shelf.token(key, now: 2000) == nil)
    }

    @Test("a thousand changed secrets leave no thousand tokens")
    func bounds() throws {
        var shelf = OAuthTokenCache()
        let token = try read(#"{"access_token":"t","expires_in":100}"#).get()
        let keys = (0..<5000).map { GrantKey(ClientGrant(url: "u", client: "c", secret: Secret("\($0)"))) }
        for key in keys { shelf.keep(token, of: key, now: 0) }
        #expect(keys.filter { shelf.token($0, now: 0) != nil }.count <= 1024)
        #expect(shelf.token(keys[4999], now: 0) != nil)
    }

    @Test(
        "each refusal is one sentence that repeats nothing of the server's",
        arguments: [
            (400, "invalid_client", Failure.unauthorized, "id or secret"),
            (401, "invalid_client", .unauthorized, "id or secret"),
            (400, "unauthorized_client", .unauthorized, "may not have one"),
            (400, "invalid_scope", .configuration, "scope"),
            (400, "unsupported_grant_type", .configuration, "client credentials"),
            (400, "invalid_request", .configuration, "missing"),
            (400, "s3cret", .clientError, "status 400"), (503, "s3cret", .serverError, "status 503"),
            (302, "s3cret", .redirect, "status 302"), (429, "", .rateLimited, "status 429"),
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
        "what is no usable token is malformed",
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

    /// Gives the tokens t0, t1 …
    private static func issuer(expires: Int = 3600) throws -> WireServer {
        try WireServer(at: "127.0.0.2") { .ok(#"{"access_token":"t\#($0.number)","expires_in":\#(expires)}"#) }
    }

    @Test("the token is asked for once for all who need it, then kept", arguments: [false, true])
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
            #expect(try await client.status(request) == 200)
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

    @Test("after a 401 there is one renewal and one retry, for all who were refused together")
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

    @Test("a server that refuses every token is not asked again and again")
    func refused() async throws {
        let (issuer, server) = (try Self.issuer(), try WireServer(.reply("401 Unauthorized", "")))
        defer { WireServer.close(issuer, server) }
        let request = Request.get(server.url()) { $0.credentials = .grant(Self.grant(issuer.url())) }
        #expect(try await withClient { client in try await client.status(request) } == 401)
        #expect(issuer.requests.count == 2 && server.requests.count == 2)
    }

    @Test("a token that has ended is renewed before the request")
    func ended() async throws {
        let (issuer, server) = (try Self.issuer(expires: 0), try WireServer(.ok()))
        defer { WireServer.close(issuer, server) }
        let request = Request.get(server.url()) { $0.credentials = .grant(Self.grant(issuer.url())) }
        try await withClient { client async throws in for _ in 0..<3 { _ = try await client.fetch(request) } }
        #expect(server.requests.map { $0.header("Authorization") } == [["Bearer t0"], ["Bearer t1"], ["Bearer t2"]])
    }

    @Test("an error of the token's server is the fetch's, the source is not asked, and no secret is told")
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

    @Test("who is cancelled while a token is asked for leaves at once; the others get theirs")
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
            // Nobody waited any more, so the request for the token has ended too; the next one asks anew.
            await issuer.left(1)
            #expect(try await client.status(request) == 200)
        }
        #expect(server.requests.count == 1)
    }

    @Test("shutdown ends who waits for a token")
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

    @Test("a token goes to its own origin alone, and another origin's 401 renews nothing")
    func elsewhere() async throws {
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
