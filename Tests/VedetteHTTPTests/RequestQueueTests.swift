// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteCore

@testable import VedetteHTTP

@Suite("Request queue")
struct LanesTests {
    private func started(_ lanes: inout RequestQueue) -> [RequestQueue.ID] {
        var ids: [RequestQueue.ID] = []
        while let id = lanes.next() { ids.append(id) }
        return ids
    }

    @Test("each lane has its own places", arguments: zip([Lane.polls, .slowHosts, .deliveries], [64, 16, 32]))
    func places(lane: Lane, places: Int) {
        var lanes = RequestQueue()
        for id in 0..<200 { lanes.add(UInt64(id), lane: lane, origin: "http://h\(id):80", group: "g\(id)") }
        #expect(started(&lanes) == (0..<UInt64(places)).map { $0 })
        lanes.finished(3)
        #expect(started(&lanes) == [UInt64(places)])
    }

    @Test("a full lane stops no other")
    func separate() {
        var lanes = RequestQueue()
        for id in 0..<100 { lanes.add(UInt64(id), lane: .slowHosts, origin: "http://h\(id):80", group: nil) }
        _ = started(&lanes)
        lanes.add(1000, lane: .polls, origin: "http://a:80", group: nil)
        lanes.add(1001, lane: .deliveries, origin: "http://b:80", group: "sink")
        #expect(Set(started(&lanes)) == [1000, 1001])
    }

    @Test("at most eight to an origin, over all lanes; the ninth blocks nobody behind it")
    func origin() {
        var lanes = RequestQueue()
        for id in 0..<20 {
            lanes.add(UInt64(id), lane: id < 5 ? .slowHosts : .polls, origin: "http://a:80", group: nil)
        }
        lanes.add(100, lane: .polls, origin: "http://b:80", group: nil)
        let first = started(&lanes)
        #expect(first.count == 9 && first.contains(100))
        lanes.finished(first[0])
        #expect(started(&lanes).count == 1)
    }

    @Test("at most four of a group; the fifth blocks no other group")
    func group() {
        var lanes = RequestQueue()
        for id in 0..<10 { lanes.add(UInt64(id), lane: .deliveries, origin: "http://h\(id):80", group: "slack") }
        lanes.add(100, lane: .deliveries, origin: "http://x:80", group: "mail")
        #expect(Set(started(&lanes)) == [0, 1, 2, 3, 100])
        lanes.finished(2)
        #expect(started(&lanes) == [4])
    }

    @Test("a silent poll gives its place to another, up to 192 of them; its origin's place it keeps")
    func silent() {
        var lanes = RequestQueue()
        for id in 0..<400 { lanes.add(UInt64(id), lane: .polls, origin: "http://h\(id):80", group: nil) }
        var running = started(&lanes)
        for _ in 0..<10 {
            for id in running { lanes.silent(id) }
            running += started(&lanes)
        }
        #expect(running.count == 64 + 192)
        for id in running { lanes.finished(id) }
        #expect(started(&lanes).count == 64)
    }

    @Test("who is cancelled in the queue never starts")
    func cancelled() {
        var lanes = RequestQueue()
        for id in 0..<20 { lanes.add(UInt64(id), lane: .polls, origin: "http://a:80", group: nil) }
        let first = started(&lanes)
        for id in 8..<19 { lanes.cancelled(UInt64(id)) }
        for id in first { lanes.finished(id) }
        #expect(started(&lanes) == [19])
        lanes.finished(19)
        #expect(lanes.isEmpty)
    }

    @Test("100,000 that wait for 1,000 origins all have their turn, in the order of each origin")
    func many() {
        var lanes = RequestQueue()
        for id in 0..<100_000 { lanes.add(UInt64(id), lane: .polls, origin: "http://h\(id % 1000):80", group: nil) }
        var last = [RequestQueue.ID: RequestQueue.ID]()
        var running = started(&lanes)[...]
        var (count, isInOrder) = (0, true)
        while let id = running.popFirst() {
            isInOrder = isInOrder && last[id % 1000].map { $0 < id } ?? true
            last[id % 1000] = id
            count += 1
            lanes.finished(id)
            running += started(&lanes)
        }
        #expect(count == 100_000 && isInOrder && lanes.isEmpty)
    }
}
