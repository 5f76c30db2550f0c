// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteCore
import VedetteTestSupport

@testable import VedetteHTTP

@Suite("I7: the request queue against a model")
struct RequestQueueModelTests {
    @Test(
        "no order of events breaks a limit, leaves a free slot unused, or overtakes within a queue", arguments: 1...10)
    func model(_ seed: UInt64) {
        var random = SplitMix64(seed)
        var queue = RequestQueue()
        var model = QueueModel()
        for id in 1...600 {
            // Enough requests to reach every limit.
            if random.below(3) == 0 { model.disturb(&queue, &random) }
            model.add(UInt64(id), &queue, &random)
            if random.below(4) == 0 { model.start(&queue) }
        }
        model.start(&queue)
        while !model.running.isEmpty {
            model.disturb(&queue, &random)
            model.start(&queue)
        }
        #expect(model.waiting.isEmpty)
    }

    @Test("origins take turns: one request does not wait for ten thousand of another origin")
    func fairness() {
        var queue = RequestQueue()
        for id in 1...10_000 { queue.add(UInt64(id), lane: .polls, origin: "greedy", group: nil) }
        queue.add(10_001, lane: .polls, origin: "modest", group: nil)
        #expect([queue.next(), queue.next()] == [1, 10_001])
    }
}

/// A model of the rules of I7, without regard to cost.
private struct QueueModel {
    struct Entry {
        var id: RequestQueue.ID
        var lane: Lane
        var origin: String
        var group: String?
        var isSlow = false

        func sharesItsQueue(with other: Entry) -> Bool {
            lane == other.lane && origin == other.origin && group == other.group
        }
    }

    private static let places: [Lane: Int] = [.polls: 64, .slowHosts: 16, .deliveries: 32]

    var waiting: [Entry] = []
    var running: [Entry] = []

    mutating func add(_ id: RequestQueue.ID, _ queue: inout RequestQueue, _ random: inout SplitMix64) {
        let lane = Lane.allCases[random.below(3)]
        let group = lane == .deliveries ? "group \(random.below(6))" : nil
        let entry = Entry(id: id, lane: lane, origin: "origin \(random.below(30))", group: group)
        waiting.append(entry)
        queue.add(id, lane: lane, origin: entry.origin, group: group)
    }

    /// A request ends, is cancelled, or is marked as slow.
    mutating func disturb(_ queue: inout RequestQueue, _ random: inout SplitMix64) {
        switch random.below(5) {
        case 0 where !waiting.isEmpty: queue.cancel(waiting.remove(at: random.below(waiting.count)).id)
        case 1 where !running.isEmpty:
            let at = random.below(running.count)
            queue.markSlow(running[at].id)
            running[at].isSlow = running[at].isSlow || [.polls, .deliveries].contains(running[at].lane)
        default: if !running.isEmpty { queue.finish(running.remove(at: random.below(running.count)).id) }
        }
    }

    mutating func start(_ queue: inout RequestQueue) {
        while let id = queue.next() {
            guard let at = waiting.firstIndex(where: { $0.id == id }) else {
                Issue.record("\(id) was cancelled or runs already")
                continue
            }
            let entry = waiting.remove(at: at)
            #expect(mayStart()(entry))
            #expect(!waiting[..<at].contains { $0.sharesItsQueue(with: entry) })
            running.append(entry)
        }
        #expect(!waiting.contains(where: mayStart()))
    }

    private func mayStart() -> (Entry) -> Bool {
        var (lanes, origins, groups): ([Lane: Int], [String: Int], [String: Int]) = ([:], [:], [:])
        for entry in running {
            if !entry.isSlow { lanes[entry.lane, default: 0] += 1 }
            origins[entry.origin, default: 0] += 1
            if let group = entry.group { groups[group, default: 0] += 1 }
        }
        return { entry in
            lanes[entry.lane, default: 0] < QueueModel.places[entry.lane, default: 0]
                && origins[entry.origin, default: 0] < 8 && (entry.group.map { groups[$0, default: 0] < 4 } ?? true)
        }
    }
}
