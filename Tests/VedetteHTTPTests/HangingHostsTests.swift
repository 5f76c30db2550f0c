// SPDX-License-Identifier: Apache-2.0

import Synchronization
import Testing
import VedetteCore
import VedetteHTTP

@Suite("I7: two hundred hosts that never answer")
struct HangingHostsTests {
    @Test("polls, retries of slow hosts and deliveries to healthy hosts finish before any hanging one")
    func healthyFirst() async throws {
        // One listener on all of 127.0.0.0/8; each address is an origin of its own.
        let hanging = try WireServer(.silence, at: "0.0.0.0")
        let healthy = try WireServer(.ok(), at: "127.0.0.1")
        defer { WireServer.close(hanging, healthy) }
        let ended = Tally()
        try await withClient { client async throws in
            let stuck = (1...200).map { n in
                Task {
                    _ = await client.failed(.patient(hanging.url(host: "127.0.1.\(n)")))
                    ended.add()
                }
            }
            _ = await hanging.received(64)
            #expect(try await client.fetch(.delivery(healthy.url())).status == 200)
            #expect(try await client.fetch(.get(healthy.url()) { $0.lane = .slowHosts }).status == 200)
            for _ in 0..<20 { #expect(try await client.fetch(.get(healthy.url())).status == 200) }
            #expect(ended.count == 0)
            for task in stuck { task.cancel() }
            for task in stuck { await task.value }
        }
        #expect(ended.count == 200)
    }

    @Test("a poll that gave back its slot after a second is cancelled as any other, and its connection closes")
    func cancelledWithoutSlot() async throws {
        let hanging = try WireServer(.silence, at: "0.0.0.0")
        defer { hanging.close() }
        try await withClient { client async throws in
            let stuck = (1...65).map { n in
                Task { await client.failed(.patient(hanging.url(host: "127.0.1.\(n)"))) }
            }
            // The last one has the slot that another gave back, all of which are older than a second.
            _ = await hanging.received(65)
            for (number, task) in stuck.enumerated() {
                task.cancel()
                #expect(await task.value?.failure == .cancelled)
                await hanging.left(number + 1)
            }
        }
    }

    @Test("a host that hangs keeps its eight slots, and others behind it are served")
    func oneOrigin() async throws {
        let hanging = try WireServer(.silence)
        let healthy = try WireServer(.ok(), at: "127.0.0.2")
        defer { WireServer.close(hanging, healthy) }
        try await withClient { client async throws in
            let stuck = (0..<100).map { _ in Task { await client.failed(.patient(hanging.url())) } }
            _ = await hanging.received(8)
            for _ in 0..<20 { #expect(try await client.fetch(.get(healthy.url())).status == 200) }
            #expect(hanging.requests.count == 8)
            for task in stuck { task.cancel() }
            for task in stuck { #expect(await task.value?.failure == .cancelled) }
        }
    }
}

extension Request {
    /// Waits longer for its answer than a busy machine takes for the others, so that no timeout frees a slot.
    fileprivate static func patient(_ url: String) -> Request {
        .get(url) { request in
            request.limits = .with { limits in
                (limits.connect, limits.firstByte) = (.seconds(600), .seconds(600))
                (limits.lowSpeed, limits.total) = (.seconds(600), .seconds(600))
            }
        }
    }
}

private final class Tally: Sendable {
    private let value = Mutex(0)

    var count: Int { value.withLock { $0 } }

    func add() { value.withLock { $0 += 1 } }
}
