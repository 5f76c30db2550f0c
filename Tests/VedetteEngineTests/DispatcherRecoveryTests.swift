// SPDX-License-Identifier: Apache-2.0

import Synchronization
import Testing
import VedetteCore

@testable import VedetteEngine

/// A receiver that is not there, until it comes back and tells so.
private final class Absent: Sink {
    private struct State {
        var isThere = false
        var attempts: [String] = []
        var recoveryProbes = 0
    }
    private let state = Mutex(State())
    private let (returns, comeback) = AsyncStream<Bool>.makeStream()

    var attempts: [String] { state.withLock { $0.attempts } }
    var recoveryProbes: Int { state.withLock { $0.recoveryProbes } }

    func comeBack() {
        state.withLock { $0.isThere = true }
        comeback.yield(true)
    }

    func deliver(_ message: Message) async -> Outcome {
        state.withLock { state in
            state.attempts.append(message.title)
            return state.isThere ? .delivered : .retry(reason: "nobody there", after: nil)
        }
    }

    func waitForReceiver() async -> Bool {
        state.withLock { $0.recoveryProbes += 1 }
        defer { state.withLock { $0.recoveryProbes -= 1 } }
        var iterator = returns.makeAsyncIterator()
        return await iterator.next() ?? false
    }
}

@Suite("Dispatcher: a receiver that reports its return", .timeLimit(.minutes(10)))
struct DispatcherRecoveryTests {
    private func pending(_ title: String, source: String, in world: World) async -> Delivery {
        let now = world.clock.now().wall
        let event = Event(
            id: Identifier(title), kind: .appeared, time: now, source: source, sourceKind: "lines", poll: "p")
        let message = Message(
            id: "msg_\(title)", rule: "r", sink: "desk", event: event, title: title, text: "")
        return await world.journal.enqueue(Delivery(message: message, created: now, due: now))
    }

    @Test("what waits for its time goes out when the receiver is back, and one scout is enough for all of it")
    func back() async throws {
        let desk = Absent()
        let world = World(clock: ManualClock(), sinks: ["desk": desk])
        for number in 1...8 {
            await world.dispatcher.enqueue([await pending("\(number)", source: "s\(number % 3)", in: world)])
        }
        try await until { await world.journal.state(3) == .retry }
        // Each failed once or, of a dead sink, not at all: none is due for seconds.
        try await until { desk.recoveryProbes == 1 }
        let before = desk.attempts.count
        desk.comeBack()
        try await until { desk.attempts.count == before + 8 }
        try await until { await world.journal.state(8) == .sent }
        #expect(desk.recoveryProbes == 0)
        await world.dispatcher.stop(by: world.clock.now().boot)
    }

    @Test("a stop waits for no scout")
    func stop() async throws {
        let desk = Absent()
        let world = World(clock: ManualClock(), sinks: ["desk": desk])
        await world.dispatcher.enqueue([await pending("1", source: "s", in: world)])
        try await until { desk.recoveryProbes == 1 }
        await world.dispatcher.stop(by: world.clock.now().boot)
        try await until { desk.recoveryProbes == 0 }
        #expect(desk.attempts == ["1"])
    }
}
