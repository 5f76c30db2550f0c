// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization
import Testing
import VedetteCore

@testable import VedetteHTTP

/// A service whose login gives the tokens `token-1`, `token-2` … and that accepts the last one alone.
private final class Service: Sendable {
    private let state = Mutex((count: 0, isValid: false))
    private let login: @Sendable (WireServer.Request, String) -> WireServer.Answer?
    private let carried: @Sendable (WireServer.Request) -> String?

    init(
        login: @escaping @Sendable (WireServer.Request, String) -> WireServer.Answer?,
        carried: @escaping @Sendable (WireServer.Request) -> String?
    ) { (self.login, self.carried) = (login, carried) }

    func expire() { state.withLock { $0.isValid = false } }

    func answer(_ request: WireServer.Request) -> WireServer.Answer {
        if request.method == "POST" {
            let number = state.withLock { state in
                (state.count, state.isValid) = (state.count + 1, true)
                return state.count
            }
            return login(request, "token-\(number)") ?? .reply("401 Unauthorized", "s3cret-password is wrong")
        }
        let (count, isValid) = state.withLock { $0 }
        guard isValid, carried(request) == "token-\(count)" else { return .reply("401 Unauthorized", "no") }
        return .ok("[1]", "Content-Type: application/json")
    }
}

/// The logins of real systems, as this project understands their documentation.
struct KnownLogin: Sendable, CustomTestStringConvertible {
    var testDescription: String
    /// Changes a login that has the address of the service.
    var login: @Sendable (inout TokenLogin) -> Void
    /// Answers a login with a token; nil refuses it.
    var answer: @Sendable (WireServer.Request, String) -> WireServer.Answer?
    /// The token that a request carries.
    var carried: @Sendable (WireServer.Request) -> String?

    static let password = Header.Content.secret(Secret("s3cret-\"password"))

    static let all: [KnownLogin] = [
        KnownLogin(
            testDescription: "Keystone",
            login: {
                $0.body = .json([.plain(#"{"auth":{"password":"#), password, .plain("}}")])
                ($0.token, $0.header) = (.header("X-Subject-Token"), "X-Auth-Token")
                $0.expires = ["token", "expires_at"]
            },
            answer: { request, token in
                guard request.body == #"{"auth":{"password":"s3cret-\"password"}}"# else { return nil }
                let body = #"{"token":{"expires_at":"2999-11-06T15:32:17.893769Z"}}"#
                return .reply("201 Created", body, ["X-Subject-Token: \(token)"])
            },
            carried: { $0.header("X-Auth-Token").first }),
        KnownLogin(
            testDescription: "vCenter",
            login: {
                $0.basic = ("ann", Secret("s3cret-password"))
                ($0.token, $0.header) = (.body, "vmware-api-session-id")
            },
            answer: { request, token in
                let basic = "Basic " + Data("ann:s3cret-password".utf8).base64EncodedString()
                guard request.header("Authorization") == [basic], request.body.isEmpty else { return nil }
                return .reply("201 Created", "\"\(token)\"")
            },
            carried: { $0.header("vmware-api-session-id").first }),
        KnownLogin(
            testDescription: "UniFi",
            login: {
                $0.body = .json([.plain(#"{"password":"#), password, .plain("}")])
                ($0.token, $0.header) = (.header("X-CSRF-Token"), "X-CSRF-Token")
            },
            answer: { _, token in
                .reply("200 OK", "{}", ["Set-Cookie: TOKEN=c-\(token); Path=/", "X-CSRF-Token: \(token)"])
            },
            carried: { request in
                guard let token = request.header("X-CSRF-Token").first else { return nil }
                return request.header("Cookie") == ["TOKEN=c-\(token)"] ? token : nil
            }),
        KnownLogin(
            testDescription: "Portainer",
            login: {
                $0.body = .json([.plain(#"{"Password":"#), password, .plain("}")])
                ($0.token, $0.header, $0.scheme) = (.field(["jwt"]), "Authorization", "Bearer")
            },
            answer: { request, token in .ok(#"{"jwt":"\#(token)"}"#) },
            carried: { request in
                request.header("Authorization").first.flatMap {
                    $0.hasPrefix("Bearer ") ? String($0.dropFirst(7)) : nil
                }
            }),
        KnownLogin(
            testDescription: "Nomad",
            login: {
                $0.body = .json([.plain(#"{"AuthMethodName":"jwt","LoginToken":"#), password, .plain("}")])
                ($0.token, $0.header, $0.expires) = (.field(["SecretID"]), "X-Nomad-Token", ["ExpirationTime"])
            },
            answer: { request, token in
                .ok(#"{"SecretID":"\#(token)","ExpirationTime":"2999-08-23T22:18:22.3Z"}"#)
            },
            carried: { $0.header("X-Nomad-Token").first }),
        KnownLogin(
            testDescription: "NSX",
            login: {
                $0.body = .form([.init("j_username", .plain("ann")), .init("j_password", password)])
                ($0.token, $0.header) = (.header("X-XSRF-TOKEN"), "X-XSRF-TOKEN")
            },
            answer: { request, token in
                guard request.body == "j_username=ann&j_password=s3cret-%22password",
                    request.header("Content-Type") == ["application/x-www-form-urlencoded"]
                else { return nil }
                return .reply("200 OK", "", ["Set-Cookie: JSESSIONID=\(token)", "X-XSRF-TOKEN: \(token)"])
            },
            carried: {
                $0.header("Cookie") == ["JSESSIONID=\($0.header("X-XSRF-TOKEN").first ?? "")"]
                    ? $0.header("X-XSRF-TOKEN").first : nil
            }),
        KnownLogin(
            testDescription: "a body of text with the end of a line",
            login: {
                $0.basic = ("ann", Secret("s3cret-password"))
                ($0.token, $0.header) = (.body, "X-Token")
            },
            answer: { _, token in .reply("200 OK", "\(token)\n") },
            carried: { $0.header("X-Token").first }),
    ]
}

@Suite("Sessions that begin with a POST for a token", .timeLimit(.minutes(10)))
struct TokenSessionTests {
    private static func portainer(_ url: String) -> TokenLogin {
        var login = TokenLogin(url: url)
        KnownLogin.all[3].login(&login)
        return login
    }

    private static func request(_ server: WireServer, _ path: String = "/data", login: TokenLogin? = nil) -> Request {
        .get(server.url(path)) {
            ($0.session, $0.tokenLogin) = ("s", login ?? portainer(server.url("/login")))
        }
    }

    private static func posts(_ server: WireServer) -> Int { server.requests.count { $0.method == "POST" } }

    @Test("one login serves all requests, and one more follows when the token is refused", arguments: KnownLogin.all)
    func known(_ system: KnownLogin) async throws {
        let service = Service(login: system.answer, carried: system.carried)
        let server = try WireServer { service.answer($0) }
        defer { WireServer.close(server) }
        var login = TokenLogin(url: server.url("/login"))
        system.login(&login)
        let request = Self.request(server, login: login)
        try await withClient { client async throws in
            for _ in 0..<3 { #expect(try await client.bodyText(request) == "[1]") }
            #expect(Self.posts(server) == 1)
            service.expire()
            let response = try await client.fetch(request)
            #expect(response.text == "[1]" && response.token?.value == "token-2", "for those who redact the response")
            #expect(Self.posts(server) == 2 && server.requests.count == 7)
        }
    }

    @Test("requests that wait at the same time share one login")
    func shared() async throws {
        let service = Service(login: KnownLogin.all[3].answer, carried: KnownLogin.all[3].carried)
        let server = try WireServer { service.answer($0) }
        defer { WireServer.close(server) }
        try await withClient { client async throws in
            try await withThrowingTaskGroup(of: String.self) { group in
                for i in 0..<8 { group.addTask { try await client.bodyText(Self.request(server, "/\(i)")) } }
                for try await body in group { #expect(body == "[1]") }
            }
        }
        #expect(Self.posts(server) == 1)
    }

    @Test(
        "a refused login is not repeated, and its error repeats nothing of the server", arguments: [400, 401, 403, 422])
    func refused(_ status: Int) async throws {
        let server = try WireServer { _ in .reply("\(status) No", "s3cret-password") }
        defer { WireServer.close(server) }
        try await withClient { client async throws in
            let first = await client.failed(Self.request(server))
            #expect(first?.failure == .unauthorized)
            #expect(
                first?.detail.hasSuffix("answered the login with \(status); check 'post' and what 'session' sends")
                    == true)
            let second = await client.failed(Self.request(server, "/other"))
            #expect(second?.failure == .unauthorized && second?.detail.contains("5 minutes") == true)
            #expect(server.requests.count == 1)
            // Another password is sent at once.
            var login = TokenLogin(url: server.url("/login"))
            login.basic = ("ann", Secret("another"))
            #expect(await client.failed(Self.request(server, login: login))?.detail.contains("\(status)") == true)
            #expect(server.requests.count == 2)
        }
    }

    @Test("a login whose address is wrong says so at each poll; one that a server puts off is not sent before")
    func putOff() async throws {
        let server = try WireServer {
            $0.number < 2 ? .reply("404 Not Found", "") : .reply("503 Busy", "", ["Retry-After: 120"])
        }
        defer { WireServer.close(server) }
        try await withClient { client async throws in
            for _ in 0..<2 { #expect(await client.failed(Self.request(server))?.failure == .notFound) }
            for _ in 0..<3 {
                let error = await client.failed(Self.request(server))
                #expect(error?.failure == .serverError && error?.retryAfter.map { $0 > .seconds(60) } == true)
            }
        }
        #expect(server.requests.count == 3)
    }

    @Test("a server that fails or moves the login is asked again by the next poll; the password is sent nowhere else")
    func failing() async throws {
        let other = try WireServer(.ok(#"{"jwt":"t"}"#))
        let server = try WireServer {
            $0.number == 0 ? .reply("503 Busy", "") : .redirect(307, to: other.url("/login"))
        }
        defer { WireServer.close(server, other) }
        try await withClient { client async throws in
            #expect(await client.failed(Self.request(server))?.failure == .serverError)
            #expect(await client.failed(Self.request(server))?.failure == .redirect)
        }
        #expect(server.requests.count == 2 && other.connections == 0)
    }

    @Test("an address that is refused right after a login fails without further logins; the others go on")
    func forbidden() async throws {
        let server = try WireServer { request in
            if request.method == "POST" { return .ok(#"{"jwt":"t\#(request.number)"}"#) }
            return request.target == "/bad" ? .reply("401 Unauthorized", "no") : .ok("good")
        }
        defer { WireServer.close(server) }
        try await withClient { client async throws in
            #expect(try await client.bodyText(Self.request(server, "/good")) == "good")
            let error = await client.failed(Self.request(server, "/bad"))
            #expect(error?.failure == .unauthorized)
            #expect(error?.detail.contains("answered 401 right after a login; check 'token' and 'send'") == true)
            #expect(Self.posts(server) == 2)
            for _ in 0..<3 { #expect(await client.failed(Self.request(server, "/bad"))?.failure == .unauthorized) }
            #expect(try await client.bodyText(Self.request(server, "/good")) == "good")
            #expect(Self.posts(server) == 2)
        }
    }

    @Test("a redirect carries the token to no other origin, whose refusal leads to no login")
    func origins() async throws {
        let other = try WireServer(.reply("401 Unauthorized", "no"))
        let there = other.url()
        let server = try WireServer(at: "127.0.0.2") {
            $0.method == "POST" ? .ok(#"{"jwt":"t0ken"}"#) : .redirect(302, to: there)
        }
        defer { WireServer.close(server, other) }
        #expect(try await withClient { client in try await client.status(Self.request(server)) } == 401)
        #expect(other.requests.map { $0.header("Authorization") } == [[]])
        #expect(Self.posts(server) == 1)
    }

    @Test("a login on another origin gets no cookie of the server, and the server gets its token")
    func identity() async throws {
        let identity = try WireServer(at: "127.0.0.2") { _ in
            .reply("200 OK", #"{"jwt":"t0ken"}"#, ["Set-Cookie: a=1"])
        }
        let server = try WireServer(.ok("good", "Set-Cookie: b=2"))
        defer { WireServer.close(identity, server) }
        let login = Self.portainer(identity.url("/login"))
        try await withClient { client async throws in
            for _ in 0..<2 { #expect(try await client.bodyText(Self.request(server, login: login)) == "good") }
        }
        #expect(server.requests.map { $0.header("Authorization") } == [["Bearer t0ken"], ["Bearer t0ken"]])
        #expect(server.requests.map { $0.header("Cookie") } == [[], ["b=2"]])
        #expect(identity.requests.map { $0.header("Cookie") } == [[]])
    }
}

@Suite("Tokens of a session")
struct SessionTokenTests {
    private static let now = Timestamp(milliseconds: 1_800_000_000_000)

    private func read(
        _ body: String, _ place: TokenLogin.Place? = .field(["a", "t"]), status: Int = 200
    ) -> Result<SessionToken, FetchError> {
        var login = TokenLogin(url: "https://id.example/")
        (login.token, login.expires) = (place, ["e"])
        return Result { () throws(FetchError) in
            try SessionToken(
                Response(status: status, body: Array(body.utf8)), to: login, from: "https://id.example:443",
                now: Self.now)
        }
    }

    @Test(
        "a date, a time since 1970 or a number of seconds ends a token a little before; anything else is ignored",
        arguments: [
            ("3600", 3540), ("\"3600\"", 3540), ("\"2027-01-15T09:00:00Z\"", 3540), ("1800003600", 3540),
            ("1800003600000", 3540), ("10", 60), ("\"2020-01-01T00:00:00Z\"", 60), ("0", nil), ("-5", nil),
            ("null", nil), ("\"soon\"", nil), ("[]", nil),
        ] as [(String, Int64?)])
    func expiry(_ text: String, _ seconds: Int64?) throws {
        let token = try read(#"{"a":{"t":"x"},"e":\#(text)}"#).get()
        #expect(token.lifetime == seconds.map { $0 * 1000 } && token.value?.value == "x")
    }

    @Test(
        "a response without a usable token is malformed, and its error repeats none of it",
        arguments: [
            "", "<html>s3cret", "{}", #"{"a":"s3cret"}"#, #"{"a":{"t":5}}"#, #"{"a":{"t":""}}"#,
            #"{"a":{"t":"s3cret\r\nX: y"}}"#, #"{"a":{"t":"\#(String(repeating: "s3cret", count: 3000))"}}"#,
        ])
    func malformed(_ body: String) {
        guard case .failure(let error) = read(body) else {
            Issue.record("a token came")
            return
        }
        #expect(error.failure == .malformed && !error.detail.contains("s3cret"))
        #expect(error.detail.contains("check 'token' of 'session'") && error.detail.contains("'a.t'"))
    }

    @Test("a body that is a JSON string or a text is the token", arguments: ["\"abc\"", "abc"])
    func body(_ text: String) throws { #expect(try read(text, .body).get().value?.value == "abc") }

    @Test("a session in cookies alone has no token")
    func cookies() throws { #expect(try read("", nil).get().value == nil) }
}

@Suite("Pauses after refused logins")
struct LoginPausesTests {
    @Test("a pause lasts five minutes and doubles up to an hour, until a login succeeds")
    func lengths() {
        var pauses = LoginPauses<String>()
        var now: Int64 = 0
        func isPaused(_ time: Int64) -> Bool {
            do throws(FetchError) { try pauses.check("a", now: time) } catch { return true }
            return false
        }
        #expect(!isPaused(now))
        for minutes: Int64 in [5, 10, 20, 40, 60, 60] {
            pauses.begin("a", now: now)
            #expect(isPaused(now + minutes * 60_000 - 1) && !isPaused(now + minutes * 60_000))
            now += minutes * 60_000
        }
        pauses.end("a")
        #expect(!isPaused(now))
        pauses.begin("a", now: now)
        #expect(!isPaused(now + 5 * 60_000))
    }

    @Test("a server that asks for a pause gets it, with its own error and what is left of the time")
    func retryAfter() throws {
        var pauses = LoginPauses<String>()
        var busy = FetchError(.rateLimited, "answered 429")
        pauses.begin("a", after: busy, now: 0)
        try pauses.check("a", now: 0)
        busy.retryAfter = .seconds(120)
        pauses.begin("a", after: busy, now: 0)
        let error = #expect(throws: FetchError.self) { try pauses.check("a", now: 20_000) }
        #expect(error?.failure == .rateLimited && error?.retryAfter == .seconds(100))
        try pauses.check("a", now: 120_000)
    }

    @Test("a status about the address or the time of a login is no refusal of the password")
    func statuses() {
        #expect([400, 401, 403, 409, 422, 423].allSatisfy { Failure(login: $0) == .unauthorized })
        #expect(
            [404, 405, 410, 429, 503].map { Failure(login: $0) } == [
                .notFound, .clientError, .gone, .rateLimited, .serverError,
            ])
    }
}
