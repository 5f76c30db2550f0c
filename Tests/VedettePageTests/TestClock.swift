// SPDX-License-Identifier: Apache-2.0

import Synchronization
import VedetteCore

@testable import VedettePage

/// A clock that a test advances. A sleep of at most a second is over at once, and the clock stands at its end.
final class TestClock: Clock {
    private struct State {
        var now: Int64 = 1_000_000
        var last = 0
        var sleepers: [Int: (deadline: Int64, continuation: CheckedContinuation<Bool, Never>)] = [:]
        var cancelled = Set<Int>()
    }

    static let start = Timestamp(rfc3339: "2026-11-22T08:00:00Z") ?? Timestamp(milliseconds: 0)
    private let state = Mutex(State())

    var sleepers: Int { state.withLock { $0.sleepers.count } }

    func now() -> Moment {
        let now = state.withLock { $0.now }
        return Moment(
            wall: Timestamp(milliseconds: Self.start.milliseconds + now - 1_000_000), boot: BootTime(milliseconds: now))
    }

    func sleep(until deadline: BootTime) async throws(CancellationError) {
        let deadline = deadline.milliseconds
        let id = state.withLock { state in
            state.last += 1
            return state.last
        }
        let isOver = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let result: Bool? = state.withLock { state in
                    if state.cancelled.remove(id) != nil { return false }
                    guard deadline > state.now + 1000 else {
                        state.now = max(state.now, deadline)
                        return true
                    }
                    state.sleepers[id] = (deadline, continuation)
                    return nil
                }
                if let result { continuation.resume(returning: result) }
            }
        } onCancel: {
            let sleeper = state.withLock { state in
                let sleeper = state.sleepers.removeValue(forKey: id)
                if sleeper == nil { state.cancelled.insert(id) }
                return sleeper
            }
            sleeper?.continuation.resume(returning: false)
        }
        if !isOver { throw CancellationError() }
    }

    func advance(_ duration: Duration) {
        let due = state.withLock { state in
            state.now += duration.wholeMilliseconds
            let due = state.sleepers.filter { $0.value.deadline <= state.now }
            for id in due.keys { state.sleepers[id] = nil }
            return due.values.map(\.continuation)
        }
        for continuation in due { continuation.resume(returning: true) }
    }
}

/// A kind that is never asked to read.
private struct NoKind: SourceKind {
    var mode = ReadingMode.list
    var identity: UInt64 = 1
    var fingerprints: [String: UInt64] = [:]
    var fieldNames: [String]? { nil }

    func request(base: String, context: PollContext) -> RequestTemplate { RequestTemplate(url: base) }
    func read(_ page: inout PageBody) throws(ReadError) -> Page { Page(items: []) }
}

func source(_ name: String) -> Source {
    Source(
        name: name, kindName: "json", kind: NoKind(), server: Server(name: name), url: "https://\(name).example/",
        interval: PollInterval(every: .seconds(15)))
}

/// Yields until the condition holds; it gives up after very many turns, whatever the clock says.
func until(_ condition: () async -> Bool) async throws {
    for _ in 0..<2_000_000 {
        if await condition() { return }
        await Task.yield()
    }
    throw NeverHappened()
}

struct NeverHappened: Error {}

extension PageResponse {
    /// The whole body as text; empty for a stream.
    var text: String {
        guard case .bytes(let bytes) = body else { return "" }
        return String(decoding: bytes, as: UTF8.self)
    }

    func header(_ name: String) -> String? { headers.first { $0.name == name }?.value }
}
