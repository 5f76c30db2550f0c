// SPDX-License-Identifier: Apache-2.0

import Synchronization
import Testing
import VedetteCore
import VedetteSystem
import VedetteTestSupport

@testable import VedetteHTTP

@Suite("Origin limits: concurrency and interval per origin")
struct OriginRateLimiterTests {
    private func started(_ queue: inout RequestQueue, _ now: Int64) -> [RequestQueue.ID] {
        var ids: [RequestQueue.ID] = []
        while let id = queue.next(now: now) { ids.append(id) }
        return ids
    }

    private func add(
        _ queue: inout RequestQueue, _ ids: Range<RequestQueue.ID>, _ origin: String, _ originLimits: OriginLimits,
        _ now: Int64
    ) {
        for id in ids { queue.add(id, lane: .polls, origin: origin, group: nil, originLimits: originLimits, now: now) }
    }

    @Test("requests to an origin start no closer together than its interval, and others do not wait for it")
    func interval() {
        var queue = RequestQueue()
        add(&queue, 0..<3, "a", OriginLimits(interval: .milliseconds(100)), 1000)
        add(&queue, 10..<12, "b", OriginLimits(), 1000)
        #expect(started(&queue, 1000) == [0, 10, 11])
        #expect(queue.nextStart == 1100)
        queue.finish(0)
        #expect(started(&queue, 1099) == [])
        #expect(started(&queue, 1105) == [1] && queue.nextStart == 1205)
        // A running poll does not delay the next one: the interval is from start to start.
        #expect(started(&queue, 1205) == [2] && queue.nextStart == nil)
    }

    @Test("the strictest limit of an origin holds, also for requests without a limit")
    func strictest() {
        var queue = RequestQueue()
        add(&queue, 0..<1, "a", OriginLimits(concurrency: 5, interval: .milliseconds(50)), 0)
        add(&queue, 1..<2, "a", OriginLimits(concurrency: 2), 0)
        add(&queue, 2..<3, "a", OriginLimits(interval: .milliseconds(10)), 0)
        add(&queue, 3..<9, "a", OriginLimits(), 0)
        #expect(started(&queue, 0).count == 1)
        #expect(started(&queue, 49).isEmpty)
        #expect(started(&queue, 50).count == 1)
        #expect(started(&queue, 100).isEmpty)
        queue.finish(0)
        #expect(started(&queue, 100).count == 1)
    }

    @Test("no limit raises the default of eight, or blocks an origin for ever")
    func bounds() {
        var queue = RequestQueue()
        add(&queue, 0..<20, "a", OriginLimits(concurrency: 100), 0)
        #expect(started(&queue, 0).count == 8)
        add(&queue, 20..<30, "b", OriginLimits(concurrency: 0, interval: .seconds(-5)), 0)
        #expect(started(&queue, 0).count == 1)
        add(&queue, 30..<31, "c", OriginLimits(interval: .seconds(Int64.max / 10)), 0)
        #expect(started(&queue, 0) == [30])
    }

    @Test("a limit that no request repeats expires")
    func forgotten() {
        var limiter = OriginRateLimiter()
        limiter.add(OriginLimits(concurrency: 1, interval: .seconds(10)), to: "a", isBusy: false, now: 0)
        limiter.started("a", now: 0)
        #expect(limiter.nextStart(of: "a", now: 0) == 10_000 && limiter.concurrency(of: "a", now: 0) == 1)
        limiter.add(OriginLimits(concurrency: 3), to: "a", isBusy: false, now: 500_000)
        limiter.started("a", now: 599_999)
        #expect(limiter.nextStart(of: "a", now: 599_999) == 609_999 && limiter.concurrency(of: "a", now: 599_999) == 1)
        #expect(limiter.nextStart(of: "a", now: 600_000) == nil && limiter.concurrency(of: "a", now: 600_000) == 3)
        // A longer interval extends the lifetime of its limit.
        limiter.add(OriginLimits(interval: .seconds(3600)), to: "b", isBusy: false, now: 0)
        limiter.started("b", now: 0)
        #expect(limiter.nextStart(of: "b", now: 3_599_999) == 3_600_000)
    }

    @Test("the interval of a busy origin counts from when it is first set")
    func late() {
        var queue = RequestQueue()
        add(&queue, 0..<1, "a", OriginLimits(), 0)
        #expect(started(&queue, 0) == [0])
        add(&queue, 1..<2, "a", OriginLimits(interval: .milliseconds(100)), 30)
        #expect(started(&queue, 30) == [] && queue.nextStart == 130)
        #expect(started(&queue, 130) == [1])
    }

    @Test("rate-limited origins start in the order of time, each queue in its own order", arguments: 1...5)
    func many(_ seed: UInt64) {
        var random = SplitMix64(seed)
        var queue = RequestQueue()
        var origins: [Int: Int] = [:]
        for id in 0..<500 {
            let origin = random.below(20)
            let originLimits = OriginLimits(concurrency: 1 + origin % 3, interval: .milliseconds(10 * (1 + origin)))
            queue.add(UInt64(id), lane: .polls, origin: "\(origin)", group: nil, originLimits: originLimits, now: 0)
            origins[id] = origin
        }
        var (now, count): (Int64, Int) = (0, 0)
        var last: [Int: (start: Int64, id: Int)] = [:]
        while count < 500, now < 100_000 {
            for id in started(&queue, now).map(Int.init) {
                let origin = origins[id] ?? 0
                if let last = last[origin] {
                    #expect(now - last.start >= 10 * (1 + origin) && id > last.id)
                }
                last[origin] = (now, id)
                count += 1
                queue.finish(UInt64(id))
            }
            now = max(now + 1, queue.nextStart ?? now)
        }
        #expect(count == 500 && queue.isEmpty)
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
        let begin = KernelClock.monotonic.milliseconds
        try await withClient { client async throws in
            let polite = Request.get(slow.url()) { $0.originLimits.interval = .milliseconds(120) }
            let waiting = (0..<3).map { _ in Task { try await client.status(polite) } }
            for _ in 0..<50 { _ = try await client.status(.get(free.url())) }
            for task in waiting { #expect(try await task.value == 200) }
        }
        // From start to start. A loaded machine delays arrivals, and not all by the same time: their gaps prove nothing.
        let arrivals = times.all.map { $0 - begin }
        #expect(arrivals.count == 3 && zip(arrivals, [0, 120, 240]).allSatisfy { $0 >= $1 }, "\(arrivals)")
    }

    @Test("on the wire: no more requests than the configured concurrency are in flight")
    func concurrency() async throws {
        let server = try WireServer(.silence)
        defer { server.close() }
        try await withClient { client async throws in
            let request = Request.get(server.url()) { $0.originLimits.concurrency = 2 }
            let tasks = (0..<6).map { _ in Task { await client.failed(request) } }
            _ = await server.received(2)
            // When a request to another origin has finished, the queue has seen all six.
            let other = try WireServer(.ok(), at: "127.0.0.2")
            defer { other.close() }
            _ = try await client.status(.get(other.url()))
            #expect(server.connections == 2)
            for task in tasks { task.cancel() }
            for task in tasks { _ = await task.value }
        }
    }
}

/// The times of requests.
private final class Times: Sendable {
    private let times = Mutex<[Int64]>([])

    func add() { times.withLock { $0.append(KernelClock.monotonic.milliseconds) } }

    var all: [Int64] { times.withLock { $0 } }
}
