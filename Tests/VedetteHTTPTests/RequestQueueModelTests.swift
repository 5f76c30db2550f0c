// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteCore

@testable import VedetteHTTP

@Suite("I7: the request queue against a model")
struct LanesModelTests {
    @Test(
        "no order of events breaks a limit, leaves a free place unused, or overtakes within a queue", arguments: 1...10)
    func model(_ seed: UInt64) {
        var random = SeededRandom(seed)
        var lanes = RequestQueue()
        var model = LanesModel()
        for id in 1...600 {
            // Busy enough that every limit is met.
            if random.below(3) == 0 { model.disturb(&lanes, &random) }
            model.add(UInt64(id), &lanes, &random)
            if random.below(4) == 0 { model.start(&lanes) }
        }
        model.start(&lanes)
        while !model.running.isEmpty {
            model.disturb(&lanes, &random)
            model.start(&lanes)
        }
        #expect(model.waiting.isEmpty)
    }

    @Test("origins take turns: one request does not wait for ten thousand of another origin")
    func fairness() {
        var lanes = RequestQueue()
        for id in 1...10_000 { lanes.add(UInt64(id), lane: .polls, origin: "greedy", group: nil) }
        lanes.add(10_001, lane: .polls, origin: "modest", group: nil)
        #expect([lanes.next(), lanes.next()] == [1, 10_001])
    }
}

/// The rules of I7 written down once more, without regard to cost.
private struct LanesModel {
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

    mutating func add(_ id: RequestQueue.ID, _ lanes: inout RequestQueue, _ random: inout SeededRandom) {
        let lane = Lane.allCases[random.below(3)]
        let group = lane == .deliveries ? "group \(random.below(6))" : nil
        let entry = Entry(id: id, lane: lane, origin: "origin \(random.below(30))", group: group)
        waiting.append(entry)
        lanes.add(id, lane: lane, origin: entry.origin, group: group)
    }

    /// Something ends, is cancelled, or falls silent.
    mutating func disturb(_ lanes: inout RequestQueue, _ random: inout SeededRandom) {
        switch random.below(5) {
        case 0 where !waiting.isEmpty: lanes.cancelled(waiting.remove(at: random.below(waiting.count)).id)
        case 1 where !running.isEmpty:
            let at = random.below(running.count)
            lanes.silent(running[at].id)
            running[at].isSlow = running[at].isSlow || running[at].lane == .polls
        default: if !running.isEmpty { lanes.finished(running.remove(at: random.below(running.count)).id) }
        }
    }

    mutating func start(_ lanes: inout RequestQueue) {
        while let id = lanes.next() {
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
            lanes[entry.lane, default: 0] < LanesModel.places[entry.lane, default: 0]
                && origins[entry.origin, default: 0] < 8 && (entry.group.map { groups[$0, default: 0] < 4 } ?? true)
        }
    }
}

/// The same sequence for the same seed (SplitMix64).
struct SeededRandom {
    private var state: UInt64

    init(_ seed: UInt64) { state = seed }

    mutating func below(_ limit: Int) -> Int {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = (state ^ (state >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return Int((mixed ^ (mixed >> 31)) % UInt64(limit))
    }
}
