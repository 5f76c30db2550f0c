// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteTestSupport
@testable import VedetteCore

/// - Parameter key: the item that it is about; nil for the source, and empty for several items.
func delivery(
    _ id: Int64, source: String = "s", sink: String = "k", created: Timestamp = at(0), priority: Priority = .normal,
    rule: String = "r", key: String? = nil
) -> Delivery {
    let event = Event(
        id: Identifier("e\(id)"), kind: key == "" ? .digest : .appeared, time: at(0), source: source,
        sourceKind: "stub", poll: "p", item: key.flatMap { $0.isEmpty ? nil : Item(key: $0) })
    let message = Message(
        id: "msg_\(id)", rule: rule, sink: sink, event: event, title: "", text: "", priority: priority)
    return Delivery(id: id, message: message, created: created, due: created)
}

extension DeliverySchedule {
    /// The outcome that leads to the attempt's state.
    mutating func attempted(_ attempt: Attempt, in lane: DeliveryLane) {
        let outcome: Outcome =
            switch attempt.state {
            case .sent: .delivered
            case .retry, .pending: .retry(reason: "503", after: nil)
            case .paused: .paused(reason: "401")
            case .dead, .suppressed: .rejected(reason: "404")
            }
        attempted(attempt, outcome, in: lane, random: 0.5)
    }
}

@Suite("Delivery schedule")
struct DeliveryScheduleTests {
    private let lane = DeliveryLane(source: "s", sink: "k")

    private func sent(_ id: Int64) -> Attempt {
        Attempt(delivery: id, state: .sent, attempts: 1, due: at(0), at: at(0), reason: nil)
    }

    private func retry(_ id: Int64, due: Timestamp) -> Attempt {
        Attempt(delivery: id, state: .retry, attempts: 1, due: due, at: at(0), reason: "503")
    }

    @Test("a retry blocks its own lane and no other")
    func retryBlocksItsLane() {
        var schedule = DeliverySchedule()
        schedule.committed([delivery(1), delivery(2), delivery(3, source: "other")])
        #expect(schedule.actions(at: at(0)).actions == [.attempt(delivery(1)), .attempt(delivery(3, source: "other"))])
        schedule.attempted(retry(1, due: at(10)), in: lane)
        let waiting = schedule.actions(at: at(5))
        #expect(waiting.actions.isEmpty && waiting.wake == at(10))
        guard case .attempt(let again)? = schedule.actions(at: at(10)).actions.first else {
            Issue.record("not tried again")
            return
        }
        #expect(again.id == 1 && again.attempts == 1 && again.reason == "503")
    }

    @Test("a higher priority goes next at a sink with a rate, whatever else waits")
    func priorityOvertakes() {
        var policy = DeliveryPolicy()
        policy.interval = .seconds(1)
        var schedule = DeliverySchedule(policy: ["k": policy])
        schedule.committed((1...30).map { delivery($0, source: "s\($0 % 3)", key: "\($0)") })
        #expect(schedule.actions(at: at(0)).actions.count == 1)
        let urgent = delivery(32, source: "s1", priority: .high, key: "32")
        schedule.committed([
            delivery(31, source: "s1", priority: .low, key: "31"), urgent,
        ])
        #expect(schedule.actions(at: at(0)).actions.isEmpty)
        #expect(schedule.actions(at: at(1)).actions == [.attempt(urgent)])
        #expect(schedule.actions(at: at(2)).actions == [.attempt(delivery(2, source: "s2", key: "2"))])
    }

    @Test("no priority overtakes an earlier message of its subject, and a retry delays no other subject")
    func subjectInOrder() {
        var schedule = DeliverySchedule()
        func end(_ id: Int64, _ key: String?, rule: String = "r") -> Delivery {
            delivery(id, priority: .low, rule: rule, key: key)
        }
        schedule.committed([delivery(1, key: "web"), delivery(2, rule: "all", key: "")])
        #expect(schedule.actions(at: at(0)).actions == [.attempt(delivery(1, key: "web"))])
        schedule.attempted(retry(1, due: at(10)), in: lane)
        schedule.committed([end(3, "db"), end(4, "web"), end(5, "db")])
        #expect(schedule.actions(at: at(1)).actions == [.attempt(end(3, "db"))])
        schedule.attempted(sent(3), in: end(3, "db").lane)
        #expect(schedule.actions(at: at(2)).actions.isEmpty && schedule.isDrained)
        let urgent = delivery(6, priority: .high, rule: "all", key: "db")
        schedule.committed([urgent])
        // It may be one of the several items that an earlier message of its rule is about.
        #expect(schedule.actions(at: at(3)).actions.isEmpty)
        #expect(schedule.actions(at: at(10)).actions.count == 1)
        schedule.attempted(sent(1), in: lane)
        #expect(
            schedule.actions(at: at(10)).actions == [
                .attempt(delivery(2, rule: "all", key: "")), .attempt(end(4, "web")),
            ])
        schedule.attempted(sent(2), in: lane)
        #expect(schedule.actions(at: at(10)).actions == [.attempt(urgent)])
    }

    @Test("what is not read ahead is overtaken too, except by what the journal puts behind it")
    func priorityOvertakesUnread() {
        var schedule = DeliverySchedule()
        let all = (1...200).map { delivery($0, key: "\($0)") }
        schedule.committed(all)
        #expect(schedule.actions(at: at(0)).actions == [.attempt(all[0])])
        let high = DeliveryLane(source: "s", sink: "k", priority: .high)
        let (other, again) = (
            delivery(201, priority: .high, key: "x"), delivery(202, priority: .high, key: "150")
        )
        schedule.committed([other, again])
        #expect(schedule.actions(at: at(0)).actions == [.load(high, after: 0)])
        var read = [other, again]
        read[1].behind = 150
        schedule.loaded(read, in: high)
        let low = DeliveryLane(source: "s", sink: "k", priority: .low)
        #expect(schedule.actions(at: at(0)).actions == [.load(low, after: 0)])
        schedule.loaded([], in: low)
        #expect(schedule.actions(at: at(0)).actions == [.attempt(other)])
        schedule.attempted(sent(201), in: high)
        var order: [Int64] = []
        var running = [all[0]]
        while let next = running.popLast() {
            schedule.attempted(sent(next.id), in: next.lane)
            var actions = schedule.actions(at: at(0)).actions
            while !actions.isEmpty {
                for action in actions {
                    switch action {
                    case .attempt(let delivery):
                        order.append(delivery.id)
                        running.append(delivery)
                    case .load(let name, let after):
                        let page = name == lane ? all.filter { $0.id > after }.prefix(64) : []
                        schedule.loaded(Array(page), in: name)
                    }
                }
                actions = schedule.actions(at: at(0)).actions
            }
        }
        #expect(order == Array(2...150) + [202] + Array(151...200))
    }

    @Test("at most four of one sink are in flight, and every waiting lane gets its turn")
    func perSink() {
        var schedule = DeliverySchedule()
        for id in 1...6 { schedule.committed([delivery(Int64(id), source: "s\(id)")]) }
        #expect(schedule.actions(at: at(0)).actions.count == 4)
        // More for a lane that already waits must not take another lane's turn.
        schedule.committed([delivery(7, source: "s5"), delivery(8, source: "s5")])
        #expect(schedule.actions(at: at(0)).actions.isEmpty)
        schedule.attempted(sent(1), in: DeliveryLane(source: "s1", sink: "k"))
        #expect(schedule.actions(at: at(0)).actions == [.attempt(delivery(5, source: "s5"))])
        schedule.attempted(sent(2), in: DeliveryLane(source: "s2", sink: "k"))
        #expect(schedule.actions(at: at(0)).actions == [.attempt(delivery(6, source: "s6"))])
    }

    @Test("what is committed while the journal is read is neither lost nor repeated")
    func growsWhileLoading() {
        var schedule = DeliverySchedule()
        schedule.laneFound(lane)
        #expect(schedule.actions(at: at(0)).actions == [.load(lane, after: 0)])
        schedule.committed([delivery(5)])
        schedule.loaded([], in: lane)
        #expect(schedule.actions(at: at(0)).actions == [.load(lane, after: 0)])
        schedule.loaded([delivery(5)], in: lane)
        #expect(schedule.actions(at: at(0)).actions == [.attempt(delivery(5))])
    }

    @Test("a delivery that was read from the journal before it was announced is not repeated")
    func announcedLate() {
        var schedule = DeliverySchedule()
        schedule.laneFound(lane)
        _ = schedule.actions(at: at(0))
        schedule.loaded([delivery(5)], in: lane)
        _ = schedule.actions(at: at(0))
        schedule.attempted(sent(5), in: lane)
        #expect(schedule.actions(at: at(0)).actions == [.load(lane, after: 5)])
        schedule.loaded([], in: lane)
        _ = schedule.actions(at: at(0))
        schedule.committed([delivery(5)])
        #expect(schedule.actions(at: at(0)).actions.isEmpty && schedule.isDrained)
    }

    @Test("a delivery that is announced after a later one is read from the journal and attempted")
    func announcedInAnotherOrder() {
        var schedule = DeliverySchedule()
        schedule.committed([delivery(2)])
        #expect(schedule.actions(at: at(0)).actions == [.attempt(delivery(2))])
        schedule.attempted(sent(2), in: lane)
        schedule.committed([delivery(1)])
        #expect(schedule.actions(at: at(0)).actions == [.load(lane, after: 0)])
        schedule.loaded([delivery(1)], in: lane)
        #expect(schedule.actions(at: at(0)).actions == [.attempt(delivery(1))])
        schedule.attempted(sent(1), in: lane)
        #expect(schedule.actions(at: at(0)).actions == [.load(lane, after: 1)])
        schedule.loaded([], in: lane)
        // A successor with a lower id than a message that was announced before it.
        schedule.committed([delivery(9)])
        _ = schedule.actions(at: at(0))
        schedule.moreCommitted(lane, from: 8)
        schedule.attempted(sent(9), in: lane)
        #expect(schedule.actions(at: at(0)).actions == [.load(lane, after: 0)])
        #expect(!schedule.isDrained)
    }

    @Test("a delivery that ended in flight leaves its lane when its attempt fails")
    func endedInFlight() {
        var schedule = DeliverySchedule()
        schedule.committed([delivery(1), delivery(2)])
        #expect(schedule.actions(at: at(0)).actions == [.attempt(delivery(1))])
        schedule.ended(delivery(1))
        #expect(schedule.actions(at: at(0)).actions.isEmpty)
        let failed = Attempt(delivery: 1, state: .retry, attempts: 1, due: at(60), at: at(0), reason: "503")
        schedule.attempted(failed, in: lane)
        #expect(schedule.actions(at: at(0)).actions == [.attempt(delivery(2))])
    }

    @Test("a sink that is resumed while its lane is read or attempted repeats no delivery")
    func resumedWhileLoading() {
        var schedule = DeliverySchedule()
        schedule.laneFound(lane)
        _ = schedule.actions(at: at(0))
        schedule.resumed(sink: "k")
        #expect(schedule.actions(at: at(0)).actions.isEmpty)
        schedule.loaded([delivery(5)], in: lane)
        #expect(schedule.actions(at: at(0)).actions == [.load(lane, after: 0)])
        schedule.loaded([delivery(5)], in: lane)
        #expect(schedule.actions(at: at(0)).actions == [.attempt(delivery(5))])
        schedule.resumed(sink: "k")
        #expect(schedule.actions(at: at(0)).actions.isEmpty)
        schedule.attempted(sent(5), in: lane)
        #expect(schedule.actions(at: at(0)).actions == [.load(lane, after: 0)])
        schedule.loaded([delivery(5), delivery(6)], in: lane, ended: [5])
        #expect(schedule.actions(at: at(0)).actions == [.attempt(delivery(6))])
    }

    @Test("a paused sink gets no attempts, others do; when resumed, it starts with the delivery that it refused")
    func paused() {
        var schedule = DeliverySchedule()
        schedule.committed([delivery(1), delivery(2), delivery(3, sink: "other")])
        #expect(schedule.actions(at: at(0)).actions.count == 2)
        schedule.attempted(
            Attempt(delivery: 1, state: .paused, attempts: 1, due: at(0), at: at(0), reason: "401"), in: lane)
        #expect(schedule.actions(at: at(9)).actions.isEmpty)
        schedule.attempted(sent(3), in: DeliveryLane(source: "s", sink: "other"))
        _ = schedule.actions(at: at(9))
        #expect(schedule.isDrained)
        schedule.resumed(sink: "k")
        #expect(schedule.actions(at: at(9)).actions == [.load(lane, after: 0)])
        schedule.loaded([delivery(1), delivery(2)], in: lane)
        #expect(schedule.actions(at: at(9)).actions == [.attempt(delivery(1))])
    }

    @Test("drainOnce makes every delivery due, except those that have just failed")
    func hurried() {
        var schedule = DeliverySchedule()
        schedule.laneFound(lane)
        _ = schedule.actions(at: at(0))
        schedule.loaded([delivery(1, created: at(50))], in: lane)
        #expect(schedule.actions(at: at(0)).actions.isEmpty && schedule.isDrained)
        schedule.drainOnce()
        #expect(!schedule.isDrained && schedule.actions(at: at(0)).actions.count == 1)
        schedule.attempted(retry(1, due: at(90)), in: lane)
        _ = schedule.actions(at: at(0))
        schedule.drainOnce()
        #expect(schedule.actions(at: at(0)).actions.isEmpty)
    }
}

/// Random commits, outcomes, loads, restarts of sinks, ends without an attempt, against what must hold at every step. `k1`
/// gives up the order in odd runs, and has a rate in every third.
@Suite("Delivery schedule: property")
struct DeliverySchedulePropertyTests {
    private struct World {
        var dice: SplitMix64
        var schedule: DeliverySchedule
        let isParallel: Bool
        var journal: [DeliveryLane: [Delivery]] = [:]
        var announced: [Delivery] = []
        var inFlight: [Delivery] = []
        var reading: [(lane: DeliveryLane, result: [Delivery])] = []
        var done: [DeliveryLane: [Int64]] = [:]
        var committed: [DeliveryLane: [Int64]] = [:]
        var now: Int64 = 0
        var nextID: Int64 = 1

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
            for _ in 0..<Int.random(in: 1...90, using: &dice) where nextID < 2000 {
                let lane = DeliveryLane(
                    source: "s\(Int.random(in: 0..<4, using: &dice))", sink: "k\(Int.random(in: 0..<2, using: &dice))",
                    priority: [Priority.low, .normal, .normal, .normal, .high][Int.random(in: 0..<5, using: &dice)])
                let keys = ["", nil, "a", "b", "c", "d"]
                let new = delivery(
                    nextID, source: lane.source, sink: lane.sink, priority: lane.priority,
                    rule: "r\(Int.random(in: 0..<3, using: &dice))", key: keys[Int.random(in: 0..<6, using: &dice)])
                nextID += 1
                journal[lane, default: []].append(new)
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
                    for i in page.indices { page[i].behind = earlier(than: page[i]).map(\.id).max() ?? 0 }
                    reading.append((lane, page))
                }
            }
        }

        /// The pending deliveries in other lanes that it must not overtake.
        private func earlier(than delivery: Delivery) -> [Delivery] {
            delivery.lane.siblings.flatMap { (journal[$0] ?? []).prefix { $0.id < delivery.id } }.filter {
                $0.message.sharesSubject(with: delivery.message)
            }
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
            done[delivery.lane, default: []].append(delivery.id)
        }

        /// As a bound does it, to what was announced and is not under way.
        mutating func trim() {
            let pending = journal.values.compactMap(\.first).filter { one in
                !inFlight.contains { $0.id == one.id } && !announced.contains { $0.id == one.id }
            }
            guard let victim = pending.min(by: { $0.id < $1.id }) else { return }
            end(victim)
            schedule.ended(victim)
        }
    }

    @Test(
        "order in each lane, or none where it was given up; nothing lost, nothing twice, at most four per sink",
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
