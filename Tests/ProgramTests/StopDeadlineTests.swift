// SPDX-License-Identifier: Apache-2.0

import Synchronization
import Testing
import VedetteCore

@testable import vedette

@Suite("The limits of stopping", .timeLimit(.minutes(10)))
struct StopDeadlineTests {
    /// A clock that is set by hand, on which every sleep is over at once.
    private final class SetClock: Clock {
        private let state = Mutex((now: BootTime(milliseconds: 100_000), deadlines: [BootTime]()))
        var deadlines: [BootTime] { state.withLock { $0.deadlines } }

        func set(_ milliseconds: Int64) { state.withLock { $0.now = BootTime(milliseconds: milliseconds) } }
        func now() -> Moment { Moment(wall: Timestamp(milliseconds: 0), boot: state.withLock { $0.now }) }
        func sleep(until deadline: BootTime) async throws(CancellationError) {
            state.withLock { $0.deadlines.append(deadline) }
        }
    }

    @Test("stopping and deliveries have nine and five seconds from the first request, also where the stop begins later")
    func first() async {
        let clock = SetClock()
        let (ends, continuation) = AsyncStream.makeStream(of: Int32.self)
        let stop = StopDeadline(clock) { continuation.yield($0) }
        #expect(stop.begin(143) == BootTime(milliseconds: 105_000))
        clock.set(104_000)
        #expect(stop.begin(70) == BootTime(milliseconds: 105_000))
        #expect(await ends.first { _ in true } == 143)
        #expect(clock.deadlines == [BootTime(milliseconds: 109_000)])
    }
}
