// SPDX-License-Identifier: Apache-2.0

import Synchronization
import VedetteCore
import VedetteTestSupport

@testable import VedettePage

/// A clock that a test advances. A sleep of at most a second is over at once, and the clock stands at its end.
final class TestClock: Clock {
    static let start = Timestamp(rfc3339: "2026-11-22T08:00:00Z") ?? Timestamp(milliseconds: 0)
    private static let bootStart = BootTime(milliseconds: 1_000_000)
    private let time = ManualTime(bootStart)

    var sleepers: Int { time.sleepers }

    func now() -> Moment {
        let boot = time.now
        let passed = Duration.milliseconds(boot.milliseconds - Self.bootStart.milliseconds)
        return Moment(wall: Self.start.advanced(by: passed), boot: boot)
    }

    func sleep(until deadline: BootTime) async throws(CancellationError) {
        try await time.sleep(until: deadline, skipping: .seconds(1))
    }

    func advance(_ duration: Duration) { time.advance(duration) }
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

func source(_ name: String, mode: ReadingMode = .list) -> Source {
    Source(
        name: name, kindName: "json", kind: NoKind(mode: mode), server: Server(name: name),
        url: "https://\(name).example/",
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

/// Fails a number of times.
final class Failures: Sendable {
    private let left: Mutex<Int>

    init(_ count: Int) { left = Mutex(count) }

    func next() -> Bool {
        left.withLock { left in
            left -= 1
            return left >= 0
        }
    }
}
