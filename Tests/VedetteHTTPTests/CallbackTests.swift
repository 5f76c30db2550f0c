// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteCore
@testable import VedetteHTTP

/// Sends requests on the client's thread, as the watcher does.
private actor Caller {
    private let client: HTTPClient

    nonisolated var unownedExecutor: UnownedSerialExecutor { client.loop.asUnownedSerialExecutor() }

    init(_ client: HTTPClient) { self.client = client }

    func send(_ request: Request, _ ended: @escaping @Sendable (FirstAnswer) -> Void) -> SentRequestID? {
        client.send(request, ended: ended)
    }

    /// Returns how a request ended; nil for one that was not sent.
    func answer(to request: Request) async -> FirstAnswer? {
        await withCheckedContinuation { continuation in
            let id = client.send(request) { continuation.resume(returning: $0) }
            if id == nil { continuation.resume(returning: nil) }
        }
    }
}

extension FirstAnswer {
    fileprivate var unchanged: Response? { if case .unchanged(let response) = self { response } else { nil } }
    fileprivate var pending: (any PendingResponse)? { if case .other(let pending) = self { pending } else { nil } }

    /// How the rest of the fetch failed; a response is a failed test.
    fileprivate func failure(_ location: SourceLocation = #_sourceLocation) async -> Failure? {
        guard let pending else {
            Issue.record("unchanged", sourceLocation: location)
            return nil
        }
        do throws(FetchError) {
            let response = try await pending.response()
            Issue.record("answered \(response.status)", sourceLocation: location)
            return nil
        } catch {
            return error.failure
        }
    }
}

@Suite("Requests without a task", .timeLimit(.minutes(10)))
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
            let byValidators = try #require(
                await caller.answer(to: .get(server.url("/304")) { $0.validators = Validators(etag: "\"1\"") }))
            #expect(byValidators.unchanged?.status == 304)
            let byDigest = try #require(
                await caller.answer(to: .get(server.url()) { $0.knownDigest = StableHash.of(Array("same".utf8)) }))
            let response = try #require(byDigest.unchanged)
            #expect(response.status == 200 && response.body.isEmpty && response.headers["X-A"] == "1")
            #expect(response.isFromPrivate && response.received == 4)
        }
    }

    @Test("any other response is finished as a fetch does it: a body, an error's status, a redirect")
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
                let pending = try #require(await caller.answer(to: request)?.pending)
                let (response, fetched) = (try await pending.response(), try await client.fetch(request))
                #expect(response.text == fetched.text && response.status == fetched.status)
                #expect(response.url == fetched.url && response.movedTo == fetched.movedTo)
                // A body has one holder, so it is given once.
                await #expect(throws: FetchError.self) { _ = try await pending.response() }
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
            #expect(await Caller(client).answer(to: request)?.unchanged?.status == 200)
            _ = try await client.fetch(request)
        }
        #expect(server.requests.map { $0.header("cookie") } == [[], ["a=1"]])
    }

    @Test("a request that must wait for something first is left to fetch")
    func refused() async throws {
        let changes: [@Sendable (inout Request) -> Void] = [
            { $0.login = LoginForm(url: "http://127.0.0.1:9/login", fields: []) },
            { $0.handshake = SessionHandshake(header: "X", status: 409) },
            { ($0.session, $0.cookies) = ("s", .journal) }, { $0.stream = StreamSettings() },
            { $0.credentials = .grant(ClientGrant(url: "http://127.0.0.1:9/token", client: "c", secret: Secret("s"))) },
            { $0.url = "file:///etc/hosts" }, { $0.headers = [Header("A", "1\r\nB: 2")] },
        ]
        try await withClient { client async throws in
            let caller = Caller(client)
            for (n, change) in changes.enumerated() {
                #expect(await caller.answer(to: .get("http://127.0.0.1:9/", change)) == nil, "\(n)")
            }
        }
    }

    @Test("a request that is cancelled, in flight or in the queue, ends once as cancelled, and its place is free")
    func cancelled() async throws {
        let server = try WireServer { $0.target == "/hang" ? .silence : .ok() }
        defer { server.close() }
        try await withClient { client async throws in
            let caller = Caller(client)
            let (answers, continuation) = AsyncStream.makeStream(of: FirstAnswer.self)
            var sent: [SentRequestID] = []
            // Eight of one origin are in flight, the others wait.
            for _ in 0..<12 {
                sent.append(
                    try #require(
                        await caller.send(.get(server.url("/hang"))) { continuation.yield($0) }))
            }
            _ = await server.received(8)
            for id in sent.reversed() { await client.cancel(id) }
            var ended = 0
            for await answer in answers {
                #expect(await answer.failure() == .cancelled)
                ended += 1
                if ended == 12 { break }
            }
            for id in sent { await client.cancel(id) }
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
        #expect(await answer?.failure() == .cancelled)
        #expect(await caller.answer(to: .get(server.url())) == nil)
    }
}
