// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteCore
import VedetteHTTP

@Suite("Cancellation", .timeLimit(.minutes(10)))
struct CancellationTests {
    @Test("cancelling a live request closes its connection and ends it as cancelled")
    func live() async throws {
        let server = try WireServer { _ in .silence }
        defer { server.close() }
        try await withClient { client in
            let task = Task { await client.failed(Request(url: server.origin)) }
            _ = await server.received(1)
            task.cancel()
            #expect(await task.value?.failure == .cancelled)
            await server.left(1)
        }
    }

    @Test("a request that is cancelled in the queue never starts")
    func queued() async throws {
        let server = try WireServer { request in request.text.contains("/hang") ? .silence : .ok("x") }
        defer { server.close() }
        try await withClient { client in
            let hanging = (0..<8).map { n in Task { await client.failed(Request(url: "\(server.origin)/hang\(n)")) } }
            _ = await server.received(8)
            let queued = Task { await client.failed(Request(url: "\(server.origin)/queued")) }
            queued.cancel()
            #expect(await queued.value?.failure == .cancelled)
            for task in hanging { task.cancel() }
            for task in hanging { _ = await task.value }
            _ = try await client.fetch(Request(url: "\(server.origin)/last"))
            #expect(!server.texts.contains { $0.contains("/queued") })
        }
    }

    @Test("a task that is cancelled before it fetches sends nothing")
    func before() async throws {
        let server = try WireServer { _ in .ok("x") }
        defer { server.close() }
        try await withClient { client in
            let task = Task {
                withUnsafeCurrentTask { $0?.cancel() }
                return await client.failed(Request(url: server.origin))
            }
            #expect(await task.value?.failure == .cancelled)
            _ = try await client.fetch(Request(url: server.origin))
            #expect(server.texts.count == 1)
        }
    }

    @Test("cancelling a finished request does nothing")
    func finished() async throws {
        let server = try WireServer { _ in .ok("x") }
        defer { server.close() }
        try await withClient { client in
            let task = Task { try await client.fetch(Request(url: server.origin)) }
            let response = try await task.value
            task.cancel()
            #expect(response.text == "x")
            #expect(try await client.bodyText(Request(url: server.origin)) == "x")
            #expect(server.connections == 1)
        }
    }

    @Test("shutdown ends all transfers as cancelled, and later ones too")
    func shutdown() async throws {
        let server = try WireServer { _ in .silence }
        defer { server.close() }
        let client = try HTTPClient()
        let tasks = (0..<12).map { n in Task { await client.failed(Request(url: "\(server.origin)/\(n)")) } }
        _ = await server.received(8)
        await client.shutdown()
        for task in tasks { #expect(await task.value?.failure == .cancelled) }
        #expect(await client.failed(Request(url: server.origin))?.failure == .cancelled)
        await client.shutdown()
        #expect(server.texts.count == 8)
    }
}
