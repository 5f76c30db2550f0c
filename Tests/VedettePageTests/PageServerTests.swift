// SPDX-License-Identifier: Apache-2.0

import Glibc
import Testing
import VedetteCore
import VedetteSystem
import VedetteTestSupport

@testable import VedettePage

@Suite("The page's server")
struct PageServerTests {
    /// Starts a server on a free port, and stops it when `body` is over.
    private func serving(
        _ routes: [Route], limits: PageLimits = PageLimits(), healthChecks: Set<String> = [],
        abandonable: Set<String> = [],
        _ body: (UInt16) async throws -> Void
    ) async throws {
        let router = Router(routes)
        let server = try await PageServer.start(
            .network(host: "127.0.0.1", port: 0), limits: limits, healthChecks: healthChecks, abandonable: abandonable
        ) {
            await router.respond(to: $0)
        }
        guard case .network(_, let port) = server.address else { return }
        do {
            try await body(port)
        } catch {
            await server.stop()
            throw error
        }
        await server.stop()
    }

    @Test("a request gets its response, over a connection that is kept")
    func requests() async throws {
        try await serving([
            Route(.get, "/hello/{name}") { .text("hello \($0.parameters["name"] ?? "")") },
            Route(.post, "/form") { .text("took \($0.form["x"] ?? "")") },
        ]) { port in
            let text = try await RawClient.exchange(
                port,
                "GET /hello/a%2Fb HTTP/1.1\r\nHost: x\r\n\r\nPOST /form HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n"
                    + "Connection: close\r\n\r\nx=7")
            #expect(text.contains("hello a/b"))
            #expect(text.contains("took 7"))
            #expect(text.components(of: "HTTP/1.1 200 OK") == 2)
        }
    }

    @Test("a response without a change has the length of the one that the client has, and no body")
    func notModified() async throws {
        try await serving([Route(.get, "/") { _ in .text("hello", status: 304) }]) { port in
            let text = try await RawClient.exchange(port, "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            #expect(text.hasPrefix("HTTP/1.1 304 ") && text.contains("\r\nContent-Length: 5\r\n"), "\(text)")
            #expect(text.hasSuffix("\r\n\r\n"), "\(text)")
        }
    }

    @Test("what follows a refused request on its connection is not read as another one")
    func smuggling() async throws {
        try await serving([Route(.get, "/secret") { _ in .text("reached") }]) { port in
            for framing in [
                "Content-Length: 3\r\nTransfer-Encoding: chunked", "Content-Length: 0\r\nContent-Length: 40",
                "Content-Length : 3", "Transfer-Encoding: chunked",
            ] {
                let text = try await RawClient.exchange(
                    port,
                    "POST /form HTTP/1.1\r\nHost: x\r\n\(framing)\r\n\r\nGET /secret HTTP/1.1\r\nHost: x\r\n\r\n")
                #expect(text.hasPrefix("HTTP/1.1 4"), "\(framing): \(text)")
                #expect(!text.contains("reached"), "\(framing)")
            }
        }
    }

    @Test("a client that asks too often is asked to wait")
    func tooOften() async throws {
        var limits = PageLimits()
        (limits.requestBurst, limits.requestsPerSecond) = (2, 0)
        try await serving([Route(.get, "/") { _ in .text("reached") }], limits: limits) { port in
            let request = "GET / HTTP/1.1\r\nHost: x\r\n"
            let text = try await RawClient.exchange(
                port, "\(request)\r\n\(request)\r\n\(request)Connection: close\r\n\r\n")
            #expect(text.components(of: "reached") == 2)
            #expect(text.contains("HTTP/1.1 429") && text.contains("Retry-After: 1"))
        }
    }

    @Test("headers beyond the limit are refused")
    func headers() async throws {
        try await serving([Route(.get, "/") { _ in .text("reached") }]) { port in
            let text = try await RawClient.exchange(
                port, "GET / HTTP/1.1\r\nHost: x\r\nX: \(String(repeating: "a", count: 100_000))\r\n\r\n")
            #expect(!text.contains("reached"))
        }
    }

    @Test("a connection beyond a limit is refused at once and in words, and those before it are served")
    func tooManyConnections() async throws {
        for (inAll, ofAddress, reason) in [
            (100, 200, "100 connections are open"), (200, 100, "100 connections of this address are open"),
        ] {
            var limits = PageLimits()
            (limits.connections, limits.connectionsPerAddress) = (inAll, ofAddress)
            limits.healthChecks = 0
            // On a busy machine a thousand refusals take longer than a connection may stay idle.
            limits.receive = .seconds(3600)
            try await serving([Route(.get, "/") { _ in .text("reached") }], limits: limits) { port in
                let request = "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
                var clients = try (0..<100).map { _ in try RawClient(port) }
                for _ in 0..<1000 {
                    let text = try await RawClient(port).readAll()
                    try #require(text.hasPrefix("HTTP/1.1 503 ") && text.contains(reason))
                }
                for client in clients {
                    try client.send(request)
                    #expect(try await client.readAll().contains("reached"))
                }
                clients = []
                #expect(try await RawClient.exchange(port, request).contains("reached"))
            }
        }
    }

    @Test(
        "a health check is answered while other requests use up every connection, handler and token of the rate"
    )
    func healthChecks() async throws {
        let (began, continuation) = AsyncStream<Void>.makeStream()
        var limits = PageLimits()
        (limits.connections, limits.handlers, limits.queue) = (3, 1, 1)
        (limits.requestBurst, limits.requestsPerSecond) = (2, 0)
        limits.healthChecks = 2
        (limits.receive, limits.healthCheckReceive) = (.seconds(3600), .seconds(3600))
        let routes = [
            Route(.get, "/") { _ in
                continuation.yield()
                await waitForCancellation()
                return .text("late")
            },
            Route(.get, "/healthz") { _ in .text("ok") },
        ]
        try await serving(routes, limits: limits, healthChecks: ["/healthz"]) { port in
            // One is handled, one waits, and one asks too often.
            let others = try (0..<3).map { _ in try RawClient(port) }
            let slow = "GET / HTTP/1.1\r\nHost: x\r\n\r\n"
            try others[0].send(slow)
            for await _ in began { break }
            for other in others[1...] { try other.send(slow) }
            func check(_ method: String) async throws -> String {
                try await RawClient.exchange(port, "\(method) /healthz?x=1 HTTP/1.1\r\nHost: x\r\n\r\n")
            }
            for _ in 0..<3 {
                let text = try await check("GET")
                #expect(text.hasPrefix("HTTP/1.1 200 ") && text.hasSuffix("ok"), "\(text)")
            }
            #expect(try await check("HEAD").hasPrefix("HTTP/1.1 200 "))
            // Such a connection serves nothing else, and one that says nothing gives way to the next.
            let other = try await RawClient.exchange(port, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
            #expect(
                other.hasPrefix("HTTP/1.1 503 ") && other.contains("3 connections are open"), "\(other)")
            #expect(try await check("POST").hasPrefix("HTTP/1.1 503 "))
            let silent = try (0..<5).map { _ in try RawClient(port) }
            #expect(try await silent[0].readAll().contains("3 connections are open"))
            #expect(try await check("GET").hasSuffix("ok"))
            withExtendedLifetime((others, silent)) {}
        }
    }

    @Test("a connection beyond the limits that asks for nothing is closed with the reason")
    func silentHealthCheck() async throws {
        var limits = PageLimits()
        (limits.connections, limits.healthCheckReceive) = (0, .milliseconds(50))
        try await serving([], limits: limits) { port in
            let text = try await RawClient.exchange(port, "")
            #expect(text.hasPrefix("HTTP/1.1 503 ") && text.contains("0 connections are open"), "\(text)")
        }
    }

    @Test("each refusal of the server has the headers of every response, and one sentence")
    func refusals() async throws {
        var limits = PageLimits()
        (limits.handlers, limits.queue, limits.requestBurst, limits.requestsPerSecond) = (0, 0, 1, 0)
        limits.healthChecks = 0
        func isWhole(_ text: String) -> Bool {
            let names = [
                "Content-Security-Policy", "X-Content-Type-Options: nosniff", "Cache-Control: no-store",
            ]
            guard let end = text.firstRange(of: "\r\n\r\n") else { return false }
            let head = String(text[..<end.lowerBound])
            return names.allSatisfy { head.components(of: $0) == 1 }
                && head.contains("Content-Type: text/plain; charset=utf-8")
                && text[end.upperBound...].hasSuffix(".\n")
        }
        try await serving([], limits: limits) { port in
            for (head, status) in [
                ("GET /", "503"), ("GET /", "429"), ("POST /", "411"), ("GET /..", "400"),
                ("DELETE /", "413"),
            ] {
                let rest =
                    switch status {
                    case "411": "Transfer-Encoding: chunked\r\n"
                    case "413": "Content-Length: 99999999\r\n"
                    default: "Connection: close\r\n"
                    }
                let text = try await RawClient.exchange(port, "\(head) HTTP/1.1\r\nHost: x\r\n\(rest)\r\n")
                #expect(text.hasPrefix("HTTP/1.1 \(status) ") && isWhole(text), "\(text)")
            }
        }
        limits.connections = 0
        try await serving([], limits: limits) { port in
            let text = try await RawClient.exchange(port, "")
            #expect(isWhole(text), "\(text)")
        }
    }

    @Test("a client that sends its request too slowly is cut off, and so is one that sends nothing")
    func slowSender() async throws {
        var limits = PageLimits()
        limits.receive = .milliseconds(100)
        try await serving([Route(.get, "/") { _ in .text("reached") }], limits: limits) { port in
            let partial = try await RawClient.exchange(port, "GET / HTTP/1.1\r\nHost: x\r\nX: a")
            let silent = try await RawClient.exchange(port, "")
            #expect(partial == "")
            #expect(silent == "")
        }
    }

    @Test("a client that does not read a stream is cut off, while others are served", .tags(.I7))
    func slowReader() async throws {
        final class Flood: PageStream {
            let ended: AsyncStream<Void>.Continuation

            init(_ ended: AsyncStream<Void>.Continuation) { self.ended = ended }

            deinit { ended.yield() }

            func next() async -> [UInt8]? { [UInt8](repeating: 65, count: 65_536) }
        }
        let (ends, continuation) = AsyncStream<Void>.makeStream()
        var limits = PageLimits()
        limits.send = .milliseconds(100)
        let routes = [
            Route(.get, "/flood") { _ in
                PageResponse(contentType: "text/plain", body: .stream(Flood(continuation)))
            },
            Route(.get, "/") { _ in .text("reached") },
        ]
        try await serving(routes, limits: limits) { port in
            let slow = try RawClient(port)
            try slow.send("GET /flood HTTP/1.1\r\nHost: x\r\n\r\n")
            for await _ in ends { break }
            let text = try await RawClient.exchange(port, "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            #expect(text.contains("reached"))
            // What the system had taken comes, and then the end.
            let taken = try await slow.readAll()
            #expect(taken.hasPrefix("HTTP/1.1 200"))
        }
    }

    @Test("responses that clients do not read take a bounded memory: others must wait, except health checks")
    func unreadResponses() async throws {
        var limits = PageLimits()
        limits.responses = 1 << 20
        limits.send = .seconds(3600)
        // More than the system takes for a client that reads nothing.
        let length = 32 << 20
        let routes = [
            Route(.get, "/long") { _ in .text(String(repeating: "a", count: length)) },
            Route(.get, "/") { _ in .text("reached") },
            Route(.get, "/healthz") { _ in .text("ok") },
        ]
        try await serving(routes, limits: limits, healthChecks: ["/healthz"]) { port in
            func ask(_ path: String) async throws -> String {
                try await RawClient.exchange(port, "GET \(path) HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            }
            let slow = try RawClient(port)
            try slow.send("GET /long HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            let first = try await slow.readSome()
            #expect(first.hasPrefix("HTTP/1.1 200 "))
            let refused = try await ask("/")
            #expect(refused.hasPrefix("HTTP/1.1 503 ") && refused.contains("Retry-After: 5"), "\(refused)")
            #expect(try await ask("/healthz").hasSuffix("ok"))
            let rest = try await slow.readAll()
            #expect(first.utf8.count + rest.utf8.count > length)
            #expect(try await ask("/").hasSuffix("reached"))
        }
    }

    @Test("a handler that takes too long is answered for, and its task cancelled")
    func slowHandler() async throws {
        let (cancelled, continuation) = AsyncStream<Void>.makeStream()
        var limits = PageLimits()
        limits.handle = .milliseconds(100)
        let routes = [
            Route(.get, "/") { _ in
                await waitForCancellation()
                continuation.yield()
                return .text("late")
            }
        ]
        try await serving(routes, limits: limits) { port in
            let text = try await RawClient.exchange(port, "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            #expect(text.hasPrefix("HTTP/1.1 503"))
            for await _ in cancelled { break }
        }
    }

    @Test("a handler of a path that is named so is cancelled when its client closes the connection; others go on")
    func goneClient() async throws {
        let (cancelled, cancellation) = AsyncStream<String>.makeStream()
        let (began, beginning) = AsyncStream<Void>.makeStream()
        let routes = ["/try", "/other"].map { path in
            Route(.post, path) { _ in
                beginning.yield()
                await waitForCancellation()
                cancellation.yield(path)
                return .text("late")
            }
        }
        try await serving(routes, abandonable: ["/try"]) { port in
            func request(_ path: String) -> String { "POST \(path) HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n" }
            var other: RawClient? = try RawClient(port)
            try other?.send(request("/other"))
            for await _ in began { break }
            other = nil
            var client: RawClient? = try RawClient(port)
            try client?.send(request("/try?x=1"))
            for await _ in began { break }
            client = nil
            for await path in cancelled {
                #expect(path == "/try")
                break
            }
        }
    }

    @Test("the server ends while a handler and a stream wait, and its port is free at once")
    func stop() async throws {
        struct Silence: PageStream {
            func next() async -> [UInt8]? {
                await waitForCancellation()
                return nil
            }
        }
        let (began, continuation) = AsyncStream<Void>.makeStream()
        let router = Router([
            Route(.get, "/handler") { _ in
                continuation.yield()
                await waitForCancellation()
                return .text("late")
            },
            Route(.get, "/stream") { _ in
                continuation.yield()
                return PageResponse(contentType: "text/plain", body: .stream(Silence()))
            },
        ])
        let server = try await PageServer.start(.network(host: "127.0.0.1", port: 0)) { await router.respond(to: $0) }
        guard case .network(_, let port) = server.address else { return }
        let clients = [try RawClient(port), try RawClient(port)]
        try clients[0].send("GET /handler HTTP/1.1\r\nHost: x\r\n\r\n")
        try clients[1].send("GET /stream HTTP/1.1\r\nHost: x\r\n\r\n")
        var count = 0
        for await _ in began {
            count += 1
            if count == 2 { break }
        }
        await server.stop()
        await server.stop()
        let again = try await PageServer.start(server.address) { await router.respond(to: $0) }
        await again.stop()
        _ = clients
    }

    @Test("a Unix socket is private, replaces a stale one, and never another file or a living one")
    func unixSocket() async throws {
        // The path of a socket has at most 107 bytes (unix(7)).
        let place = getenv("TMPDIR").map { String(cString: $0) }.flatMap { $0.utf8.count <= 70 ? $0 : nil } ?? "/tmp"
        var template = Array("\(place)/vedette-page-XXXXXX\0".utf8CString)
        let folder = try #require(mkdtemp(&template).map { String(cString: $0) })
        defer { rmdir(folder) }
        let path = "\(folder)/page.sock"
        let server = try await PageServer.start(.unix(path: path)) { _ in .text("hello") }
        var status = stat()
        #expect(lstat(path, &status) == 0)
        #expect(status.st_mode & 0o777 == 0o600)
        await #expect(throws: ListenError.self) { try await PageServer.start(.unix(path: path)) { _ in .text("") } }
        await server.stop()
        #expect(lstat(path, &status) != 0)
        // As after a crash: bound, and nobody listens.
        let stale = try ListenSocket.open(.unix(path: path))
        Glibc.close(stale.descriptor)
        let next = try await PageServer.start(.unix(path: path)) { _ in .text("hello") }
        await next.stop()
        let file = try #require(fopen(path, "w"))
        fclose(file)
        await #expect(throws: ListenError.self) { try await PageServer.start(.unix(path: path)) { _ in .text("") } }
        unlink(path)
    }

    @Test("an address that is in use is an error that names it")
    func inUse() async throws {
        let server = try await PageServer.start(.network(host: "127.0.0.1", port: 0)) { _ in .text("") }
        let error = await #expect(throws: ListenError.self) {
            try await PageServer.start(server.address) { _ in .text("") }
        }
        #expect(error?.address == server.address)
        #expect(error?.detail == "failed to listen: Address already in use")
        await server.stop()
    }
}

private func waitForCancellation() async {
    let (stream, continuation) = AsyncStream<Void>.makeStream()
    for await _ in stream {}
    withExtendedLifetime(continuation) {}
}

extension String {
    /// How often a text occurs.
    fileprivate func components(of text: String) -> Int {
        var (count, rest) = (0, self[...])
        while let range = rest.firstRange(of: text) { (count, rest) = (count + 1, rest[range.upperBound...]) }
        return count
    }
}

/// A socket that sends exactly the bytes of a test.
final class RawClient: Sendable {
    struct Failure: Error { let code = errno }

    private let descriptor: Int32

    init(_ port: UInt16) throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var name = sockaddr_in()
        (name.sin_family, name.sin_port) = (sa_family_t(AF_INET), port.bigEndian)
        name.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        // A test that fails ends.
        var limit = timeval(tv_sec: 20, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        let result = withUnsafePointer(to: &name) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard result == 0 else { throw Failure() }
    }

    deinit { close(descriptor) }

    func send(_ text: String) throws {
        guard Glibc.send(descriptor, text, text.utf8.count, Int32(MSG_NOSIGNAL)) == text.utf8.count else {
            throw Failure()
        }
    }

    /// Reads what has come, and waits for that.
    func readSome() async throws -> String {
        try await SystemThread.run { [descriptor] in
            var buffer = [UInt8](repeating: 0, count: 4096)
            let count = recv(descriptor, &buffer, buffer.count, 0)
            return String(decoding: buffer.prefix(max(0, count)), as: UTF8.self)
        }
    }

    /// Reads until the server closes the connection.
    func readAll() async throws -> String {
        try await SystemThread.run { [descriptor] in
            var (bytes, buffer) = ([UInt8](), [UInt8](repeating: 0, count: 65_536))
            while true {
                let count = recv(descriptor, &buffer, buffer.count, 0)
                guard count > 0 else { return String(decoding: bytes, as: UTF8.self) }
                bytes += buffer.prefix(count)
            }
        }
    }

    /// Sends a text and reads until the server closes the connection.
    static func exchange(_ port: UInt16, _ text: String) async throws -> String {
        let client = try RawClient(port)
        // The server may close before it has read everything.
        try? client.send(text)
        return try await client.readAll()
    }
}
