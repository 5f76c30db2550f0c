// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteCore
import VedetteTestSupport
@testable import VedetteHTTP

/// Sends requests on the client's thread, as the watcher does.
private actor Caller {
    private let client: HTTPClient

    nonisolated var unownedExecutor: UnownedSerialExecutor { client.loop.asUnownedSerialExecutor() }

    init(_ client: HTTPClient) { self.client = client }

    func start(
        _ request: Request, _ ended: @escaping @Sendable (Result<Response, FetchError>) -> Void
    ) -> any FetchHandle {
        client.start(request, ended: ended)
    }

    /// Whether the client has no request any more when its thread takes the job that follows `end`.
    func isIdle(after end: @Sendable () -> Void) async -> Bool {
        end()
        return await Task(executorPreference: client.loop) { [client] in await client.isIdle }.value
    }

    /// Returns how a request ended, which a call back on another thread would not.
    func answer(to request: Request) async -> Result<Response, FetchError> {
        await withCheckedContinuation { continuation in
            _ = client.start(request) { answer in
                self.assumeIsolated { _ in continuation.resume(returning: answer) }
            }
        }
    }
}

extension HTTPClient {
    fileprivate var isIdle: Bool { transfers.running.isEmpty && transfers.waiting.isEmpty }
}

extension Result where Success == Response, Failure == FetchError {
    fileprivate var failure: VedetteCore.Failure? { if case .failure(let error) = self { error.failure } else { nil } }
}

@Suite("Requests that call back", .timeLimit(.minutes(10)))
struct CallbackTests {
    @Test("an unchanged response is handed over at once: by its validators, and by the digest of its body")
    func unchanged() async throws {
        let server = try WireServer { request in
            guard request.target == "/304" else { return .ok("same", "X-A: 1") }
            return request.header("if-none-match") == ["\"1\""] ? .reply("304 Not Modified", "") : .ok("wrong")
        }
        defer { server.close() }
        try await withClient { client async throws in
            let caller = Caller(client)
            let byValidators = try await caller.answer(
                to: .get(server.url("/304")) { $0.validators = Validators(etag: "\"1\"") }
            ).get()
            #expect(byValidators.status == 304 && byValidators.isUnchanged)
            let response = try await caller.answer(
                to: .get(server.url()) { $0.knownDigest = StableHash.of(Array("same".utf8)) }
            ).get()
            #expect(
                response.isUnchanged && response.status == 200 && response.body.isEmpty
                    && response.headers["X-A"] == "1")
            #expect(response.isFromPrivate && response.received == 4)
        }
    }

    @Test(
        "I7: what is cancelled or closed ends on the client's thread, and waits for no thread of the pool", .tags(.I7))
    func endsOnLoop() async throws {
        let script = StreamScript()
        let server = try WireServer { request in
            request.target == "/stream"
                ? script.answer("Content-Type: text/event-stream", "Connection: close") : .silence
        }
        defer { server.close() }
        try await withClient { client async throws in
            let caller = Caller(client)
            let queued = await caller.start(.get(server.url())) { _ in }
            _ = await server.received(1)
            #expect(await caller.isIdle { queued.cancel() })
            let awaited = client.start(.get(server.url())) { _ in }
            _ = await server.received(2)
            #expect(await caller.isIdle { awaited.cancel() })
            script.send("data: one\n\n")
            var request = Request(url: server.url("/stream"), lane: .streams)
            request.stream = StreamSettings()
            let records = try #require(try await client.fetch(request).records)
            #expect(await caller.isIdle { records.close() })
            script.end()
        }
    }

    @Test("a secret that the server refuses is read again, and the request is sent once more with it")
    func refusedSecret() async throws {
        let server = try WireServer { request in
            request.header("Authorization") == ["Bearer new"] ? .ok("right") : .reply("401 Unauthorized", "")
        }
        defer { server.close() }
        let secret = Secret("old") { "new" }
        try await withClient { client async throws in
            let request = Request.get(server.url()) { $0.credentials = .bearer(secret) }
            let response = try await Caller(client).answer(to: request).get()
            #expect(response.status == 200 && response.text == "right")
        }
        #expect(server.requests.count == 2)
    }

    @Test("a response that calls back is the one that a fetch returns: a body, an error's status, a redirect")
    func others() async throws {
        let server = try WireServer { request in
            switch request.target {
            case "/moved": .redirect(301, to: "/")
            case "/missing": .reply("404 Not Found", "no")
            default: .ok("new")
            }
        }
        defer { server.close() }
        try await withClient { client async throws in
            let caller = Caller(client)
            for path in ["/", "/moved", "/missing"] {
                let request = Request.get(server.url(path)) { $0.knownDigest = 1 }
                let response = try await caller.answer(to: request).get()
                let fetched = try await client.fetch(request)
                #expect(response.text == fetched.text && response.status == fetched.status)
                #expect(response.url == fetched.url && response.movedTo == fetched.movedTo)
            }
        }
    }

    @Test("the cookie of an unchanged response is kept, and sent with the next request")
    func cookies() async throws {
        let server = try WireServer { _ in .ok("same", "Set-Cookie: a=1") }
        defer { server.close() }
        try await withClient { client async throws in
            let request = Request.get(server.url()) {
                ($0.session, $0.knownDigest) = ("s", StableHash.of(Array("same".utf8)))
            }
            #expect(try await Caller(client).answer(to: request).get().status == 200)
            _ = try await client.fetch(request)
        }
        #expect(server.requests.map { $0.header("cookie") } == [[], ["a=1"]])
    }

    @Test("a request that must wait for something first, or cannot be sent, calls back later, too")
    func prepared() async throws {
        let changes: [(@Sendable (inout Request) -> Void, Failure)] = [
            ({ $0.login = LoginForm(url: "http://127.0.0.1:9/login", fields: []) }, .refused),
            ({ $0.handshake = SessionHandshake(header: "X", status: 409) }, .refused),
            ({ $0.tokenLogin = TokenLogin(url: "http://127.0.0.1:9/login") }, .refused),
            ({ ($0.session, $0.cookies) = ("s", .journal) }, .refused), ({ $0.stream = StreamSettings() }, .refused),
            (
                {
                    $0.credentials = .grant(
                        ClientGrant(url: "http://127.0.0.1:9/token", client: "c", secret: Secret("s")))
                },
                .refused
            ),
            ({ $0.url = "file:///etc/hosts" }, .configuration),
            ({ $0.headers = [Header("A", "1\r\nB: 2")] }, .configuration),
        ]
        try await withClient { client async throws in
            let caller = Caller(client)
            for (n, (change, failure)) in changes.enumerated() {
                #expect(await caller.answer(to: .get("http://127.0.0.1:9/", change)).failure == failure, "\(n)")
            }
        }
    }

    @Test("a request that is cancelled, in flight or in the queue, ends once as cancelled, and its place is free")
    func cancelled() async throws {
        let server = try WireServer { $0.target == "/hang" ? .silence : .ok() }
        defer { server.close() }
        try await withClient { client async throws in
            let caller = Caller(client)
            let (answers, continuation) = AsyncStream.makeStream(of: Result<Response, FetchError>.self)
            var sent: [any FetchHandle] = []
            // Eight of one origin are in flight, the others wait.
            for _ in 0..<12 {
                sent.append(await caller.start(.get(server.url("/hang"))) { continuation.yield($0) })
            }
            _ = await server.received(8)
            for handle in sent.reversed() { handle.cancel() }
            var ended = 0
            for await answer in answers {
                #expect(answer.failure == .cancelled)
                ended += 1
                if ended == 12 { break }
            }
            for handle in sent { handle.cancel() }
            #expect(try await client.bodyText(.get(server.url())) == "ok")
        }
    }

    @Test("a client that shuts down calls back for each request, and takes no other")
    func shutdown() async throws {
        let server = try WireServer(.silence)
        defer { server.close() }
        let client = try HTTPClient()
        let caller = Caller(client)
        async let answer = caller.answer(to: .get(server.url()))
        _ = await server.received(1)
        await client.shutdown()
        #expect(await answer.failure == .cancelled)
        #expect(await caller.answer(to: .get(server.url())).failure == .cancelled)
    }
}
