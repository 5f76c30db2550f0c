// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteCore
import VedetteHTTP
import VedetteTestSupport

@Suite("Broken servers", .timeLimit(.minutes(10)))
struct FaultTests {
    struct Case: Sendable, CustomTestStringConvertible {
        var path: String
        var failure: Failure
        var limits = FetchLimits()

        var testDescription: String { path }
    }

    private static let short = FetchLimits.with {
        $0.received = 100_000
        $0.inflated = 2 << 20
        $0.headers = 10_000
        $0.firstByte = .milliseconds(300)
        $0.lowSpeed = .milliseconds(500)
    }

    static let cases: [Case] = [
        Case(path: "/cut/length", failure: .truncated), Case(path: "/cut/chunked", failure: .truncated),
        Case(path: "/cut/gzip", failure: .truncated), Case(path: "/cut/gzip?bytes=1", failure: .truncated),
        Case(path: "/badgzip", failure: .encoding),
        Case(path: "/two-lengths", failure: .protocol), Case(path: "/cl-te", failure: .protocol),
        Case(path: "/garbage", failure: .protocol),
        Case(path: "/close", failure: .closed), Case(path: "/reset", failure: .closed),
        Case(path: "/redirect/loop", failure: .redirect), Case(path: "/redirect/n?n=6", failure: .redirect),
        Case(path: "/big?bytes=1000000000", failure: .tooLarge, limits: short),
        Case(path: "/big?bytes=1000000000&length=0", failure: .tooLarge, limits: short),
        Case(path: "/endless", failure: .tooLarge, limits: short),
        Case(path: "/gzipbomb?mb=20", failure: .tooLarge, limits: short),
        Case(path: "/headers?kb=100", failure: .tooLarge, limits: short),
        Case(path: "/manyheaders", failure: .tooLarge, limits: short),
        Case(path: "/hang", failure: .timeout, limits: short),
        Case(path: "/drip?bytes_per_s=10", failure: .timeout, limits: short),
        Case(path: "/drip?bytes_per_s=1000", failure: .timeout, limits: .with { $0.total = .milliseconds(400) }),
    ]

    @Test("each kind of wrong response has its own failure", arguments: cases)
    func fault(_ wrong: Case) async throws {
        let lab = try await Lab.sound.value
        try await withClient { client in
            let error = await client.failed(Request(url: lab.faults + wrong.path, limits: wrong.limits))
            #expect(error?.failure == wrong.failure, "\(error?.detail ?? "")")
            #expect(error?.timedOut == (wrong.path == "/hang"))
            #expect(error?.detail.contains(wrong.path) == false)
            // The client still works.
            _ = try await client.fetch(Request(url: lab.faults + "/json?n=1"))
        }
    }

    @Test("each deadline has its own error text")
    func deadlines() async throws {
        let lab = try await Lab.sound.value
        let silent = try WireServer { _ in .silence }
        defer { silent.close() }
        try await withClient { client in
            func expect(_ url: String, _ limits: FetchLimits, _ words: String) async {
                let detail = await client.failed(Request(url: url, limits: limits))?.detail ?? ""
                #expect(detail.contains(words))
            }
            let patient = Task { await client.failed(Request(url: silent.origin)) }
            // A missing TLS handshake counts as time to connect.
            await expect(
                silent.origin.replacing("http:", with: "https:"), .with { $0.connect = .milliseconds(200) },
                "accepted no connection in 0.2")
            await expect(lab.faults + "/hang", Self.short, "did not begin to answer in 0.3")
            await expect(lab.faults + "/drip?bytes_per_s=10", Self.short, "less than 64 bytes a second")
            let total = FetchLimits.with { $0.total = .milliseconds(300) }
            await expect(lab.faults + "/drip?bytes_per_s=1000", total, "did not finish in 0.3")
            // A request with a longer deadline still waits.
            patient.cancel()
            #expect(await patient.value?.failure == .cancelled)
        }
    }

    @Test(
        "a body is the same in every encoding",
        arguments: [
            "/json?n=3", "/chunked?n=3", "/gzip?n=3", "/gzip?n=3&members=3", "/gzip?n=3&trailing=5", "/deflate?n=3",
            "/deflate?n=3&raw=1",
        ])
    func packings(path: String) async throws {
        let lab = try await Lab.sound.value
        try await withClient { client in
            let plain = try await client.body(Request(url: lab.faults + "/json?n=3"))
            #expect(try await client.body(Request(url: lab.faults + path)) == plain)
        }
    }

    @Test("nobody listens, no such name: refused and resolve")
    func unreachable() async throws {
        let server = try WireServer { _ in .silence }
        server.close()
        try await withClient { client in
            let refused = await client.failed(Request(url: server.origin + "/s3cret?token=s3cret"))
            #expect(refused?.failure == .refused && refused?.detail.contains("s3cret") == false)
            #expect(await client.failed(Request(url: "http://no-such-name.invalid/"))?.failure == .resolve)
        }
    }

    @Test("a host without a route is a failure of the network, not refused")
    func noRoute() async throws {
        // A broadcast address accepts no connection (tcp(7)).
        try await withClient { client in
            let error = await client.failed(Request(url: "http://127.255.255.255:9/s3cret"))
            #expect(error?.failure == .network && error?.detail == "there is no route to http://127.255.255.255:9")
        }
    }

    @Test("72 requests to hosts that hang delay no healthy one", .tags(.I7))
    func lanes() async throws {
        let hanging = try (1...9).map { try WireServer(at: "127.0.0.\($0)") { _ in .silence } }
        let healthy = try WireServer { _ in .ok("well") }
        defer {
            healthy.close()
            for server in hanging { server.close() }
        }
        try await withClient { client in
            let stuck = hanging.flatMap { server in
                (0..<8).map { n in Task { await client.failed(Request(url: "\(server.origin)/\(n)")) } }
            }
            for server in hanging.prefix(8) { _ = await server.received(8) }
            for lane in [Lane.polls, .slowHosts] {
                _ = try await client.fetch(Request(url: healthy.origin, lane: lane))
            }
            #expect(healthy.texts.count == 2)
            for task in stuck { task.cancel() }
            for task in stuck { #expect(await task.value?.failure == .cancelled) }
        }
    }

    @Test("at most eight connections to an origin and four of a group")
    func caps() async throws {
        let server = try WireServer { _ in .silence }
        defer { server.close() }
        try await withClient { client in
            let sinks = (0..<9).map { n in
                Task { await client.failed(Request(url: "\(server.origin)/s\(n)", lane: .deliveries, group: "sink")) }
            }
            _ = await server.received(4)
            let polls = (0..<9).map { n in Task { await client.failed(Request(url: "\(server.origin)/p\(n)")) } }
            _ = await server.received(8)
            #expect(server.texts.filter { $0.hasPrefix("GET /s") }.count == 4)
            for task in sinks + polls { task.cancel() }
            for task in sinks + polls { _ = await task.value }
            #expect(server.texts.count >= 8)
        }
    }
}
