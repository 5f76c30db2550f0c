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
        #expect(limiter.dropped(0, at: time(0)) == nil)
        #expect(limiter.dropped(500, at: time(1)) == 500)
        #expect(limiter.dropped(500, at: time(2)) == nil)
        #expect(limiter.dropped(20, at: time(60)) == nil)
        #expect(limiter.dropped(0, at: time(61)) == 520)
        #expect(limiter.dropped(0, at: time(200)) == nil)
    }
}
