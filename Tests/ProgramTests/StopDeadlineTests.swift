// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Synchronization
import Testing
import VedetteCore
import VedetteTestSupport

@testable import vedette

@Suite("The limits of stopping", .timeLimit(.minutes(10)))
struct StopDeadlineTests {
    /// A clock that is set by hand.
    private final class SetClock: Clock {
        private let time = Mutex(BootTime(milliseconds: 100_000))

        func set(_ milliseconds: Int64) { time.withLock { $0 = BootTime(milliseconds: milliseconds) } }
        func now() -> Moment { Moment(wall: Timestamp(milliseconds: 0), boot: time.withLock { $0 }) }
        func sleep(until deadline: BootTime) async throws(CancellationError) {}
    }

    @Test(
        "stopping and deliveries have nine and five seconds from the first request, also where the stop begins later",
        .tags(.I10))
    func first() async throws {
        let clock = SetClock()
        let (ends, continuation) = AsyncStream.makeStream(of: Int32.self)
        let (waits, waitContinuation) = AsyncStream.makeStream(of: Duration.self)
        let isSet = DispatchSemaphore(value: 0)
        let stop = try StopDeadline(clock) { _, limit in
            waitContinuation.yield(limit)
            isSet.wait()
            return false
        } end: {
            continuation.yield($0)
        }
        #expect(stop.begin(143) == BootTime(milliseconds: 105_000))
        #expect(await waits.first { _ in true } == .seconds(9))
        clock.set(104_000)
        #expect(stop.begin(70) == BootTime(milliseconds: 105_000))
        isSet.signal()
        #expect(await ends.first { _ in true } == 143)
    }

    @Test("a stop that ends in time does not end the process")
    func inTime() async throws {
        let (results, continuation) = AsyncStream.makeStream(of: Bool.self)
        let stop = try StopDeadline(SetClock()) { isOver, _ in
            isOver.wait()
            continuation.yield(true)
            return true
        } end: { _ in
            continuation.yield(false)
        }
        stop.begin(143)
        stop.cancel()
        #expect(await results.first { _ in true } == true)
    }
}
