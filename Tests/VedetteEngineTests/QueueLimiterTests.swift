// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteCore

@testable import VedetteEngine

@Suite("The bounds of queues")
struct QueueLimiterTests {
    @Test("dropped messages are reported by their number, at most once a minute, and none is left out")
    func reports() {
        var limiter = QueueLimiter()
        func time(_ seconds: Int) -> BootTime { BootTime(milliseconds: 0).advanced(by: .seconds(seconds)) }
        #expect(limiter.report(at: time(0)) == nil && limiter.wake == nil)
        limiter.dropped(500)
        #expect(limiter.report(at: time(1)) == 500)
        limiter.dropped(500)
        #expect(limiter.report(at: time(2)) == nil)
        limiter.dropped(20)
        #expect(limiter.report(at: time(60)) == nil && limiter.wake == time(61))
        #expect(limiter.report(at: time(61)) == 520 && limiter.wake == nil)
        limiter.dropped(7)
        #expect(limiter.report(at: time(62), isLast: true) == 7)
        #expect(limiter.report(at: time(200)) == nil)
    }

    @Test("a check is due a minute after something is pending, at once after a change, and one runs at a time")
    func checks() {
        var limiter = QueueLimiter()
        func time(_ seconds: Int) -> BootTime { BootTime(milliseconds: 0).advanced(by: .seconds(seconds)) }
        func begins(_ seconds: Int) -> Bool { limiter.begin(at: time(seconds)) }
        #expect(!begins(0))
        limiter.pending(at: time(0))
        limiter.pending(at: time(30))
        #expect(limiter.wake == time(60))
        limiter.changed(at: time(40))
        #expect(begins(40) && !begins(40))
        #expect(limiter.wake == nil)
        // A change during a check is checked after it.
        limiter.changed(at: time(41))
        limiter.ended(isPending: true, hasMore: false, at: time(42))
        #expect(begins(42))
        limiter.ended(isPending: true, hasMore: false, at: time(43))
        #expect(limiter.wake == time(103))
    }
}
