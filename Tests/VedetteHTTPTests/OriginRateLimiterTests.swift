// SPDX-License-Identifier: Apache-2.0

import Synchronization
import Testing
import VedetteCore

@testable import VedetteHTTP

@Suite("Origin limits: concurrency and interval per origin")
struct MannersTests {
    private func started(_ lanes: inout RequestQueue, _ now: Int64) -> [RequestQueue.ID] {
        var ids: [RequestQueue.ID] = []
        while let id = lanes.next(now: now) { ids.append(id) }
        return ids
    }

    private func add(
        _ lanes: inout RequestQueue, _ ids: Range<RequestQueue.ID>, _ origin: String, _ originLimits: OriginLimits,
        _ now: Int64
    ) {
        for id in ids { lanes.add(id, lane: .polls, origin: origin, group: nil, originLimits: originLimits, now: now) }
    }

    @Test("requests to an origin start no closer together than its interval, and others do not wait for it")
    func interval() {
        var lanes = RequestQueue()
        add(&lanes, 0..<3, "a", OriginLimits(interval: .milliseconds(100)), 1000)
        add(&lanes, 10..<12, "b", OriginLimits(), 1000)
        #expect(started(&lanes, 1000) == [0, 10, 11])
        #expect(lanes.nextStart == 1100)
        lanes.finished(0)
        #expect(started(&lanes, 1099) == [])
        #expect(started(&lanes, 1105) == [1] && lanes.nextStart == 1205)
        // A poll that is still under way does not stop the next one: it is from start to start.
        #expect(started(&lanes, 1205) == [2] && lanes.nextStart == nil)
    }

    @Test("the strictest word of all who ask the origin holds, also for those who said nothing")
    func strictest() {
        var lanes = RequestQueue()
        add(&lanes, 0..<1, "a", OriginLimits(concurrency: 5, interval: .milliseconds(50)), 0)
        add(&lanes, 1..<2, "a", OriginLimits(concurrency: 2), 0)
        add(&lanes, 2..<3, "a", OriginLimits(interval: .milliseconds(10)), 0)
        add(&lanes, 3..<9, "a", OriginLimits(), 0)
        #expect(started(&lanes, 0).count == 1)
        #expect(started(&lanes, 49).isEmpty)
        #expect(started(&lanes, 50).count == 1)
        #expect(started(&lanes, 100).isEmpty)
        lanes.finished(0)
        #expect(started(&lanes, 100).count == 1)
    }

    @Test("no word raises the usual eight, or stops an origin for good")
    func bounds() {
        var lanes = RequestQueue()
        add(&lanes, 0..<20, "a", OriginLimits(concurrency: 100), 0)
        #expect(started(&lanes, 0).count == 8)
        add(&lanes, 20..<30, "b", OriginLimits(concurrency: 0, interval: .seconds(-5)), 0)
        #expect(started(&lanes, 0).count == 1)
        add(&lanes, 30..<31, "c", OriginLimits(interval: .seconds(Int64.max / 10)), 0)
        #expect(started(&lanes, 0) == [30])
    }

    @Test("a word that nobody repeats is forgotten")
    func forgotten() {
        var book = OriginRateLimiter()
        book.heard(OriginLimits(concurrency: 1, interval: .seconds(10)), of: "a", isBusy: false, now: 0)
        book.started("a", now: 0)
        #expect(book.rest(of: "a", now: 0) == 10_000 && book.concurrency(at: "a", now: 0) == 1)
        book.heard(OriginLimits(concurrency: 3), of: "a", isBusy: false, now: 500_000)
        book.started("a", now: 599_999)
        #expect(book.rest(of: "a", now: 599_999) == 609_999 && book.concurrency(at: "a", now: 599_999) == 1)
        #expect(book.rest(of: "a", now: 600_000) == nil && book.concurrency(at: "a", now: 600_000) == 3)
        // An interval longer than that is remembered for longer.
        book.heard(OriginLimits(interval: .seconds(3600)), of: "b", isBusy: false, now: 0)
        book.started("b", now: 0)
        #expect(book.rest(of: "b", now: 3_599_999) == 3_600_000)
    }

    @Test("an origin that is being asked when the first word comes rests from then on")
    func late() {
        var lanes = RequestQueue()
        add(&lanes, 0..<1, "a", OriginLimits(), 0)
        #expect(started(&lanes, 0) == [0])
        add(&lanes, 1..<2, "a", OriginLimits(interval: .milliseconds(100)), 30)
        #expect(started(&lanes, 30) == [] && lanes.nextStart == 130)
        #expect(started(&lanes, 130) == [1])
    }

    @Test("resting origins have their turn by time, each queue in its order", arguments: 1...5)
    func many(_ seed: UInt64) {
        var random = SeededRandom(seed)
        var lanes = RequestQueue()
        var origins: [Int: Int] = [:]
        for id in 0..<500 {
            let origin = random.below(20)
            let originLimits = OriginLimits(concurrency: 1 + origin % 3, interval: .milliseconds(10 * (1 + origin)))
            lanes.add(UInt64(id), lane: .polls, origin: "\(origin)", group: nil, originLimits: originLimits, now: 0)
            origins[id] = origin
        }
        var (now, count): (Int64, Int) = (0, 0)
        var last: [Int: (start: Int64, id: Int)] = [:]
        while count < 500, now < 100_000 {
            for id in started(&lanes, now).map(Int.init) {
                let origin = origins[id] ?? 0
                if let last = last[origin] {
                    #expect(now - last.start >= 10 * (1 + origin) && id > last.id)
                }
                last[origin] = (now, id)
                count += 1
                lanes.finished(UInt64(id))
            }
            now = max(now + 1, lanes.nextStart ?? now)
        }
        #expect(count == 500 && lanes.isEmpty)
    }

    @Test("on the wire: the interval is kept, another origin does not wait, and the loop wakes in time")
    func wire() async throws {
        let times = Times()
        let slow = try WireServer { _ in
            times.add()
            return .ok()
        }
        let free = try WireServer(.ok(), at: "127.0.0.2")
        defer { WireServer.close(slow, free) }
        try await withClient { client async throws in
            let polite = Request.get(slow.url()) { $0.originLimits.interval = .milliseconds(120) }
            let waiting = (0..<3).map { _ in Task { try await client.status(polite) } }
            for _ in 0..<50 { _ = try await client.status(.get(free.url())) }
            for task in waiting { #expect(try await task.value == 200) }
        }
        // From start to start; arrival varies a little less than the interval's tenth.
        #expect(times.gaps.count == 2 && times.gaps.allSatisfy { $0 > .milliseconds(100) })
    }

    @Test("on the wire: no more are in flight at once than was asked for")
    func concurrency() async throws {
        let server = try WireServer(.silence)
        defer { server.close() }
        try await withClient { client async throws in
            let request = Request.get(server.url()) { $0.originLimits.concurrency = 2 }
            let tasks = (0..<6).map { _ in Task { await client.failed(request) } }
            _ = await server.received(2)
            // The lanes have looked at all six by the time that another origin's request is through.
            let other = try WireServer(.ok(), at: "127.0.0.2")
            defer { other.close() }
            _ = try await client.status(.get(other.url()))
            #expect(server.connections == 2)
            for task in tasks { task.cancel() }
            for task in tasks { _ = await task.value }
        }
    }
}

/// When requests came.
private final class Times: Sendable {
    private let instants = Mutex<[ContinuousClock.Instant]>([])

    func add() { instants.withLock { $0.append(.now) } }

    var gaps: [Duration] { instants.withLock { instants in zip(instants, instants.dropFirst()).map { $1 - $0 } } }
}
