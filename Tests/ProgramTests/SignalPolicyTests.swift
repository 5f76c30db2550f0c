// SPDX-License-Identifier: Apache-2.0

import Glibc
import Testing

@testable import vedette

@Suite("What a signal asks for")
struct SignalPolicyTests {
    @Test("until work begins SIGTERM, SIGINT and the end of the terminal end the program, and SIGHUP is kept for later")
    func beforeWork() {
        var policy = SignalPolicy()
        #expect(policy.action(for: SIGHUP, isHangup: false) == .reload)
        #expect(policy.action(for: SIGTERM, isHangup: false) == .end(code: 0))
        #expect(policy.action(for: SIGINT, isHangup: false) == .end(code: 0))
        #expect(policy.action(for: SIGHUP, isHangup: true) == .end(code: 0))
    }

    @Test("the first request stops in order, a second one ends the program at once", arguments: [SIGTERM, SIGINT])
    func twice(_ signal: Int32) {
        var policy = SignalPolicy()
        policy.isWorking = true
        #expect(policy.action(for: signal, isHangup: false) == .stop(code: 128 + signal))
        #expect(policy.action(for: SIGHUP, isHangup: false) == .reload)
        #expect(policy.action(for: signal, isHangup: false) == .end(code: 128 + signal))
    }

    @Test("the end of the terminal stops in order, however many report it; SIGTERM after it ends the program at once")
    func hangup() {
        var policy = SignalPolicy()
        policy.isWorking = true
        #expect(policy.action(for: SIGHUP, isHangup: true) == .stop(code: 129))
        #expect(policy.action(for: SIGHUP, isHangup: true) == nil)
        #expect(policy.action(for: SIGTERM, isHangup: false) == .end(code: 143))
    }
}
