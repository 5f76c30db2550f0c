// SPDX-License-Identifier: Apache-2.0

import Testing
@testable import VedetteCore

private func outbox(_ change: (inout DeliveryPolicy) -> Void) -> Outbox {
    var policy = DeliveryPolicy()
    change(&policy)
    return Outbox(policy: ["k": policy])
}

private func lane(_ source: String = "s") -> DeliveryLane { DeliveryLane(source: source, sink: "k") }

private func sent(_ id: Int64) -> Attempt {
    Attempt(delivery: id, state: .sent, attempts: 1, due: at(0), at: at(0), reason: nil)
}

private func failed(_ id: Int64, due: Timestamp, at now: Timestamp) -> Attempt {
    Attempt(delivery: id, state: .retry, attempts: 1, due: due, at: now, reason: "503")
}

private func ids(_ actions: [Outbox.Action]) -> [Int64] {
    actions.compactMap { if case .attempt(let delivery) = $0 { delivery.id } else { nil } }
}

@Suite("Outbox: delivery policy of a sink")
struct OutboxMannersTests {
    @Test("a sink's own concurrency is kept")
    func concurrency() {
        var outbox = outbox { $0.concurrency = 2 }
        for id in 1...5 { outbox.committed([delivery(Int64(id), source: "s\(id)")]) }
        #expect(ids(outbox.actions(at: at(0)).actions) == [1, 2])
        outbox.attempted(sent(1), in: lane("s1"))
        #expect(ids(outbox.actions(at: at(0)).actions) == [3])
    }

    @Test("a sink's own rate spreads the attempts of all its lanes, and says when the next one is due")
    func rate() {
        var outbox = outbox { $0.interval = .seconds(3) }
        for id in 1...3 { outbox.committed([delivery(Int64(id), source: "s\(id)")]) }
        let first = outbox.actions(at: at(0))
        #expect(ids(first.actions) == [1] && first.wake == at(3))
        outbox.attempted(sent(1), in: lane("s1"))
        #expect(ids(outbox.actions(at: at(2)).actions).isEmpty)
        #expect(ids(outbox.actions(at: at(3)).actions) == [2])
        #expect(ids(outbox.actions(at: at(6)).actions) == [3])
    }

    @Test("a policy that changes while messages wait applies to the next attempt")
    func changed() {
        var outbox = outbox { $0.concurrency = 1 }
        for id in 1...3 { outbox.committed([delivery(Int64(id), source: "s\(id)")]) }
        #expect(ids(outbox.actions(at: at(0)).actions) == [1])
        outbox.apply([:])
        #expect(ids(outbox.actions(at: at(0)).actions) == [2, 3])
    }

    @Test("parallel: a retry delays no other message of its lane, and up to four are in flight")
    func parallel() {
        var outbox = outbox { $0.isParallel = true }
        outbox.committed((1...6).map { delivery($0) })
        #expect(ids(outbox.actions(at: at(0)).actions) == [1, 2, 3, 4])
        outbox.attempted(failed(1, due: at(60), at: at(0)), in: lane())
        outbox.attempted(sent(2), in: lane())
        #expect(ids(outbox.actions(at: at(0)).actions) == [5, 6])
        for id in [3, 4, 5, 6] as [Int64] { outbox.attempted(sent(id), in: lane()) }
        let rest = outbox.actions(at: at(1))
        #expect(rest.actions.isEmpty && rest.wake == at(60))
        #expect(ids(outbox.actions(at: at(60)).actions) == [1])
    }

    @Test("parallel: a lane with more than is read ahead is read on while some of it waits")
    func parallelReading() {
        var outbox = outbox { $0.isParallel = true }
        outbox.laneFound(lane())
        _ = outbox.actions(at: at(0))
        outbox.loaded([delivery(1)], in: lane())
        #expect(outbox.actions(at: at(0)).actions == [.attempt(delivery(1)), .load(lane(), after: 1)])
        outbox.attempted(failed(1, due: at(60), at: at(0)), in: lane())
        outbox.loaded([delivery(2)], in: lane())
        #expect(ids(outbox.actions(at: at(0)).actions) == [2])
    }

    @Test("a new rate applies at once")
    func corrected() {
        var outbox = outbox { $0.interval = .seconds(86_400) }
        for id in 1...2 { outbox.committed([delivery(Int64(id), source: "s\(id)")]) }
        #expect(ids(outbox.actions(at: at(0)).actions) == [1])
        outbox.apply([:])
        #expect(ids(outbox.actions(at: at(1)).actions) == [2])
    }

    @Test("a delivery that ended while its lane was read is not attempted again")
    func endedWhileRead() {
        var outbox = Outbox()
        outbox.laneFound(lane())
        _ = outbox.actions(at: at(0))
        outbox.ended(delivery(1))
        outbox.loaded([delivery(1), delivery(2)], in: lane())
        #expect(outbox.actions(at: at(0)).actions == [.load(lane(), after: 0)])
        outbox.loaded([delivery(2)], in: lane())
        #expect(ids(outbox.actions(at: at(0)).actions) == [2])
    }

    @Test("a successor that is announced before what a poll committed earlier does not hide it")
    func overtaken() {
        var outbox = Outbox()
        outbox.committed([delivery(9)])
        #expect(ids(outbox.actions(at: at(0)).actions) == [9])
        outbox.moreCommitted(lane())
        outbox.committed([delivery(10)])
        outbox.attempted(sent(9), in: lane())
        #expect(outbox.actions(at: at(0)).actions == [.load(lane(), after: 9)])
        outbox.loaded([delivery(10), delivery(11)], in: lane())
        #expect(ids(outbox.actions(at: at(0)).actions) == [10])
    }

    @Test("a delivery that ended without an attempt is not attempted; one in flight continues")
    func ended() {
        var outbox = Outbox()
        outbox.committed([delivery(1), delivery(2), delivery(3)])
        #expect(ids(outbox.actions(at: at(0)).actions) == [1])
        outbox.ended(delivery(1))
        outbox.ended(delivery(2))
        outbox.attempted(sent(1), in: lane())
        #expect(ids(outbox.actions(at: at(0)).actions) == [3])
    }
}

@Suite("Outbox: circuit of a sink")
struct OutboxCircuitTests {
    /// Five lanes whose first attempts failed at 0 s and are due again at 2 s.
    private func dead() -> Outbox {
        var outbox = Outbox()
        for id in 1...5 { outbox.committed([delivery(Int64(id), source: "s\(id)")]) }
        for _ in 0..<2 {
            for id in ids(outbox.actions(at: at(0)).actions) {
                outbox.attempted(failed(id, due: at(2), at: at(0)), in: lane("s\(id)"))
            }
        }
        return outbox
    }

    @Test("five failures in a row over several lanes open the circuit: then one attempt at a time probes the receiver")
    func opens() {
        var outbox = dead()
        #expect(outbox.isOpen("k") && outbox.unavailableSinks.isEmpty)
        let waiting = outbox.actions(at: at(3))
        #expect(waiting.actions.isEmpty && waiting.wake == Timestamp(milliseconds: 3750))
        let probe = ids(outbox.actions(at: at(4)).actions)
        #expect(probe.count == 1)
        outbox.attempted(failed(probe[0], due: at(9), at: at(4)), in: lane("s\(probe[0])"))
        #expect(outbox.actions(at: at(6)).actions.isEmpty)
    }

    @Test("while the circuit is open there is one attempt in five minutes, however many lanes wait")
    func cost() {
        var outbox = Outbox()
        for id in 1...1000 { outbox.committed([delivery(Int64(id), source: "s\(id)")]) }
        var attempts = 0
        for second in 0..<7200 as Range<Int64> {
            for id in ids(outbox.actions(at: at(second)).actions) {
                attempts += 1
                outbox.attempted(failed(id, due: at(second + 1), at: at(second)), in: lane("s\(id)"))
            }
        }
        #expect(attempts < 50, "\(attempts)")
        #expect(outbox.unavailableSinks == ["k"])
    }

    @Test("an attempt in flight when the circuit opened does not extend the pause, but its Retry-After does")
    func underWay() {
        var outbox = Outbox()
        for id in 1...8 { outbox.committed([delivery(Int64(id), source: "s\(id)")]) }
        let first = ids(outbox.actions(at: at(0)).actions)
        outbox.attempted(failed(first[0], due: at(9), at: at(0)), in: lane("s\(first[0])"))
        let more = ids(outbox.actions(at: at(0)).actions)
        for id in first.dropFirst() + more { outbox.attempted(failed(id, due: at(9), at: at(0)), in: lane("s\(id)")) }
        #expect(outbox.actions(at: at(0)).wake == Timestamp(milliseconds: 3750))
    }

    @Test("a Retry-After while the circuit is open extends the pause")
    func asked() {
        var outbox = dead()
        let probe = ids(outbox.actions(at: at(4)).actions)
        outbox.attempted(
            failed(probe[0], due: at(90), at: at(4)), .retry(reason: "503", after: .seconds(86)),
            in: lane("s\(probe[0])"), random: 0)
        #expect(outbox.actions(at: at(89)).actions.isEmpty && !outbox.actions(at: at(90)).actions.isEmpty)
    }

    @Test("the first success closes the circuit and makes retries due, except those with a Retry-After")
    func closes() {
        var outbox = dead()
        outbox.committed([delivery(9, source: "s9")])
        let probe = ids(outbox.actions(at: at(4)).actions)
        outbox.attempted(
            failed(probe[0], due: at(600), at: at(4)), .retry(reason: "503", after: .seconds(596)),
            in: lane("s\(probe[0])"), random: 0.5)
        // The receiver's wish holds for all.
        #expect(ids(outbox.actions(at: at(599)).actions).isEmpty)
        let next = ids(outbox.actions(at: at(600)).actions)
        #expect(next.count == 1)
        outbox.attempted(sent(next[0]), in: lane("s\(next[0])"))
        #expect(!outbox.isOpen("k"))
        #expect(ids(outbox.actions(at: at(600)).actions).count == 4)
    }

    @Test("a message that its receiver cannot take blocks only its own lane")
    func poison() {
        var outbox = Outbox()
        outbox.committed([delivery(1)])
        for second in 0..<40 as Range<Int64> {
            for id in ids(outbox.actions(at: at(second)).actions) {
                outbox.attempted(failed(id, due: at(second + 1), at: at(second)), in: lane())
            }
        }
        outbox.committed((2...9).map { delivery($0, source: "s\($0)") })
        #expect(!outbox.isOpen("k") && ids(outbox.actions(at: at(40)).actions).count == 4)
    }

    @Test("drainOnce does not wait for an open circuit")
    func once() {
        var outbox = dead()
        outbox.drainOnce()
        _ = outbox.actions(at: at(0))
        #expect(outbox.isDrained)
    }

    @Test("`outbox retry` closes the circuit")
    func resumed() {
        var outbox = dead()
        outbox.resumed(sink: "k")
        #expect(!outbox.isOpen("k") && outbox.actions(at: at(0)).actions.count == 5)
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
