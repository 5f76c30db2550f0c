// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteCore
import VedetteTestSupport

@testable import VedetteHTTP

@Suite("Request queue")
struct RequestQueueTests {
    private func started(_ queue: inout RequestQueue) -> [RequestQueue.ID] {
        var ids: [RequestQueue.ID] = []
        while let id = queue.next() { ids.append(id) }
        return ids
    }

    @Test("each lane has its own slots", arguments: zip([Lane.polls, .slowHosts, .deliveries], [64, 16, 32]))
    func places(lane: Lane, places: Int) {
        var queue = RequestQueue()
        for id in 0..<200 { queue.add(UInt64(id), lane: lane, origin: "http://h\(id):80", group: "g\(id)") }
        #expect(started(&queue) == (0..<UInt64(places)).map { $0 })
        queue.finish(3)
        #expect(started(&queue) == [UInt64(places)])
    }

    @Test("a full lane does not block another")
    func separate() {
        var queue = RequestQueue()
        for id in 0..<100 { queue.add(UInt64(id), lane: .slowHosts, origin: "http://h\(id):80", group: nil) }
        _ = started(&queue)
        queue.add(1000, lane: .polls, origin: "http://a:80", group: nil)
        queue.add(1001, lane: .deliveries, origin: "http://b:80", group: "sink")
        #expect(Set(started(&queue)) == [1000, 1001])
    }

    @Test("at most eight requests to an origin run, over all lanes; the ninth blocks none behind it")
    func origin() {
        var queue = RequestQueue()
        for id in 0..<20 {
            queue.add(UInt64(id), lane: id < 5 ? .slowHosts : .polls, origin: "http://a:80", group: nil)
        }
        queue.add(100, lane: .polls, origin: "http://b:80", group: nil)
        let first = started(&queue)
        #expect(first.count == 9 && first.contains(100))
        queue.finish(first[0])
        #expect(started(&queue).count == 1)
    }

    @Test("at most four requests of a group run; the fifth blocks no other group")
    func group() {
        var queue = RequestQueue()
        for id in 0..<10 { queue.add(UInt64(id), lane: .deliveries, origin: "http://h\(id):80", group: "slack") }
        queue.add(100, lane: .deliveries, origin: "http://x:80", group: "mail")
        #expect(Set(started(&queue)) == [0, 1, 2, 3, 100])
        queue.finish(2)
        #expect(started(&queue) == [4])
    }

    @Test("up to 192 slow polls give back the slot of their lane, and keep the slot of their origin")
    func silent() {
        var queue = RequestQueue()
        for id in 0..<400 { queue.add(UInt64(id), lane: .polls, origin: "http://h\(id):80", group: nil) }
        var running = started(&queue)
        for _ in 0..<10 {
            for id in running { queue.markSlow(id) }
            running += started(&queue)
        }
        #expect(running.count == 64 + 192)
        for id in running { queue.finish(id) }
        #expect(started(&queue).count == 64)
    }

    @Test("receivers that do not answer delay no other: up to 96 of their requests give back their slot", .tags(.I7))
    func silentReceivers() {
        var queue = RequestQueue()
        func add(_ sink: Int) {
            for id in sink * 10..<sink * 10 + 4 {
                queue.add(UInt64(id), lane: .deliveries, origin: "http://h\(sink):80", group: "sink \(sink)")
            }
        }
        for sink in 0..<12 { add(sink) }
        var running = started(&queue)
        for id in running { queue.markSlow(id) }
        running += started(&queue)
        #expect(running.count == 12 * 4)
        add(12)
        #expect(started(&queue).count == 4, "the good one goes at once")
        for sink in 13..<60 { add(sink) }
        for _ in 0..<10 {
            running += started(&queue)
            for id in running { queue.markSlow(id) }
        }
        #expect(running.count + 4 == 32 + 96)
    }

    @Test("a request cancelled in the queue never starts", .tags(.I7))
    func cancelled() {
        var queue = RequestQueue()
        for id in 0..<20 { queue.add(UInt64(id), lane: .polls, origin: "http://a:80", group: nil) }
        let first = started(&queue)
        for id in 8..<19 { queue.cancel(UInt64(id)) }
        for id in first { queue.finish(id) }
        #expect(started(&queue) == [19])
        queue.finish(19)
        #expect(queue.isEmpty)
    }

    @Test("100,000 requests to 1,000 origins all start, in order per origin")
    func many() {
        var queue = RequestQueue()
        for id in 0..<100_000 { queue.add(UInt64(id), lane: .polls, origin: "http://h\(id % 1000):80", group: nil) }
        var last = [RequestQueue.ID: RequestQueue.ID]()
        var running = started(&queue)[...]
        var (count, isInOrder) = (0, true)
        while let id = running.popFirst() {
            isInOrder = isInOrder && last[id % 1000].map { $0 < id } ?? true
            last[id % 1000] = id
            count += 1
            queue.finish(id)
            running += started(&queue)
        }
        #expect(count == 100_000 && isInOrder && queue.isEmpty)
    }

    @Test("among ten thousand origins that come and go, one that stays busy keeps its limit and its order")
    func manyOrigins() {
        var queue = RequestQueue()
        for id in 0..<12 { queue.add(UInt64(id), lane: .polls, origin: "http://busy:80", group: nil) }
        #expect(started(&queue) == Array(0..<8))
        for id in 100..<10_100 {
            queue.add(UInt64(id), lane: .polls, origin: "http://h\(id):80", group: nil)
            #expect(started(&queue) == [UInt64(id)])
            queue.finish(UInt64(id))
        }
        queue.add(20_000, lane: .polls, origin: "http://busy:80", group: nil)
        #expect(started(&queue).isEmpty)
        for id in 0..<3 { queue.finish(UInt64(id)) }
        #expect(started(&queue) == [8, 9, 10])
        for id in 3..<11 { queue.finish(UInt64(id)) }
        #expect(started(&queue) == [11, 20_000])
        for id: UInt64 in [11, 20_000] { queue.finish(id) }
        #expect(queue.isEmpty)
    }
}
