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

    @Test("a retry blocks its own lane and no other", .tags(.I6))
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

    @Test("a higher priority goes next at a sink with a rate, whatever else waits", .tags(.I6))
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

    @Test("no priority overtakes an earlier message of its subject, and a retry delays no other subject", .tags(.I6))
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
        read[1].behind = all[149].place
        schedule.loaded(read, in: high)
        #expect(schedule.actions(at: at(0)).actions == [.attempt(other)])
        schedule.attempted(sent(201), in: high)
        #expect(drain(&schedule, running: all[0], journal: all) == Array(2...150) + [202] + Array(151...200))
    }

    /// Sends all of a lane that is read from the journal, and returns the order of the attempts.
    private func drain(_ schedule: inout DeliverySchedule, running first: Delivery, journal all: [Delivery]) -> [Int64]
    {
        var order: [Int64] = []
        var running = [first]
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
                        let page = name == first.lane ? all.filter { $0.id > after }.prefix(64) : []
                        schedule.loaded(Array(page), in: name)
                    }
                }
                actions = schedule.actions(at: at(0)).actions
            }
        }
        return order
    }

    @Test(
        "a message about several items of several sources keeps its place among the messages about each of them",
        .tags(.I6))
    func severalSources() {
        var schedule = DeliverySchedule()
        let all = delivery(2, source: "c", key: "")
        schedule.committed([delivery(1, source: "c", key: "x"), all, delivery(3, source: "a", key: "y")])
        let other = delivery(4, source: "b", rule: "other", key: "y")
        schedule.committed([other, delivery(5, source: "d", priority: .high, key: "")])
        func next() -> [Int64] {
            schedule.actions(at: at(0)).actions.compactMap {
                if case .attempt(let delivery) = $0 { delivery.id } else { nil }
            }
        }
        func send(_ id: Int64, _ source: String, _ priority: Priority = .normal) -> [Int64] {
            schedule.attempted(sent(id), in: DeliveryLane(source: source, sink: "k", priority: priority))
            return next()
        }
        #expect(next() == [1, 4])
        #expect(send(1, "c") == [2])
        #expect(send(2, "c") == [3])
        #expect(send(3, "a") == [5])
        #expect(send(5, "d", .high).isEmpty && send(4, "b").isEmpty && schedule.isDrained)
    }

    @Test(
        "a message waits for an earlier one about several in another lane that is not read yet, and not for the lane's rest"
    )
    func severalUnread() {
        var schedule = DeliverySchedule()
        var old = (1...200).map { delivery($0, source: "c", key: "\($0)") }
        old[149] = delivery(150, source: "c", key: "")
        schedule.committed(old)
        #expect(schedule.actions(at: at(0)).actions == [.attempt(old[0])])
        let (free, end) = (delivery(201, source: "b", rule: "other", key: "y"), delivery(202, source: "a", key: "z"))
        schedule.committed([free, end])
        #expect(
            Set(schedule.actions(at: at(0)).actions) == [.load(free.lane, after: 0), .load(end.lane, after: 0)])
        var read = end
        read.behind = old[149].place
        schedule.loaded([free], in: free.lane)
        schedule.loaded([read], in: end.lane)
        #expect(schedule.actions(at: at(0)).actions == [.attempt(free)])
        schedule.attempted(sent(201), in: free.lane)
        #expect(drain(&schedule, running: old[0], journal: old) == Array(2...151) + [202] + Array(152...200))
    }

    @Test("at most four of one sink are in flight, and every waiting lane gets its turn", .tags(.I7))
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

    @Test("a delivery that is announced after a later one is read from the journal and attempted", .tags(.I6))
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
        schedule.ended(delivery(1).place)
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

    @Test("a page that is read while its sink is given up makes no lane of that sink")
    func removedWhileLoading() {
        var schedule = DeliverySchedule()
        schedule.laneFound(lane)
        _ = schedule.actions(at: at(0))
        schedule.remove(sink: "k")
        var read = delivery(2, key: "web")
        read.behind = delivery(1, priority: .high, key: "web").place
        schedule.loaded([read], in: lane)
        #expect(schedule.actions(at: at(0)).actions.isEmpty && schedule.isDrained)
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
