// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteTestSupport

@testable import VedetteHTTP

@Suite("I8: which body gets memory")
struct MemoryBudgetTests {
    @Test("the newest body makes room, not the oldest")
    func newest() {
        let budget = MemoryBudget(limit: 100)
        var shares = (0..<3).map { _ in budget.share(isSlow: false) }
        for share in shares { #expect(share.resize(to: 30)) }
        #expect(shares[0].resize(to: 50) && budget.takeEvicted() == [shares[2].id] && budget.used == 80)
        #expect(!shares[2].resize(to: 1) && !shares[2].complete())
        #expect(!shares[1].resize(to: 60) && budget.takeEvicted().isEmpty && budget.used == 80)
        shares = []
        #expect(budget.used == 0)
    }

    @Test("the largest body of a slow host makes room first, and slow hosts hold a quarter at most")
    func slow() {
        let budget = MemoryBudget(limit: 100)
        let first = budget.share(isSlow: false)
        let slow = (0..<3).map { _ in budget.share(isSlow: true) }
        // The optimiser ends an object after its last use.
        defer { withExtendedLifetime((first, slow)) {} }
        #expect(first.resize(to: 70) && slow[0].resize(to: 10) && slow[1].resize(to: 15))
        // A third body of a slow host takes the place of the largest, unless it is the largest itself.
        #expect(!slow[2].resize(to: 20) && budget.takeEvicted().isEmpty)
        #expect(slow[2].resize(to: 5) && budget.takeEvicted() == [slow[1].id])
        #expect(first.resize(to: 95) && budget.takeEvicted() == [slow[0].id] && budget.used == 100)
    }

    @Test("the oldest body may pass the limit, and no second one until its memory is back")
    func exempt() {
        let budget = MemoryBudget(limit: 100)
        var first: MemoryShare? = budget.share(isSlow: true)
        let second = budget.share(isSlow: false)
        #expect(first?.resize(to: 150) == true && first?.complete() == true)
        // The first body is being read: the next oldest must not pass the limit too.
        withExtendedLifetime(first) { #expect(!second.resize(to: 1)) }
        first = nil
        #expect(second.resize(to: 150))
    }

    @Test("a complete body makes room for no other")
    func complete() {
        let budget = MemoryBudget(limit: 100)
        let (first, second, third) = (
            budget.share(isSlow: false), budget.share(isSlow: true), budget.share(isSlow: false)
        )
        #expect(second.resize(to: 25) && second.complete() && first.resize(to: 60))
        withExtendedLifetime((first, second)) {
            #expect(!third.resize(to: 20) && budget.takeEvicted().isEmpty)
        }
    }

    @Test("large bodies that wait for their readers leave a quarter to small ones, also beyond the limit")
    func small() {
        let budget = MemoryBudget(limit: 1000, maximumSmall: 50)
        let large = (0..<5).map { _ in budget.share(isSlow: false) }
        for share in large.prefix(3) { #expect(share.resize(to: 250) && share.complete()) }
        // The oldest may pass the limit, and no second one.
        #expect(large[3].resize(to: 260) && large[3].complete() && !large[4].resize(to: 51))
        let small = (0..<6).map { _ in budget.share(isSlow: false) }
        withExtendedLifetime(large) {
            for share in small.prefix(5) { #expect(share.resize(to: 50)) }
            #expect(!small[5].resize(to: 1) && budget.takeEvicted().isEmpty && budget.used == 1260)
        }
    }

    @Test(
        "whatever bodies do, memory stays within the limit and one body, and one can always go on", .tags(.I8),
        arguments: 1...20)
    func model(_ seed: UInt64) {
        var random = SplitMix64(seed)
        let budget = MemoryBudget(limit: 1000)
        var bodies: [(share: MemoryShare, bytes: Int, isComplete: Bool)] = []
        for _ in 0..<3000 {
            switch random.below(8) {
            case 0: bodies.append((budget.share(isSlow: random.below(3) == 0), 0, false))
            case 1 where !bodies.isEmpty: bodies.remove(at: random.below(bodies.count))
            case 2 where !bodies.isEmpty:
                let at = random.below(bodies.count)
                bodies[at].isComplete = bodies[at].share.complete()
            default:
                let growing = bodies.indices.filter { !bodies[$0].isComplete }
                guard !growing.isEmpty else { continue }
                let at = growing[random.below(growing.count)]
                let bytes = min(300, bodies[at].bytes + random.below(100))
                let mustGoOn = at == growing[0] && growing.count == bodies.count
                let isGranted = bodies[at].share.resize(to: bytes)
                #expect(isGranted || !mustGoOn)
                if isGranted { bodies[at].bytes = bytes } else { bodies.remove(at: at) }
            }
            let evicted = budget.takeEvicted()
            bodies.removeAll { evicted.contains($0.share.id) }
            #expect(budget.used <= 1300 && budget.used == bodies.reduce(0) { $0 + $1.bytes })
        }
    }
}
