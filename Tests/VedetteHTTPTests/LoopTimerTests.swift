// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteCore
import VedetteSystem

@testable import VedetteHTTP

@Suite("Sleeps on the client's thread", .timeLimit(.minutes(5)))
struct LoopTimerTests {
    private static func after(_ milliseconds: Int64) -> BootTime {
        BootTime(milliseconds: KernelClock.boot.milliseconds + milliseconds)
    }

    /// Sleeps in a task of the client's thread.
    private func sleep(_ client: HTTPClient, until deadline: BootTime) -> Task<Bool, any Error> {
        Task(executorPreference: client.executor) { try await client.sleep(until: deadline) }
    }

    @Test("a sleep ends at its deadline, not earlier, whatever was to end before and after it")
    func deadline() async throws {
        try await withClient { client async throws in
            let long = sleep(client, until: Self.after(3_600_000))
            let deadlines = [30, 10, 0, 20, -5].map(Self.after)
            let sleeps = deadlines.map { sleep(client, until: $0) }
            for (deadline, sleep) in zip(deadlines, sleeps) {
                #expect(try await sleep.value)
                #expect(KernelClock.boot.milliseconds >= deadline.milliseconds)
            }
            long.cancel()
            await #expect(throws: CancellationError.self) { try await long.value }
        }
    }

    @Test("a cancelled sleep ends at once, whichever thread cancels it")
    func cancelled() async throws {
        try await withClient { client async throws in
            let other = sleep(client, until: Self.after(3_600_000))
            other.cancel()
            await #expect(throws: CancellationError.self) { try await other.value }
            let own = Task(executorPreference: client.executor) {
                let sleep = sleep(client, until: Self.after(3_600_000))
                await Task.yield()
                sleep.cancel()
                _ = try await sleep.value
            }
            await #expect(throws: CancellationError.self) { try await own.value }
        }
    }

    @Test("an actor of that thread sleeps there, though its task prefers no executor")
    func actor() async throws {
        try await withClient { client async throws in
            let sleeper = Sleeper(client)
            for _ in 0..<50 { #expect(try await sleeper.sleep(until: Self.after(1))) }
        }
    }

    @Test("tasks of other threads do not sleep there")
    func elsewhere() async throws {
        try await withClient { client async throws in #expect(try await !client.sleep(until: Self.after(3_600_000))) }
    }

    @Test("after the shutdown of the client its thread goes on with sleeps")
    func shutdown() async throws {
        let client = try HTTPClient()
        let (under, _) = (sleep(client, until: Self.after(20)), await client.shutdown())
        #expect(try await under.value)
        #expect(try await sleep(client, until: Self.after(5)).value)
    }
}

private actor Sleeper {
    private let client: HTTPClient

    nonisolated var unownedExecutor: UnownedSerialExecutor { client.executor.asUnownedSerialExecutor() }

    init(_ client: HTTPClient) { self.client = client }

    func sleep(until deadline: BootTime) async throws -> Bool { try await client.sleep(until: deadline) }
}
