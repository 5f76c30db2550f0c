// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization
import Testing
import VedetteCore
import VedetteTestSupport

@testable import VedetteEngine
@testable import VedetteHTTP

/// The fetcher's memory for bodies and the engine's for what polls make of them, with the real client between the two.
@Suite("I8: both memories are full at once", .timeLimit(.minutes(5)))
struct FullMemoryTests {
    private static let size = 1 << 20

    @Test(
        "large lists that wait hold up no small one, one more large body fails as `memory`, and all that waited are read"
    )
    func both() async throws {
        let (gate, reading) = (Gate(), HeldShaper())
        let server = try WireServer(at: "0.0.0.0") { request in
            gate.pass(request.target)
            return .ok(request.target.hasPrefix("/large") ? String(repeating: "x", count: Self.size) : "small")
        }
        defer { server.close() }
        // Large bodies have three quarters of each: three of them, or one that is read.
        let client = try HTTPClient(memory: 5 * Self.size)
        try await using(client) { client async throws in
            let names = (1...6).map { "large\($0)" } + (1...20).map { "small\($0)" }
            let sources = names.enumerated().map { number, name in
                Source(
                    name: name, kindName: "whole", kind: WholeKind(), server: Server(name: name),
                    url: server.url("/\(name)", host: "127.0.1.\(number + 1)"),
                    interval: PollInterval(every: .seconds(3600)))
            }
            let (journal, memory) = (MemoryJournal(), PollMemory(limit: 16 * Self.size))
            let dependencies = Dependencies(
                fetcher: PatientFetcher(client: client), journal: journal, clock: StandingClock(),
                random: SeededRandom(), log: LogLines(),
                userAgent: "test/1", transformer: reading, civil: UTC(), memory: memory)
            let watch = WatchConfiguration(sources: sources, rules: RuleSet([]))
            let watcher = Watcher(
                watch, dependencies, on: client.executor,
                dispatcher: Dispatcher(dependencies, on: client.executor, sinks: [:]))
            try await watcher.restore()
            let polling = Task { await watcher.runOnce(force: true) }

            gate.open("/large1")
            while reading.begun == 0 { await Task.yield() }
            // The fourth of those that wait passes the limit: one body can always go on. One after the other, since of four that
            // grow together another one may fail.
            for waiting in 1...4 {
                gate.open("/large\(waiting + 1)")
                while await client.memoryInUse < waiting * Self.size { await Task.yield() }
            }
            gate.open("/large6")
            while journal.problem(of: "large6") == nil { await Task.yield() }
            #expect(journal.problem(of: "large6") == Failure.memory.rawValue)
            #expect(memory.used >= 10 * Self.size && reading.begun == 1)

            for name in names.suffix(20) { gate.open("/" + name) }
            for name in names.suffix(20) { while journal.count(of: name) != 1 { await Task.yield() } }
            #expect(reading.begun == 1)
            #expect(await client.memoryInUse >= 4 * Self.size)

            reading.end()
            _ = await polling.value
            for name in names.prefix(5) { #expect(journal.count(of: name) == 1, "\(name) was not read") }
            #expect(memory.used == 0)
            #expect(await client.memoryInUse == 0)
        }
    }
}

/// Waits as long for an answer as the gate takes, which on a busy machine is more than the usual 30 s.
private struct PatientFetcher: Fetcher {
    let client: HTTPClient

    func start(
        _ request: Request, ended: @escaping @Sendable (Result<Response, FetchError>) -> Void
    ) -> any FetchHandle {
        var request = request
        let hour = Duration.seconds(3600)
        (request.limits.connect, request.limits.firstByte) = (hour, hour)
        (request.limits.lowSpeed, request.limits.total) = (hour, hour)
        return client.start(request, ended: ended)
    }
}

/// Lets the server answer a request when the test says so.
private final class Gate: Sendable {
    private let targets = Mutex<[String: DispatchSemaphore]>([:])

    func pass(_ target: String) { semaphore(target).wait() }
    func open(_ target: String) { semaphore(target).signal() }

    private func semaphore(_ target: String) -> DispatchSemaphore {
        targets.withLock { targets in
            let semaphore = targets[target] ?? DispatchSemaphore(value: 0)
            targets[target] = semaphore
            return semaphore
        }
    }
}

/// Holds the reading of the first large body; the others pass.
private final class HeldShaper: BodyTransformer {
    private struct State {
        var begun = 0
        var isOver = false
        var waiting: CheckedContinuation<Void, Never>?
    }
    private let state = Mutex(State())

    /// How many large bodies are or were read.
    var begun: Int { state.withLock { $0.begun } }

    func transform(_ body: [UInt8], with program: String) async throws(ReadError) -> [UInt8] {
        guard body.count > 1000 else { return body }
        await withCheckedContinuation { continuation in
            let waits = state.withLock { state in
                state.begun += 1
                guard !state.isOver, state.begun == 1 else { return false }
                state.waiting = continuation
                return true
            }
            if !waits { continuation.resume() }
        }
        return body
    }

    func end() {
        let waiting = state.withLock { state in
            state.isOver = true
            return state.waiting.take()
        }
        waiting?.resume()
    }
}

private struct StandingClock: Clock {
    func now() -> Moment {
        Moment(wall: Timestamp(milliseconds: 1_795_226_400_000), boot: BootTime(milliseconds: 1_000_000))
    }

    func sleep(until deadline: BootTime) async throws(CancellationError) { throw CancellationError() }
}

private struct UTC: CivilTime {
    func offset(at time: Timestamp, in zone: String?) -> Int { 0 }
}

/// One item, which is the whole body.
private struct WholeKind: SourceKind {
    let mode = ReadingMode.list
    let identity: UInt64 = 1
    let jqProgram: String? = "."
    let fingerprints: [String: UInt64] = [:]
    let fieldNames: [String]? = nil

    func request(base: String, context: PollContext) -> RequestTemplate { RequestTemplate(url: base) }

    func read(_ page: inout PageBody) throws(ReadError) -> Page {
        Page(items: [Item(key: "whole", state: "\(page.bytes.count)")])
    }
}

extension MemoryJournal {
    fileprivate func problem(of source: String) -> String? {
        let records = sourceRecords()
        return records.first { $0.name == source }?.health.problem?.failure
    }

    fileprivate func count(of source: String) -> Int? {
        let records = sourceRecords()
        return records.first { $0.name == source }?.snapshot?.count
    }
}
