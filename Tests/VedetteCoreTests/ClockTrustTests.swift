// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteCore

@Suite("A wall clock that may be wrong")
struct ClockTrustTests {
    private static let day: Int64 = 86_400_000
    private let start = BootTime(milliseconds: 10_000)

    private func isPlausible(
        ahead: Int64, isSynchronized: Bool = false, ran: Int64 = 0, newest: Timestamp? = Timestamp(milliseconds: day)
    ) -> Bool {
        let now = Moment(
            wall: Timestamp(milliseconds: Self.day + ahead), boot: BootTime(milliseconds: start.milliseconds + ran))
        return ClockTrust(newestStored: newest, start: start).isPlausible(now, isSynchronized: isSynchronized)
    }

    @Test("a clock that is over a day past the newest stored time and not synchronized deletes nothing")
    func ahead() {
        #expect(!isPlausible(ahead: 40 * Self.day))
        #expect(!isPlausible(ahead: Self.day + 1))
        #expect(isPlausible(ahead: Self.day))
        #expect(isPlausible(ahead: -40 * Self.day))
    }

    @Test("one that is synchronized, that nobody puts right for a day, or that nothing contradicts is believed")
    func believed() {
        #expect(isPlausible(ahead: 40 * Self.day, isSynchronized: true))
        #expect(!isPlausible(ahead: 40 * Self.day, ran: Self.day - 1))
        #expect(isPlausible(ahead: 40 * Self.day, ran: Self.day))
        #expect(isPlausible(ahead: 40 * Self.day, newest: nil))
    }
}
