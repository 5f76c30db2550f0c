// SPDX-License-Identifier: Apache-2.0

import Synchronization
import Testing
import VedetteCore

@testable import VedetteHTTP

/// A panel with a login form: each login gives another session, and `expire` ends the present one.
private final class Panel: Sendable {
    private let sessions = Mutex((count: 0, isValid: false))
    let refusal: WireServer.Answer
    let password: String

    init(refusal: WireServer.Answer = .redirect(302, to: "/login?next=/data"), password: String = "p&ss w=rd") {
        (self.refusal, self.password) = (refusal, password)
    }

    func expire() { sessions.withLock { $0.isValid = false } }

    func answer(_ request: WireServer.Request) -> WireServer.Answer {
        if request.target.hasPrefix("/login") {
            guard request.method == "POST" else { return .ok("a form", "Content-Type: text/html") }
            let wanted = "csrf=t%26k&user=ann&password=p%26ss%20w%3Drd"
            guard request.body == wanted, password == "p&ss w=rd" else { return .redirect(302, to: "/login?wrong") }
            let number = sessions.withLock { state in
                (state.count, state.isValid) = (state.count + 1, true)
                return state.count
            }
            return .reply("302 Found", "", ["Location: /", "Set-Cookie: sid=s\(number); Path=/"])
        }
        let (count, isValid) = sessions.withLock { $0 }
        guard isValid, request.header("Cookie") == ["sid=s\(count)"] else { return refusal }
        if request.target == "/forbidden" { return .reply("403 Forbidden", "not for ann") }
        return .ok("[1]", "Content-Type: application/json")
    }
}

/// Takes every page of HTML that says so for a login form.
private struct Pages: LoginPageReader {
    var action = "/login"

    func loginPage(in response: Response) -> LoginPage? {
        guard String(decoding: response.body, as: UTF8.self) == "a form" else { return nil }
        let target = WebURL(response.url)?.resolving(action)?.text ?? ""
        return LoginPage(action: target, hidden: [.init("csrf", "t&k"), .init("user", "")])
    }
}

@Suite("Sessions that begin with a login form", .timeLimit(.minutes(10)))
struct LoginTests {
    private static let fields = [
        LoginForm.Field("user", .plain("ann")), LoginForm.Field("password", .secret(Secret("p&ss w=rd"))),
    ]

    private static func request(
        _ server: WireServer, path: String = "/data", login: String? = nil, accept: String = "application/json"
    ) -> Request {
        .get(server.url(path)) {
            $0.session = "panel"
            $0.headers = [Header("Accept", accept)]
            $0.login = LoginForm(url: login ?? server.url("/login"), fields: fields)
        }
    }

    private func withPanel(
        _ panel: Panel, pages: any LoginPageReader = Pages(),
        _ body: (WireServer, HTTPClient) async throws -> Void
    ) async throws {
        let server = try WireServer { panel.answer($0) }
        defer { WireServer.close(server) }
        try await using(try HTTPClient(pages: pages)) { try await body(server, $0) }
    }

    @Test(
        "the form is sent once, with what its page fills in, and again when the server asks for it",
        arguments: [
            WireServer.Answer.redirect(302, to: "/login?next=/data"), .reply("401 Unauthorized", "no"),
            .reply("403 Forbidden", "no"), .ok("a form", "Content-Type: text/html; charset=utf-8"),
            .ok("please", "Content-Type: text/html"),
        ])
    func session(_ refusal: WireServer.Answer) async throws {
        let panel = Panel(refusal: refusal)
        try await withPanel(panel) { server, client async throws in
            for _ in 0..<3 { #expect(try await client.bodyText(Self.request(server)) == "[1]") }
            #expect(
                server.requests.map { "\($0.method) \($0.target)" } == [
                    "GET /login", "POST /login", "GET /data", "GET /data", "GET /data",
                ])
            let form = server.requests[1]
            #expect(form.header("Content-Type") == ["application/x-www-form-urlencoded"])
            #expect(form.header("Referer") == [server.url("/login")] && form.header("Origin") == [server.url("")])
            panel.expire()
            #expect(try await client.bodyText(Self.request(server)) == "[1]")
            #expect(server.requests.count { $0.method == "POST" } == 2)
        }
    }

    @Test("many requests of a session wait for one login")
    func shared() async throws {
        try await withPanel(Panel()) { server, client async throws in
            try await withThrowingTaskGroup(of: String.self) { group in
                for _ in 0..<6 { group.addTask { try await client.bodyText(Self.request(server)) } }
                for try await body in group { #expect(body == "[1]") }
            }
            #expect(server.requests.count { $0.method == "POST" } == 1)
        }
    }

    @Test("a login that the server does not take is an error, and is not tried again at once: servers lock accounts")
    func refused() async throws {
        try await withPanel(Panel(password: "another")) { server, client async throws in
            let first = await client.failed(Self.request(server))
            #expect(first?.failure == .unauthorized)
            #expect(first?.detail.contains("right after one; check the fields of 'session'") == true)
            #expect(await client.failed(Self.request(server))?.failure == .unauthorized)
            #expect(server.requests.count { $0.method == "POST" } == 2)
        }
    }

    @Test("an address that the user may not read makes no login again and again, and none of the others waits for one")
    func forbidden() async throws {
        let panel = Panel()
        try await withPanel(panel) { server, client async throws in
            for _ in 0..<3 { #expect(try await client.status(Self.request(server, path: "/forbidden")) == 403) }
            #expect(try await client.bodyText(Self.request(server)) == "[1]")
            let logins = server.requests.count { $0.method == "POST" }
            #expect(logins == 2)
            for _ in 0..<2 {
                _ = try await client.status(Self.request(server, path: "/forbidden"))
                panel.expire()
                #expect(try await client.bodyText(Self.request(server)) == "[1]")
            }
            #expect(server.requests.count { $0.method == "POST" } == logins + 2)
        }
    }

    @Test("where an address is refused after a login that was answered before, none of the session logs in for a while")
    func refusals() {
        var refusals = LoginRefusals()
        for address in ["a", "b"] { refusals.noteAnswer(of: address) }
        refusals.noteRefusal(of: "c", 1, now: 0)
        #expect(refusals.forbidsLogin(for: "c", 1, now: 1) && !refusals.forbidsLogin(for: "a", 1, now: 1))
        refusals.noteRefusal(of: "a", 1, now: 1)
        #expect(refusals.forbidsLogin(for: "b", 1, now: 2))
        // Another password is sent at once, and the same one after five minutes.
        #expect(!refusals.forbidsLogin(for: "b", 2, now: 2) && !refusals.forbidsLogin(for: "b", 1, now: 300_002))
        refusals.noteAnswer(of: "b")
        #expect(!refusals.forbidsLogin(1, now: 2) && refusals.forbidsLogin(for: "a", 1, now: 2))
    }

    @Test("a wrong password is sent three times at most where an address that needs no login is answered in between")
    func openAddress() {
        var refusals = LoginRefusals()
        refusals.noteAnswer(of: "open")
        var logins = 0
        for address in (0..<20).map(String.init) where !refusals.forbidsLogin(for: address, 1, now: 0) {
            logins += 1
            refusals.loginEnded(isRefused: false, 1, now: 0)
            refusals.noteRefusal(of: address, 1, now: 0)
            refusals.noteAnswer(of: "open")
        }
        #expect(logins == 3)
        // One that was answered may have lost its session; another password, or five minutes, end the wait of the others.
        #expect(!refusals.forbidsLogin(for: "open", 1, now: 0))
        #expect(!refusals.forbidsLogin(for: "19", 2, now: 0) && !refusals.forbidsLogin(for: "19", 1, now: 300_000))
    }

    @Test("a form that answers an error names it; its secrets stand in no error")
    func failing() async throws {
        let server = try WireServer { request in
            request.method == "POST"
                ? .reply("422 Unprocessable", "p&ss w=rd") : .ok("a form", "Content-Type: text/html")
        }
        defer { WireServer.close(server) }
        try await using(try HTTPClient(pages: Pages())) { client async throws in
            let error = await client.failed(Self.request(server))
            #expect(error?.detail == "the login was answered by 422; check 'login' and the fields of 'session'")
        }
    }

    @Test("no other origin gets the fields: not by the form's action, not by a redirect, not as the source's address")
    func origins() async throws {
        let other = try WireServer(.ok("a form", "Content-Type: text/html"))
        defer { WireServer.close(other) }
        try await withPanel(Panel(), pages: Pages(action: other.url("/take"))) { server, client async throws in
            #expect(await client.failed(Self.request(server))?.failure == .redirect)
            #expect(!server.requests.contains { $0.method == "POST" })
        }
        let mover = try WireServer { _ in .redirect(307, to: other.url("/login")) }
        defer { WireServer.close(mover) }
        try await using(try HTTPClient(pages: Pages())) { client async throws in
            #expect(await client.failed(Self.request(mover))?.failure == .redirect)
            _ = try await client.status(Self.request(other, login: mover.url("/login")))
        }
        #expect(other.requests.allSatisfy { $0.method == "GET" && $0.body.isEmpty })
    }

    @Test("a page of HTML without a login is a response where HTML was asked for")
    func page() async throws {
        let server = try WireServer { request in
            request.target == "/login"
                ? .ok("a form", "Content-Type: text/html") : .ok("news", "Content-Type: text/html")
        }
        defer { WireServer.close(server) }
        try await using(try HTTPClient(pages: Pages())) { client async throws in
            #expect(try await client.bodyText(Self.request(server, accept: "text/html, */*")) == "news")
        }
    }
}
