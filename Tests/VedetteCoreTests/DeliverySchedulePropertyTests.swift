// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteTestSupport
@testable import VedetteCore

/// Random commits, outcomes, loads, restarts of sinks, ends without an attempt, against what must hold at every step. `k1`
/// gives up the order in odd runs, and has a rate in every third.
@Suite("Delivery schedule: property")
struct DeliverySchedulePropertyTests {
    private struct World {
        var dice: SplitMix64
        var schedule: DeliverySchedule
        let isParallel: Bool
        var journal: [DeliveryLane: [Delivery]] = [:]
        var pending = Set<Int64>()
        /// For each delivery those in other lanes that it must not overtake, as they were when it was committed: later ones come
        /// behind it.
        var rivals: [Int64: [DeliveryPlace]] = [:]
        var announced: [Delivery] = []
        var inFlight: [Delivery] = []
        var reading: [(lane: DeliveryLane, result: [Delivery])] = []
        var done: [DeliveryLane: [Int64]] = [:]
        var committed: [DeliveryLane: [Int64]] = [:]
        var now: Int64 = 0
        var nextID: Int64 = 1

        /// Enough that most lanes have more than a schedule reads ahead; what is compared grows with its square.
        static let deliveries = 1000

        init(_ seed: UInt64) {
            dice = SplitMix64(seed)
            isParallel = seed % 2 == 1
            var policy = DeliveryPolicy()
            policy.isParallel = isParallel
            if seed % 3 == 0 { policy.interval = .seconds(1) }
            schedule = DeliverySchedule(policy: ["k1": policy])
        }

        func isOrdered(_ lane: DeliveryLane) -> Bool { !(isParallel && lane.sink == "k1") }

        mutating func commit() {
            for _ in 0..<Int.random(in: 1...90, using: &dice) where nextID < World.deliveries {
                let lane = DeliveryLane(
                    source: "s\(Int.random(in: 0..<4, using: &dice))", sink: "k\(Int.random(in: 0..<2, using: &dice))",
                    priority: [Priority.low, .normal, .normal, .normal, .high][Int.random(in: 0..<5, using: &dice)])
                let keys = ["", nil, "a", "b", "c", "d"]
                let new = delivery(
                    nextID, source: lane.source, sink: lane.sink, priority: lane.priority,
                    rule: "r\(Int.random(in: 0..<3, using: &dice))", key: keys[Int.random(in: 0..<6, using: &dice)])
                nextID += 1
                rivals[new.id] = journal.filter { $0.key.sink == lane.sink && $0.key != lane }.values.joined()
                    .filter { $0.message.sharesSubject(with: new.message) }.map(\.place)
                journal[lane, default: []].append(new)
                pending.insert(new.id)
                committed[lane, default: []].append(new.id)
                announced.append(new)
            }
        }

        mutating func announce() {
            schedule.committed(announced)
            announced = []
        }

        mutating func obey() {
            for order in schedule.actions(at: at(now)).actions {
                switch order {
                case .attempt(let delivery):
                    #expect(!inFlight.contains { $0.id == delivery.id }, "twice at once")
                    #expect(journal[delivery.lane]?.contains { $0.id == delivery.id } == true, "it had ended")
                    if isOrdered(delivery.lane) {
                        #expect(!inFlight.contains { $0.lane == delivery.lane })
                        #expect(delivery.id == journal[delivery.lane]?.first?.id, "out of order in its lane")
                        #expect(earlier(than: delivery).isEmpty, "before an earlier one of its subject")
                    }
                    inFlight.append(delivery)
                    let ofSink = inFlight.count { $0.lane.sink == delivery.lane.sink }
                    #expect(ofSink <= DeliveryPolicy.maximumConcurrency)
                case .load(let lane, let after):
                    // The journal is read now; the schedule is told of it later.
                    var page = Array((journal[lane] ?? []).filter { $0.id > after }.prefix(DeliverySchedule.ahead))
                    for i in page.indices { page[i].behind = earlier(than: page[i]).max { $0.id < $1.id } }
                    reading.append((lane, page))
                }
            }
        }

        /// The pending deliveries in other lanes that it must not overtake.
        private func earlier(than delivery: Delivery) -> [DeliveryPlace] {
            (rivals[delivery.id] ?? []).filter { pending.contains($0.id) }
        }

        mutating func endReading() {
            guard !reading.isEmpty else { return }
            let read = reading.remove(at: Int.random(in: 0..<reading.count, using: &dice))
            if Int.random(in: 0..<5, using: &dice) == 0 {
                schedule.loadFailed(in: read.lane)
            } else {
                schedule.loaded(read.result, in: read.lane)
            }
        }

        mutating func endAttempt(alwaysSent: Bool) {
            guard !inFlight.isEmpty else { return }
            let delivery = inFlight.remove(at: Int.random(in: 0..<inFlight.count, using: &dice))
            let die = alwaysSent ? 0 : Int.random(in: 0..<10, using: &dice)
            let state: DeliveryState = die < 6 ? .sent : die < 8 ? .retry : die < 9 ? .dead : .paused
            if !state.isPending { end(delivery) }
            let due = at(now + Int64.random(in: 1...9, using: &dice))
            schedule.attempted(
                Attempt(delivery: delivery.id, state: state, attempts: 1, due: due, at: at(now), reason: nil),
                in: delivery.lane)
        }

        private mutating func end(_ delivery: Delivery) {
            journal[delivery.lane]?.removeAll { $0.id == delivery.id }
            pending.remove(delivery.id)
            done[delivery.lane, default: []].append(delivery.id)
        }

        /// As a bound does it, to what was announced and is not under way.
        mutating func trim() {
            let pending = journal.values.compactMap(\.first).filter { one in
                !inFlight.contains { $0.id == one.id } && !announced.contains { $0.id == one.id }
            }
            guard let victim = pending.min(by: { $0.id < $1.id }) else { return }
            end(victim)
            schedule.ended(victim.place)
        }
    }

    @Test(
        "order in each lane, or none where it was given up; nothing lost, nothing twice, at most four per sink",
        .tags(.I6),
        arguments: 1...12)
    func property(seed: UInt64) {
        var world = World(seed)
        for _ in 0..<600 {
            switch Int.random(in: 0..<9, using: &world.dice) {
            case 0: world.commit()
            case 1: world.announce()
            case 2, 3: world.endReading()
            case 4, 5: world.endAttempt(alwaysSent: false)
            case 6: world.now += 1
            case 7: world.trim()
            default: world.schedule.resumed(sink: "k\(Int.random(in: 0..<2, using: &world.dice))")
            }
            world.obey()
        }
        world.announce()
        for _ in 0..<60_000 {
            world.now += 1
            if world.now % 50 == 0 {
                for sink in ["k0", "k1"] where !world.inFlight.isEmpty || world.now % 500 == 0 {
                    world.schedule.resumed(sink: sink)
                }
            }
            world.endReading()
            world.endAttempt(alwaysSent: true)
            world.obey()
            if world.journal.values.allSatisfy(\.isEmpty), world.reading.isEmpty { break }
        }
        for (lane, ids) in world.committed { #expect(world.done[lane]?.sorted() == ids) }
    }
}
