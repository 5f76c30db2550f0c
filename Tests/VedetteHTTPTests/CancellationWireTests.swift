// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteCore
import VedetteTestSupport

@testable import VedetteHTTP

@Suite("cancellation and shutdown")
struct CancellationWireTests {
    @Test("a live request ends at once, its connection closes, and the next one works")
    func live() async throws {
        let server = try WireServer { $0.target == "/hang" ? .silence : .ok() }
        defer { server.close() }
        try await withClient { client async throws in
            for n in 1...5 {
                let task = Task { await client.failed(.get(server.url("/hang"))) }
                _ = await server.received(2 * n - 1)
                task.cancel()
                #expect(await task.value?.failure == .cancelled)
                await server.left(n)
                #expect(try await client.bodyText(.get(server.url())) == "ok")
            }
        }
    }

    @Test("a cancelled request in the queue ends at once and is never sent; the others start in turn")
    func queued() async throws {
        let server = try WireServer { $0.target == "/hang" ? .silence : .ok() }
        defer { server.close() }
        try await withClient { client async throws in
            let live = (0..<8).map { _ in Task { await client.failed(.get(server.url("/hang"))) } }
            _ = await server.received(8)
            let queued = (0..<20).map { n in Task { await client.failed(.get(server.url("/queued\(n)"))) } }
            while await client.queueLength < 20 { await Task.yield() }
            let patient = Task { try await client.bodyText(.get(server.url("/patient"))) }
            for task in queued { task.cancel() }
            for task in queued { #expect(await task.value?.failure == .cancelled) }
            live[3].cancel()
            #expect(try await patient.value == "ok")
            for task in live { task.cancel() }
            for task in live { #expect(await task.value?.failure == .cancelled) }
            // All eight slots are free again.
            let again = (0..<8).map { _ in Task { await client.failed(.get(server.url("/hang"))) } }
            _ = await server.received(17)
            for task in again { task.cancel() }
            for task in again { _ = await task.value }
        }
        #expect(!server.requests.contains { $0.target.hasPrefix("/queued") })
    }

    @Test("a cancelled task sends nothing; cancelling a finished request does nothing")
    func beforeAndAfter() async throws {
        let server = try WireServer(.ok())
        defer { server.close() }
        try await withClient { client async throws in
            let early = Task {
                withUnsafeCurrentTask { $0?.cancel() }
                return await client.failed(.get(server.url("/early")))
            }
            #expect(await early.value?.failure == .cancelled)
            let done = Task { try await client.bodyText(.get(server.url())) }
            #expect(try await done.value == "ok")
            done.cancel()
            #expect(try await client.bodyText(.get(server.url())) == "ok")
        }
        #expect(server.requests.count == 2)
    }

    @Test("whatever the moment of a cancellation, each request ends once: as cancelled or with its answer")
    func storm() async throws {
        let server = try WireServer(.ok())
        defer { server.close() }
        try await withClient { client async throws in
            var random = SplitMix64(7)
            var tasks: [Task<Int?, Never>] = []
            for _ in 0..<600 {
                let task = Task { try? await client.fetch(.get(server.url())).status }
                tasks.append(task)
                if random.below(2) == 0 { tasks[random.below(tasks.count)].cancel() }
                if random.below(4) == 0 { _ = await tasks[random.below(tasks.count)].value }
            }
            for task in tasks {
                let status = await task.value
                #expect(status == 200 || (status == nil && task.isCancelled))
            }
            #expect(try await client.bodyText(.get(server.url())) == "ok")
        }
    }

    @Test(
        "whatever the moment of a shutdown, each request ends once: as cancelled or with its answer", arguments: 0..<10)
    func shutdownStorm(_ round: Int) async throws {
        let server = try WireServer { $0.target == "/again" ? .ok() : .redirect(302, to: "/again") }
        defer { server.close() }
        let client = try HTTPClient()
        var tasks: [Task<FetchError?, Never>] = []
        func start() {
            tasks.append(
                Task {
                    do throws(FetchError) {
                        return try await client.fetch(.get(server.url())).status == 200
                            ? nil : FetchError(.protocol, "")
                    } catch {
                        return error
                    }
                })
        }
        for _ in 0..<(round * 4) { start() }
        if round % 2 == 1 { _ = await tasks[0].value }
        let shutdown = Task { await client.shutdown() }
        for _ in 0..<20 { start() }
        await shutdown.value
        for task in tasks {
            let error = await task.value
            #expect(error == nil || error?.failure == .cancelled)
        }
    }

    @Test("shutdown cancels running and queued requests, closes the connections, and cancels later requests")
    func shutdown() async throws {
        let server = try WireServer { $0.target == "/hang" ? .silence : .ok() }
        defer { server.close() }
        let client = try HTTPClient()
        #expect(try await client.bodyText(.get(server.url())) == "ok")
        let tasks = (0..<50).map { _ in Task { await client.failed(.get(server.url("/hang"))) } }
        _ = await server.received(9)
        await client.shutdown()
        for task in tasks { #expect(await task.value?.failure == .cancelled) }
        await server.left(server.connections)
        #expect(await client.failed(.get(server.url("/late")))?.failure == .cancelled)
        await client.shutdown()
        #expect(await client.failed(.get(server.url("/later")))?.failure == .cancelled)
        #expect(!server.requests.contains { $0.target.hasPrefix("/late") })
    }

    @Test("a client without references is deallocated after shutdown")
    func gone() async throws {
        weak var left: HTTPClient?
        do {
            let server = try WireServer(.ok())
            defer { server.close() }
            let client = try HTTPClient()
            left = client
            _ = try await client.fetch(.get(server.url()))
            await client.shutdown()
        }
        // The thread releases the client after its last job.
        while left != nil { await Task.yield() }
    }

    @Test("no wake-up is lost between the loop's thread and the others")
    func wakeUps() async throws {
        try await withClient { client async throws in
            let counter = Counter(client.executor)
            await withTaskGroup { group in
                for _ in 0..<8 { group.addTask { for _ in 0..<2000 { await counter.add() } } }
            }
            #expect(await counter.count == 16_000)
        }
    }

    @Test("jobs that enqueue further jobs without end delay neither other jobs nor a transfer")
    func restless() async throws {
        let server = try WireServer(.ok())
        defer { server.close() }
        try await withClient { client async throws in
            let counter = Counter(client.executor)
            await counter.goOn()
            _ = try await client.fetch(.get(server.url()))
            #expect(await counter.count < Counter.most)
            await counter.stop()
        }
    }

    @Test("an actor can share the thread, also after shutdown")
    func shared() async throws {
        let client = try HTTPClient()
        let counter = Counter(client.executor)
        await counter.add()
        await client.shutdown()
        await counter.add()
        #expect(await counter.count == 2)
    }

    @Test("code on another thread cannot assume the client's isolation")
    func isolation() async throws {
        await #expect(processExitsWith: .failure) {
            let client = try HTTPClient()
            assumeTheLoop(client)
        }
    }
}

extension HTTPClient {
    fileprivate var queueLength: Int { transfers.waiting.count }
}

private actor Counter {
    static let most = 1_000_000

    private let executor: any SerialExecutor
    private(set) var count = 0
    private var isStopped = false

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    init(_ executor: any SerialExecutor) { self.executor = executor }

    func add() { count += 1 }

    func stop() { isStopped = true }

    /// Each job enqueues the next one, on the same thread.
    func goOn() {
        guard !isStopped, count < Counter.most else { return }
        count += 1
        Task { self.goOn() }
    }
}

private func assumeTheLoop(_ client: HTTPClient) { client.assumeIsolated { _ in } }
