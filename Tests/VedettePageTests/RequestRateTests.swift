// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import VedettePage

@Suite("How often a client may ask")
struct RequestRateTests {
    private let start = ContinuousClock.now

    @Test("an address may ask a number of times at once, and again as time passes; others are not affected")
    func bucket() {
        var rate = RequestRate(burst: 3, perSecond: 2)
        let (first, second) = (PageRequest.Peer.address("192.0.2.1"), PageRequest.Peer.local)
        #expect((0..<4).map { _ in rate.take(first, at: start) } == [true, true, true, false])
        let others = rate.take(second, at: start)
        #expect(others)
        let later = start + .milliseconds(400)
        let early = rate.take(first, at: later)
        #expect(!early)
        let due = start + .milliseconds(1000)
        #expect((0..<3).map { _ in rate.take(first, at: due) } == [true, true, false])
        // However long it was silent, a bucket holds no more.
        let next = start + .seconds(3600)
        #expect((0..<4).map { _ in rate.take(first, at: next) } == [true, true, true, false])
    }

    @Test("few addresses are remembered, and one that asks too often is among them")
    func memory() {
        var rate = RequestRate(burst: 1, perSecond: 1, addresses: 10)
        let greedy = PageRequest.Peer.address("192.0.2.1")
        for i in 0..<100 {
            let now = start + .seconds(i)
            let results = [
                rate.take(greedy, at: now), rate.take(.address("198.51.100.\(i)"), at: now),
                rate.take(greedy, at: now),
            ]
            #expect(results == [true, true, false], "\(i)")
        }
    }
}
