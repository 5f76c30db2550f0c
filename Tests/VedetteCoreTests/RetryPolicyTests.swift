// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteTestSupport
@testable import VedetteCore

@Suite("RetryPolicy")
struct RetryPolicyTests {
    private func attempt(_ outcome: Outcome, attempts: Int = 0, at now: Timestamp = at(0), random: Double = 0.5)
        -> Attempt
    {
        var pending = delivery(1)
        pending.attempts = attempts
        return RetryPolicy().attempt(pending, outcome, at: now, random: random)
    }

    @Test("an outcome ends, pauses or retries a delivery")
    func states() {
        #expect(attempt(.delivered).state == .sent)
        #expect(attempt(.rejected(reason: "no")).state == .dead && attempt(.rejected(reason: "no")).reason == "no")
        #expect(attempt(.paused(reason: "401")).state == .paused)
        #expect(attempt(.disabled(reason: "410")).state == .paused)
        #expect(attempt(.retry(reason: "503", after: nil)).state == .retry)
        #expect(attempt(.delivered, attempts: 4).attempts == 5)
    }

    @Test(
        "the wait is a part of 5 s doubling to 1 h",
        arguments: [(0, 2.5), (1, 5.0), (2, 10.0), (9, 1280.0), (10, 1800.0), (12, 1800.0), (500, 1800.0)])
    func waits(attempts: Int, seconds: Double) {
        let due = attempt(.retry(reason: "", after: nil), attempts: attempts).due
        #expect(due.seconds(since: at(0)) == seconds)
    }

    @Test("Retry-After lengthens the wait, an hour at most; the wait is never nothing")
    func retryAfter() {
        #expect(attempt(.retry(reason: "", after: .seconds(90))).due == at(90))
        #expect(attempt(.retry(reason: "", after: .seconds(1 << 40))).due == at(3600))
        #expect(attempt(.retry(reason: "", after: .seconds(-5)), random: 0).due == Timestamp(milliseconds: 500))
    }

    @Test("what cannot be tried again within 72 h of its creation is dead, with the reason", .tags(.I5))
    func givesUp() {
        let late = attempt(.retry(reason: "503", after: nil), attempts: 9, at: at(72 * 3600))
        #expect(late.state == .dead && late.reason == "gave up after 3 d: 503")
    }

    @Test("a message gets ten attempts, however old it is")
    func leastAttempts() {
        for attempts in 0..<9 {
            #expect(attempt(.retry(reason: "503", after: nil), attempts: attempts, at: at(30 * 86_400)).state == .retry)
            #expect(attempt(.paused(reason: "401"), attempts: attempts, at: at(30 * 86_400)).state == .paused)
        }
        #expect(attempt(.retry(reason: "503", after: nil), attempts: 9, at: at(30 * 86_400)).state == .dead)
    }
}
