// SPDX-License-Identifier: Apache-2.0

import Synchronization
import Testing
import VedetteCore
import VedetteSystem
import VedetteTestSupport

@testable import VedetteHTTP

/// A secret that was rotated: the server takes the new one alone.
private final class Rotated: Sendable {
    private let readings = Mutex(0)

    /// How often the secret was read again.
    var count: Int { readings.withLock { $0 } }

    /// - Parameter fresh: what is read; nil for what it was.
    func secret(_ value: String = "old", _ fresh: String? = "new") -> Secret {
        Secret(value) { [self] in
            readings.withLock { $0 += 1 }
            return fresh
        }
    }
}

extension HTTPClient {
    /// The limits on the time of the requests that run.
    fileprivate var runningTotals: [Duration] {
        transfers.running.values.compactMap { $0.transfer.hop?.request.limits.total }
    }
    fileprivate var isWaiting: Bool { !transfers.waiting.isEmpty }
}

@Suite("Secrets that a server refuses", .timeLimit(.minutes(10)))
struct RefusedSecretTests {
    /// Takes what holds `new` and no more `old`.
    private static func server(_ refusal: String = "401 Unauthorized") throws -> WireServer {
        try WireServer { request in
            request.text.contains("new") ? .ok("[1]", "Content-Type: application/json") : .reply(refusal, "no")
        }
    }

    private static let ways: [(String, @Sendable (inout Request, Secret) -> Void)] = [
        ("bearer", { $0.credentials = .bearer($1) }), ("query", { $0.credentials = .query(name: "key", value: $1) }),
        ("header", { $0.headers = [Header("X-Key", $1)] }),
    ]

    @Test(
        "a request whose secret was refused is sent once more with the one that is read then",
        arguments: ["401 Unauthorized", "403 Forbidden"])
    func renewed(_ refusal: String) async throws {
        for (name, change) in Self.ways {
            let (server, rotated) = (try Self.server(refusal), Rotated())
            defer { server.close() }
            let secret = rotated.secret()
            try await withClient { client async throws in
                for _ in 0..<3 {
                    let response = try await client.fetch(.get(server.url("/x")) { change(&$0, secret) })
                    #expect(response.text == "[1]" && response.secretsVersion == 1, "\(name)")
                }
            }
            #expect(server.requests.count == 4 && rotated.count == 1, "\(name)")
        }
    }

    @Test("a secret that is what it was is not sent twice, and is not read again for each of many refusals")
    func unchanged() async throws {
        let (server, rotated) = (try Self.server(), Rotated())
        defer { server.close() }
        for fresh in ["old", nil] {
            let secret = rotated.secret("old", fresh)
            try await withClient { client async throws in
                for _ in 0..<5 {
                    #expect(try await client.status(.get(server.url()) { $0.credentials = .bearer(secret) }) == 401)
                }
            }
        }
        #expect(server.requests.count == 10 && (2..<10).contains(rotated.count))
    }

    @Test("another secret that is refused too is sent once")
    func twice() async throws {
        let (server, rotated) = (try WireServer(.reply("401 Unauthorized", "")), Rotated())
        defer { server.close() }
        let request = Request.get(server.url()) { [secret = rotated.secret()] in $0.credentials = .bearer(secret) }
        #expect(try await withClient { client in try await client.status(request) } == 401)
        #expect(server.requests.map { $0.header("Authorization") } == [["Bearer old"], ["Bearer new"]])
    }

    @Test("requests that are refused together share one reading")
    func shared() async throws {
        let (server, rotated) = (try Self.server(), Rotated())
        defer { server.close() }
        let request = Request.get(server.url()) { [secret = rotated.secret()] in $0.credentials = .bearer(secret) }
        try await withClient { client async throws in
            try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<20 { group.addTask { try await client.status(request) } }
                for try await status in group { #expect(status == 200) }
            }
        }
        #expect(rotated.count == 1)
    }

    @Test("a request whose method is not safe is sent once; the next one has the new secret")
    func unsafeMethod() async throws {
        let (server, rotated) = (try Self.server(), Rotated())
        defer { server.close() }
        let secret = rotated.secret()
        let request = Request(method: "POST", url: server.url(), body: [], credentials: .bearer(secret))
        try await withClient { client async throws in
            #expect(try await client.status(request) == 401)
            // The reading that the refusal led to.
            _ = await secret.renewed(after: 0, now: BootTime(milliseconds: 0))
            #expect(try await client.status(request) == 200)
        }
        #expect(server.requests.count == 2 && rotated.count == 1)
    }

    @Test(
        "neither another origin's refusal nor one of a sink's request reads a secret again: a sink makes another message"
    )
    func foreign() async throws {
        let other = try WireServer(.reply("401 Unauthorized", ""))
        let there = other.url()
        let (mover, rotated) = (try WireServer(.redirect(302, to: there), at: "127.0.0.2"), Rotated())
        defer { WireServer.close(other, mover) }
        let secret = rotated.secret()
        try await withClient { client async throws in
            #expect(try await client.status(.get(mover.url()) { $0.credentials = .bearer(secret) }) == 401)
            #expect(try await client.status(.delivery(other.url()) { $0.credentials = .bearer(secret) }) == 401)
        }
        #expect(other.requests.map { $0.header("Authorization") } == [[], ["Bearer old"]])
        #expect(mover.requests.count == 1 && rotated.count == 0)
    }

    @Test(
        "I7: the wait for a reading that does not end is over with the time of the request, which is refused",
        .tags(.I7))
    func endlessReading() async throws {
        let server = try WireServer(.reply("401 Unauthorized", ""))
        defer { server.close() }
        let (ends, end) = AsyncStream<Void>.makeStream()
        // As of a file whose server is away.
        let secret = Secret("old") {
            for await _ in ends {}
            return "new"
        }
        let request = Request.get(server.url()) {
            $0.credentials = .bearer(secret)
            $0.limits.total = .seconds(2)
        }
        try await withClient { client async throws in
            let (one, other) = (Task { try await client.status(request) }, Task { try await client.status(request) })
            #expect(try await [one.value, other.value] == [401, 401])
            #expect(secret.value == "old")
            end.finish()
            // It went on for the next request.
            _ = await secret.renewed(after: 0, now: BootTime(milliseconds: 0))
            #expect(secret.value == "new")
        }
        #expect(server.requests.count == 2)
    }

    @Test("the time until a token server refuses a secret is part of the time of the request")
    func elapsed() async throws {
        let rotated = Rotated()
        let issuer = try WireServer { request in
            guard request.body.contains("client_secret=old") else { return .silence }
            // At least a millisecond passes.
            let start = KernelClock.boot.milliseconds
            while KernelClock.boot.milliseconds == start {}
            return .reply("400 Bad", #"{"error":"invalid_client"}"#)
        }
        defer { issuer.close() }
        let grant = ClientGrant(url: issuer.url(), client: "c", secret: rotated.secret(), inBody: true)
        let request = Request.get(issuer.url()) {
            $0.credentials = .grant(grant)
            $0.limits.total = .seconds(30)
        }
        try await withClient { client async throws in
            let waiting = Task { await client.failed(request) }
            _ = await issuer.received(2)
            let totals = await client.runningTotals
            #expect(totals.count == 1 && totals.allSatisfy { $0 < .seconds(30) })
            waiting.cancel()
            #expect(await waiting.value?.failure == .cancelled)
        }
    }

    @Test("the repetition counts against the rate of its host")
    func rate() async throws {
        let (server, rotated) = (try Self.server(), Rotated())
        defer { server.close() }
        let request = Request.get(server.url()) { [secret = rotated.secret()] in
            $0.credentials = .bearer(secret)
            $0.originLimits = OriginLimits(interval: .seconds(3600))
        }
        try await withClient { client async throws in
            let waiting = Task { await client.failed(request) }
            _ = await server.received(1)
            // The repetition, in the queue until its host's interval is over.
            while await !client.isWaiting || rotated.count == 0 { await Task.yield() }
            waiting.cancel()
            #expect(await waiting.value?.failure == .cancelled)
        }
        #expect(server.requests.count == 1 && rotated.count == 1)
    }

    @Test("a stream is opened with the secret that is read after its refusal")
    func stream() async throws {
        let (script, rotated) = (StreamScript(), Rotated())
        let server = try WireServer { request in
            request.text.contains("new")
                ? script.answer("Content-Type: text/event-stream", "Connection: close") : .reply("401 Unauthorized", "")
        }
        defer { server.close() }
        var request = Request(url: server.url(), credentials: .bearer(rotated.secret()), lane: .streams)
        request.stream = StreamSettings()
        try await withClient { [request] client async throws in
            script.send("data: one\n\n")
            let records = try #require(try await client.fetch(request).records)
            #expect(try await records.next()?.records.map { String(decoding: $0.data, as: UTF8.self) } == ["one"])
            records.close()
            script.end()
        }
        #expect(server.requests.count == 2)
    }

    @Test(
        "a client secret that the token server refuses is read again, and the request gets its token in the same fetch")
    func grant() async throws {
        let issuer = try WireServer(at: "127.0.0.2") { request in
            request.body.contains("client_secret=new")
                ? .ok(#"{"access_token":"t1"}"#) : .reply("400 Bad", #"{"error":"invalid_client"}"#)
        }
        let (server, rotated) = (try WireServer(.ok()), Rotated())
        defer { WireServer.close(issuer, server) }
        let grant = ClientGrant(url: issuer.url(), client: "c", secret: rotated.secret(), inBody: true)
        let request = Request.get(server.url()) { $0.credentials = .grant(grant) }
        #expect(try await withClient { client in try await client.status(request) } == 200)
        #expect(issuer.requests.count == 2 && server.requests.count == 1 && rotated.count == 1)
    }

    @Test(
        "a login form that refuses a password gets the one that is read then at once, and the same one no second time")
    func login() async throws {
        let rotated = Rotated()
        let server = try WireServer { request in
            if request.header("Cookie") == ["sid=1"] { return .ok("[1]", "Content-Type: application/json") }
            guard request.method == "POST" else { return .reply("401 Unauthorized", "no") }
            return request.body == "password=new"
                ? .ok("in", "Set-Cookie: sid=1; Path=/") : .reply("401 Unauthorized", "wrong")
        }
        defer { server.close() }
        let form = LoginForm(url: server.url("/login"), fields: [.init("password", .secret(rotated.secret()))])
        try await withClient { client async throws in
            let request = Request.get(server.url("/data")) {
                $0.session = "s"
                $0.login = form
            }
            #expect(try await client.bodyText(request) == "[1]")
        }
        #expect(server.requests.filter { $0.method == "POST" }.map(\.body) == ["password=old", "password=new"])
        #expect(rotated.count == 1)
    }
}
