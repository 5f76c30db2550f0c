// SPDX-License-Identifier: Apache-2.0

import Testing
@testable import VedetteCore

private func schedule(_ change: (inout DeliveryPolicy) -> Void) -> DeliverySchedule {
    var policy = DeliveryPolicy()
    change(&policy)
    return DeliverySchedule(policy: ["k": policy])
}

private func lane(_ source: String = "s") -> DeliveryLane { DeliveryLane(source: source, sink: "k") }

private func sent(_ id: Int64) -> Attempt {
    Attempt(delivery: id, state: .sent, attempts: 1, due: at(0), at: at(0), reason: nil)
}

private func failed(_ id: Int64, due: Timestamp, at now: Timestamp) -> Attempt {
    Attempt(delivery: id, state: .retry, attempts: 1, due: due, at: now, reason: "503")
}

private func ids(_ actions: [DeliverySchedule.Action]) -> [Int64] {
    actions.compactMap { if case .attempt(let delivery) = $0 { delivery.id } else { nil } }
}

@Suite("Delivery schedule: delivery policy of a sink")
struct DeliverySchedulePolicyTests {
    @Test("a sink's own concurrency is kept")
    func concurrency() {
        var schedule = schedule { $0.concurrency = 2 }
        for id in 1...5 { schedule.committed([delivery(Int64(id), source: "s\(id)")]) }
        #expect(ids(schedule.actions(at: at(0)).actions) == [1, 2])
        schedule.attempted(sent(1), in: lane("s1"))
        #expect(ids(schedule.actions(at: at(0)).actions) == [3])
    }

    @Test("a sink's own rate spreads the attempts of all its lanes, and says when the next one is due")
    func rate() {
        var schedule = schedule { $0.interval = .seconds(3) }
        for id in 1...3 { schedule.committed([delivery(Int64(id), source: "s\(id)")]) }
        let first = schedule.actions(at: at(0))
        #expect(ids(first.actions) == [1] && first.wake == at(3))
        schedule.attempted(sent(1), in: lane("s1"))
        #expect(ids(schedule.actions(at: at(2)).actions).isEmpty)
        #expect(ids(schedule.actions(at: at(3)).actions) == [2])
        #expect(ids(schedule.actions(at: at(6)).actions) == [3])
    }

    @Test("a policy that changes while messages wait applies to the next attempt")
    func changed() {
        var schedule = schedule { $0.concurrency = 1 }
        for id in 1...3 { schedule.committed([delivery(Int64(id), source: "s\(id)")]) }
        #expect(ids(schedule.actions(at: at(0)).actions) == [1])
        schedule.apply([:])
        #expect(ids(schedule.actions(at: at(0)).actions) == [2, 3])
    }

    @Test("parallel: a retry delays no other message of its lane, and up to four are in flight")
    func parallel() {
        var schedule = schedule { $0.isParallel = true }
        schedule.committed((1...6).map { delivery($0) })
        #expect(ids(schedule.actions(at: at(0)).actions) == [1, 2, 3, 4])
        schedule.attempted(failed(1, due: at(60), at: at(0)), in: lane())
        schedule.attempted(sent(2), in: lane())
        #expect(ids(schedule.actions(at: at(0)).actions) == [5, 6])
        for id in [3, 4, 5, 6] as [Int64] { schedule.attempted(sent(id), in: lane()) }
        let rest = schedule.actions(at: at(1))
        #expect(rest.actions.isEmpty && rest.wake == at(60))
        #expect(ids(schedule.actions(at: at(60)).actions) == [1])
    }

    @Test("parallel: a lane with more than is read ahead is read on while some of it waits")
    func parallelReading() {
        var schedule = schedule { $0.isParallel = true }
        schedule.laneFound(lane())
        _ = schedule.actions(at: at(0))
        schedule.loaded([delivery(1)], in: lane())
        #expect(schedule.actions(at: at(0)).actions == [.attempt(delivery(1)), .load(lane(), after: 1)])
        schedule.attempted(failed(1, due: at(60), at: at(0)), in: lane())
        schedule.loaded([delivery(2)], in: lane())
        #expect(ids(schedule.actions(at: at(0)).actions) == [2])
    }

    @Test("parallel: however many messages of a lane wait for a retry, the next ones are read, up to a bound")
    func parallelRetries() {
        var schedule = schedule { $0.isParallel = true }
        schedule.laneFound(lane())
        var (made, read) = (0, Int64(0))
        while made < 5000 {
            let actions = schedule.actions(at: at(0)).actions
            if actions.isEmpty { break }
            for action in actions {
                switch action {
                case .load(_, let after):
                    let ids = after + 1...after + Int64(DeliverySchedule.ahead)
                    read = ids.upperBound
                    schedule.loaded(ids.map { delivery($0) }, in: lane())
                case .attempt(let delivery):
                    made += 1
                    schedule.attempted(failed(delivery.id, due: at(3600), at: at(0)), in: lane())
                }
            }
        }
        #expect(made >= 1000 && made < 5000 && read < 5000)
    }

    @Test("parallel: a lane that is to be read again is not read while an attempt is in flight")
    func parallelRereading() {
        var schedule = schedule { $0.isParallel = true }
        schedule.laneFound(lane())
        _ = schedule.actions(at: at(0))
        schedule.loaded([delivery(1), delivery(2)], in: lane())
        #expect(ids(schedule.actions(at: at(0)).actions) == [1, 2])
        schedule.attempted(failed(1, due: at(60), at: at(0)), in: lane())
        // `vedette outbox drop`, while the next page is read.
        schedule.reread(sink: "k")
        schedule.loaded([delivery(3)], in: lane())
        let busy = schedule.actions(at: at(0))
        #expect(busy.actions.isEmpty && busy.wake == at(60))
        schedule.attempted(sent(2), in: lane())
        #expect(schedule.actions(at: at(0)).actions == [.load(lane(), after: 0)])
    }

    @Test("time in which no watcher ran does not count towards else_after")
    func elseAfter() {
        var schedule = schedule { ($0.fallbacks, $0.elseAfter) = (["mail"], .seconds(120)) }
        schedule.fails(sink: "k", since: at(0))
        #expect(schedule.divertedSinks(at: at(119)).isEmpty && schedule.divertedSinks(at: at(120)) == ["k"])
        schedule.excludeFromFailures(.seconds(100))
        #expect(schedule.divertedSinks(at: at(219)).isEmpty && schedule.divertedSinks(at: at(220)) == ["k"])
    }

    @Test("a new rate applies at once")
    func corrected() {
        var schedule = schedule { $0.interval = .seconds(86_400) }
        for id in 1...2 { schedule.committed([delivery(Int64(id), source: "s\(id)")]) }
        #expect(ids(schedule.actions(at: at(0)).actions) == [1])
        schedule.apply([:])
        #expect(ids(schedule.actions(at: at(1)).actions) == [2])
    }

    @Test("a delivery that ended while its lane was read is not attempted again")
    func endedWhileRead() {
        var schedule = DeliverySchedule()
        schedule.laneFound(lane())
        _ = schedule.actions(at: at(0))
        schedule.ended(delivery(1).place)
        schedule.loaded([delivery(1), delivery(2)], in: lane())
        #expect(schedule.actions(at: at(0)).actions == [.load(lane(), after: 0)])
        schedule.loaded([delivery(2)], in: lane())
        #expect(ids(schedule.actions(at: at(0)).actions) == [2])
    }

    @Test("a successor that is announced before what a poll committed earlier does not hide it")
    func overtaken() {
        var schedule = DeliverySchedule()
        schedule.committed([delivery(9)])
        #expect(ids(schedule.actions(at: at(0)).actions) == [9])
        schedule.moreCommitted(lane(), from: 11)
        schedule.committed([delivery(10)])
        schedule.attempted(sent(9), in: lane())
        #expect(schedule.actions(at: at(0)).actions == [.load(lane(), after: 9)])
        schedule.loaded([delivery(10), delivery(11)], in: lane())
        #expect(ids(schedule.actions(at: at(0)).actions) == [10])
    }

    @Test("a delivery that ended without an attempt is not attempted; one in flight continues")
    func ended() {
        var schedule = DeliverySchedule()
        schedule.committed([delivery(1), delivery(2), delivery(3)])
        #expect(ids(schedule.actions(at: at(0)).actions) == [1])
        schedule.ended(delivery(1).place)
        schedule.ended(delivery(2).place)
        schedule.attempted(sent(1), in: lane())
        #expect(ids(schedule.actions(at: at(0)).actions) == [3])
    }
}

@Suite("Delivery schedule: circuit of a sink")
struct ScheduleCircuitTests {
    /// Five lanes whose first attempts failed at 0 s and are due again at 2 s.
    private func dead() -> DeliverySchedule {
        var schedule = DeliverySchedule()
        for id in 1...5 { schedule.committed([delivery(Int64(id), source: "s\(id)")]) }
        for _ in 0..<2 {
            for id in ids(schedule.actions(at: at(0)).actions) {
                schedule.attempted(failed(id, due: at(2), at: at(0)), in: lane("s\(id)"))
            }
        }
        return schedule
    }

    @Test("five failures in a row over several lanes open the circuit: then one attempt at a time probes the receiver")
    func opens() {
        var schedule = dead()
        #expect(schedule.isOpen("k") && schedule.unavailableSinks.isEmpty)
        let waiting = schedule.actions(at: at(3))
        #expect(waiting.actions.isEmpty && waiting.wake == Timestamp(milliseconds: 3750))
        let probe = ids(schedule.actions(at: at(4)).actions)
        #expect(probe.count == 1)
        schedule.attempted(failed(probe[0], due: at(9), at: at(4)), in: lane("s\(probe[0])"))
        #expect(schedule.actions(at: at(6)).actions.isEmpty)
    }

    @Test("while the circuit is open there is one attempt in five minutes, however many lanes wait")
    func cost() {
        var schedule = DeliverySchedule()
        for id in 1...1000 { schedule.committed([delivery(Int64(id), source: "s\(id)")]) }
        var attempts = 0
        for second in 0..<7200 as Range<Int64> {
            for id in ids(schedule.actions(at: at(second)).actions) {
                attempts += 1
                schedule.attempted(failed(id, due: at(second + 1), at: at(second)), in: lane("s\(id)"))
            }
        }
        #expect(attempts < 50, "\(attempts)")
        #expect(schedule.unavailableSinks == ["k"])
    }

    @Test("an attempt in flight when the circuit opened does not extend the pause, but its Retry-After does")
    func underWay() {
        var schedule = DeliverySchedule()
        for id in 1...8 { schedule.committed([delivery(Int64(id), source: "s\(id)")]) }
        let first = ids(schedule.actions(at: at(0)).actions)
        schedule.attempted(failed(first[0], due: at(9), at: at(0)), in: lane("s\(first[0])"))
        let more = ids(schedule.actions(at: at(0)).actions)
        for id in first.dropFirst() + more { schedule.attempted(failed(id, due: at(9), at: at(0)), in: lane("s\(id)")) }
        #expect(schedule.actions(at: at(0)).wake == Timestamp(milliseconds: 3750))
    }

    @Test("a Retry-After while the circuit is open extends the pause")
    func asked() {
        var schedule = dead()
        let probe = ids(schedule.actions(at: at(4)).actions)
        schedule.attempted(
            failed(probe[0], due: at(90), at: at(4)), .retry(reason: "503", after: .seconds(86)),
            in: lane("s\(probe[0])"), random: 0)
        #expect(schedule.actions(at: at(89)).actions.isEmpty && !schedule.actions(at: at(90)).actions.isEmpty)
    }

    @Test("the first success closes the circuit and makes retries due, except those with a Retry-After")
    func closes() {
        var schedule = dead()
        schedule.committed([delivery(9, source: "s9")])
        let probe = ids(schedule.actions(at: at(4)).actions)
        schedule.attempted(
            failed(probe[0], due: at(600), at: at(4)), .retry(reason: "503", after: .seconds(596)),
            in: lane("s\(probe[0])"), random: 0.5)
        // The receiver's wish holds for all.
        #expect(ids(schedule.actions(at: at(599)).actions).isEmpty)
        let next = ids(schedule.actions(at: at(600)).actions)
        #expect(next.count == 1)
        schedule.attempted(sent(next[0]), in: lane("s\(next[0])"))
        #expect(!schedule.isOpen("k"))
        #expect(ids(schedule.actions(at: at(600)).actions).count == 4)
    }

    @Test("a message that its receiver cannot take blocks only its own lane")
    func poison() {
        var schedule = DeliverySchedule()
        schedule.committed([delivery(1)])
        for second in 0..<40 as Range<Int64> {
            for id in ids(schedule.actions(at: at(second)).actions) {
                schedule.attempted(failed(id, due: at(second + 1), at: at(second)), in: lane())
            }
        }
        schedule.committed((2...9).map { delivery($0, source: "s\($0)") })
        #expect(!schedule.isOpen("k") && ids(schedule.actions(at: at(40)).actions).count == 4)
    }

    @Test("drainOnce does not wait for an open circuit")
    func once() {
        var schedule = dead()
        schedule.drainOnce()
        _ = schedule.actions(at: at(0))
        #expect(schedule.isDrained)
    }

    @Test("`outbox retry` closes the circuit")
    func resumed() {
        var schedule = dead()
        schedule.resumed(sink: "k")
        #expect(!schedule.isOpen("k") && schedule.actions(at: at(0)).actions.count == 5)
    }
}

@Suite("Fallbacks")
struct FallbackTests {
    private func next(_ delivery: Delivery, along fallbacks: [String], known: Set<String>) -> Delivery? {
        delivery.fallback(among: fallbacks, where: known.contains, id: "msg_new", at: at(9))
    }

    @Test("a message that died goes to the first fallback there is, as a new message about the same event")
    func first() throws {
        let died = delivery(1)
        let successor = try #require(next(died, along: ["gone", "mail", "desktop"], known: ["mail", "desktop"]))
        #expect(successor.message.sink == "mail" && successor.message.id == "msg_new")
        #expect(successor.message.event == died.message.event && successor.chain == ["desktop"])
        #expect(successor.created == at(9) && successor.due == at(9) && successor.id == 0 && successor.attempts == 0)
    }

    @Test("a message follows the fallbacks of its first sink to their end")
    func chain() throws {
        let known: Set<String> = ["mail", "desktop"]
        let mail = try #require(next(delivery(1), along: ["mail", "desktop"], known: known))
        let desktop = try #require(next(mail, along: ["mail"], known: known))
        #expect(desktop.message.sink == "desktop" && desktop.chain == [])
        #expect(next(desktop, along: ["mail"], known: known) == nil)
    }
}
