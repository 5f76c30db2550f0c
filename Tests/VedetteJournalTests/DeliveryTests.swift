// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteCore
import VedetteTestSupport

@testable import VedetteJournal

@Suite("Deliveries (I5)")
struct DeliveryTests {
    let scratch = Scratch()
    let lane = DeliveryLane(source: "lab", sink: "team", priority: .high)

    private func attempt(
        _ delivery: Int64, _ state: DeliveryState, number: Int = 1, at milliseconds: Int64 = 10, reason: String? = nil
    ) -> Attempt {
        Attempt(
            delivery: delivery, state: state, attempts: number, due: stamp(milliseconds + 5), at: stamp(milliseconds),
            reason: reason)
    }

    @Test(
        "lanes are found once each, and a lane is read in the order of release, page by page",
        arguments: Backend.allCases)
    func lanes(_ backend: Backend) async throws {
        let store = try await backend.open()
        let journal = store.journal
        let blog = event(100, source: "blog")
        _ = try await journal.commit(
            polls(1...5) + polls(6...7, sink: "hook")
                + [poll("blog", events: [blog], deliveries: [delivery(100, of: blog)])])
        #expect(
            try await journal.pendingLanes() == [
                DeliveryLane(source: "blog", sink: "team", priority: .high),
                DeliveryLane(source: "lab", sink: "hook", priority: .high), lane,
            ])
        #expect(try await journal.pending(in: lane, after: 0, limit: 3).map(\.id) == [1, 2, 3])
        #expect(try await journal.pending(in: lane, after: 3, limit: 3).map(\.id) == [4, 5])
        try await journal.close()
    }

    @Test(
        "clear deletes dead deliveries alone, with their attempts, and the counts go down", arguments: Backend.allCases)
    func clear(_ backend: Backend) async throws {
        let store = try await backend.open()
        let journal = store.journal
        _ = try await journal.commit(polls(1...3))
        try await journal.record([
            attempt(1, .sent), attempt(2, .retry, reason: "503"), attempt(3, .dead, reason: "404"),
        ])
        #expect(try await store.access.clear(.all(DeliveryFilter(.unsent)), at: stamp(5)) == 1)
        let reader = try await store.reader()
        #expect(try await reader.deliveries(limit: 9).map(\.state) == [.sent, .retry])
        #expect(try await reader.attempts(of: 3).isEmpty)
        #expect(try await reader.sinkCounts().map(\.dead) == [0])
        #expect(try await journal.record([attempt(3, .dead, reason: "late")]).isEmpty)
        try await journal.close()
    }

    @Test("a change of many deliveries ends between two steps when it is cancelled, and what it changed stays")
    func cancelledChange() async throws {
        let store = try await Backend.sqlite.open()
        let cause = event(1)
        let deliveries = (1...DeliveryChange.step + 1).map { delivery($0, of: cause) }
        _ = try await store.journal.commit([poll(events: [cause], deliveries: deliveries)])
        let access = store.access
        let change = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await access.drop(.all(DeliveryFilter(.unsent)), at: stamp(5))
        }
        #expect(try await change.value == DeliveryChange.step)
        #expect(try await store.reader().sinkCounts().first?.pending == 1)
        try await store.journal.close()
    }

    @Test(
        "an outcome is kept: what was retried is pending with its count, time and reason, what ended is not",
        arguments: Backend.allCases)
    func outcomes(_ backend: Backend) async throws {
        let store = try await backend.open()
        let journal = store.journal
        _ = try await journal.commit(polls(1...5))
        try await journal.record([
            attempt(1, .sent), attempt(2, .retry, reason: "503"), attempt(3, .dead, reason: "404"),
            attempt(4, .paused, reason: "401"), attempt(5, .suppressed, reason: "dropped"),
        ])
        let pending = try await journal.pending(in: lane, after: 0, limit: 9)
        #expect(pending.map(\.id) == [2, 4])
        #expect(pending[0].attempts == 1 && pending[0].due == stamp(15) && pending[0].reason == "503")
        let reader = try await store.reader()
        let all = try await reader.deliveries(limit: 9)
        #expect(all.map(\.state) == [.sent, .retry, .dead, .paused, .suppressed])
        #expect(all.map(\.endedAt) == [stamp(10), nil, stamp(10), nil, stamp(10)])
        #expect(all.map(\.delivery.reason) == [nil, "503", "404", "401", "dropped"])
        let count = try #require(try await reader.sinkCounts().first)
        #expect((count.pending, count.retrying, count.paused, count.dead) == (2, 1, 1, 1))
        #expect(count.pendingBytes == pending.reduce(0) { $0 + $1.queueBytes })
        let activity = SinkActivity(
            sink: "team", sent: 1, lastSentAt: stamp(10), lastDeadAt: stamp(10), lastDeadReason: "404")
        #expect(try await reader.activity(of: ["team", "none"], since: stamp(10)) == [activity, .init(sink: "none")])
        #expect(try await reader.activity(of: ["team"], since: stamp(11)).map(\.sent) == [0])
        let ofRule = try await reader.ruleCount(of: try #require(all.first).delivery.message.rule)
        #expect((ofRule.matched, ofRule.sent, ofRule.suppressed) == (5, 1, 1) && !ofRule.isPartial)
        #expect(try await reader.ruleCount(of: "none") == RuleCount(events: [], others: []))
        try await journal.close()
    }

    @Test(
        "how a receiver calls a sent message is found by a later one of its rule and sink, the newest first",
        arguments: Backend.allCases)
    func receiverIDs(_ backend: Backend) async throws {
        let store = try await backend.open()
        _ = try await store.journal.commit(polls(1...5) + polls(6...6, sink: "hook"))
        var attempts = (1...6).map { attempt($0, .sent) }
        for i in [0, 2, 3, 5] { attempts[i].receiverID = "m\(i + 1)" }
        try await store.journal.record(attempts)
        try await store.restart()
        let journal = store.journal
        func found(_ id: Int, rule: String = "ready", limit: Int = 9) async throws -> [String?] {
            var later = delivery(id, of: event(id), rule: rule)
            later.id = Int64(id)
            return try await journal.sent(before: later, limit: limit).map(\.receiverID)
        }
        #expect(try await found(5) == ["m4", "m3", "m1"])
        #expect(try await found(4, limit: 1) == ["m3"])
        #expect(try await found(5, rule: "other") == [])
        #expect(
            try await journal.sent(before: try #require(store.reader().deliveries(limit: 9).last?.delivery), limit: 9)
                == [])
        try await journal.close()
    }

    @Test("a message keeps its tags, its count and the field that its rule is about", arguments: Backend.allCases)
    func details(_ backend: Backend) async throws {
        let store = try await backend.open()
        var kept = delivery(1, of: event(1))
        (kept.message.tags, kept.message.suppressed, kept.message.field) = (["a", "b"], 3, "owner")
        _ = try await store.journal.commit([poll(events: [event(1)], deliveries: [kept])])
        let message = try #require(try await store.journal.pending(in: lane, after: 0, limit: 1).first).message
        #expect(message.tags == ["a", "b"] && message.suppressed == 3 && message.field == "owner")
        try await store.journal.close()
    }

    @Test("an end is an end: an outcome that comes late changes nothing", .tags(.I5), arguments: Backend.allCases)
    func late(_ backend: Backend) async throws {
        let store = try await backend.open()
        let journal = store.journal
        _ = try await journal.commit(polls(1...1))
        try await journal.record([attempt(1, .suppressed, reason: "dropped")])
        try await journal.record([attempt(1, .retry, number: 2, reason: "503"), attempt(77, .retry)])
        let reader = try await store.reader()
        #expect(try await reader.deliveries(limit: 9).map(\.state) == [.suppressed])
        #expect(try await reader.attempts(of: 1).map(\.attempts) == [1])
        #expect(try await reader.attempts(of: 77).isEmpty)
        try await journal.close()
    }

    @Test("failed attempts are remembered, the newest of them only", arguments: Backend.allCases)
    func attempts(_ backend: Backend) async throws {
        let store = try await backend.open()
        let journal = store.journal
        _ = try await journal.commit(polls(1...1))
        for number in 1...40 {
            try await journal.record([attempt(1, .retry, number: number, reason: "\(number)")])
        }
        try await journal.record([attempt(1, .sent, number: 41)])
        #expect(try await store.reader().attempts(of: 1).map(\.attempts) == Array(9...40))
        try await journal.close()
    }

    @Test("a message id is refused a second time", .tags(.I4), arguments: Backend.allCases)
    func messageID(_ backend: Backend) async throws {
        let store = try await backend.open()
        let journal = store.journal
        _ = try await journal.commit(polls(1...1))
        let other = event(2)
        await #expect(throws: JournalError.self) {
            try await journal.commit([poll(events: [other], deliveries: [delivery(1, of: other)])])
        }
        try await journal.close()
    }

    @Test("deliveries are found by state, sink, rule, event and age", arguments: Backend.allCases)
    func filters(_ backend: Backend) async throws {
        let store = try await backend.open()
        let journal = store.journal
        let cause = event(9)
        _ = try await journal.commit(
            polls(1...2) + polls(3...3, sink: "hook")
                + [poll(events: [cause], deliveries: [delivery(9, of: cause, rule: "other")])])
        try await journal.record([attempt(2, .dead, reason: "404"), attempt(3, .dead, reason: "404")])
        let reader = try await store.reader()
        func ids(_ filter: DeliveryFilter) async throws -> [Int64] {
            try await reader.deliveries(filter, limit: 9).map(\.delivery.id)
        }
        #expect(try await ids(DeliveryFilter(.only(.dead))) == [2, 3])
        #expect(try await ids(DeliveryFilter(.only(.dead), sink: "hook")) == [3])
        #expect(try await ids(DeliveryFilter(.only(.pending))) == [1, 4])
        #expect(try await ids(DeliveryFilter(rule: "other")) == [4])
        #expect(try await ids(DeliveryFilter(event: 2)) == [2])
        #expect(try await ids(DeliveryFilter(.unsent)) == [1, 2, 3, 4])
        #expect(try await ids(DeliveryFilter(.unsent, sink: "hook")) == [3])
        #expect(try await ids(DeliveryFilter(.unsent, before: stamp(0))) == [])
        #expect(try await ids(DeliveryFilter(before: stamp(1))) == [1, 2, 3, 4])
        try await journal.close()
    }

    @Test(
        "messages whose event is not stored are found, and changed, as messages of event 0", arguments: Backend.allCases
    )
    func withoutStoredEvent(_ backend: Backend) async throws {
        let store = try await backend.open()
        let digest = event(9, kind: .digest)
        _ = try await store.journal.commit(polls(1...1) + [poll(deliveries: [delivery(9, of: digest)])])
        let reader = try await store.reader()
        let found = try await reader.deliveries(DeliveryFilter(event: 0), limit: 9).map(\.delivery.message)
        #expect(found.map(\.id) == ["msg_9"])
        #expect(found.map(\.event.id) == [digest.id])
        #expect(try await store.access.drop(.all(DeliveryFilter(.unsent, event: 0)), at: stamp(5)) == 1)
        #expect(try await reader.deliveries(DeliveryFilter(.only(.dead)), limit: 9).map(\.delivery.id) == [2])
        try await store.journal.close()
    }

    @Test(
        "a dead delivery is committed together with its successor, which has the rest of the chain after a restart",
        arguments: Backend.allCases)
    func successor(_ backend: Backend) async throws {
        let store = try await backend.open()
        let journal = store.journal
        _ = try await journal.commit(polls(1...2))
        let first = try #require(try await journal.pending(in: lane, after: 0, limit: 1).first)
        var dead = attempt(1, .dead, reason: "404")
        dead.successor = first.fallback(among: ["mail", "desktop"], where: { _ in true }, id: "msg_x", at: stamp(20))
        let successors = try await journal.record([dead])
        #expect(successors.map(\.id) == [3] && successors.first?.message.event.seq == first.message.event.seq)
        // An end that comes late has no heirs.
        dead.successor?.message.id = "msg_y"
        #expect(try await journal.record([dead]).isEmpty)
        try await store.restart()
        let again = store.journal
        let pending = try await again.pending(
            in: DeliveryLane(source: "lab", sink: "mail", priority: .high), after: 0, limit: 9)
        #expect(pending.map(\.chain) == [["desktop"]] && pending.first?.message.event == first.message.event)
        #expect(try await again.pending(in: lane, after: 0, limit: 9).map(\.chain) == [nil])
        try await again.close()
    }

    @Test(
        "a success that comes late makes an evicted, dropped or replaced delivery sent; another late outcome changes nothing",
        .tags(.I5),
        arguments: Backend.allCases)
    func lateSuccess(_ backend: Backend) async throws {
        let store = try await backend.open()
        let journal = store.journal
        _ = try await journal.commit(polls(1...3))
        #expect(try await store.access.drop(.ids([1, 2]), at: stamp(5)) == 2)
        try await journal.record([attempt(3, .suppressed, reason: "over")])
        try await journal.record([attempt(1, .sent), attempt(2, .retry, reason: "503"), attempt(3, .sent)])
        let reader = try await store.reader()
        #expect(try await reader.deliveries(limit: 9).map(\.state) == [.sent, .dead, .sent])
        #expect(try await reader.sinkCounts().map(\.dead) == [1])
        try await journal.close()
    }

    @Test("time in which no watcher ran makes pending deliveries younger, and no others", arguments: Backend.allCases)
    func excludedFromAge(_ backend: Backend) async throws {
        let store = try await backend.open()
        let journal = store.journal
        _ = try await journal.commit(polls(1...3))
        try await journal.record([attempt(1, .sent), attempt(2, .retry, reason: "503")])
        let reader = try await store.reader()
        let before = try await reader.deliveries(limit: 9).map(\.delivery.created)
        try await journal.excludeFromAge(.seconds(60))
        let after = try await reader.deliveries(limit: 9).map(\.delivery.created)
        #expect(zip(before, after).map { $1.seconds(since: $0) } == [0, 60, 60])
        try await journal.close()
    }
}

@Suite("The bounds of queues")
struct EvictionTests {
    private let lane = DeliveryLane(source: "lab", sink: "team", priority: .high)

    private func evicted(
        _ store: Store, _ bound: QueueBound, oldest: [String: Timestamp] = [:]
    ) async throws -> [Int64] {
        try await store.journal.evict(limits(["team": bound], oldest: oldest)).eviction.evicted.map(\.id)
    }

    @Test(
        "pending deliveries beyond a bound end, by count, bytes and age, the oldest or the newest first",
        arguments: Backend.allCases)
    func bounds(_ backend: Backend) async throws {
        let store = try await backend.open()
        let journal = store.journal
        _ = try await journal.commit(polls(1...8) + polls(9...10, sink: "hook"))
        #expect(try await journal.evict(.none).pending == 10)
        #expect(try await evicted(store, bound(8)) == [])
        #expect(try await evicted(store, bound(5)) == [1, 2, 3])
        #expect(try await evicted(store, bound(4, .dropNewest)) == [8])
        let queue = try await journal.pending(in: lane, after: 0, limit: 9)
        let bytes = queue.reduce(0) { $0 + $1.queueBytes }
        #expect(try await evicted(store, bound(bytes: bytes)) == [])
        #expect(try await evicted(store, bound(bytes: bytes - 1)) == [4])
        #expect(try await evicted(store, bound(), oldest: ["team": stamp(0)]) == [])
        #expect(try await evicted(store, bound(), oldest: ["team": stamp(1)]) == [5, 6, 7])
        let all = try await store.reader().deliveries(limit: 9)
        #expect(all.prefix(8).allSatisfy { $0.state == .dead && $0.endedAt == stamp(500) })
        #expect(all[0].delivery.reason == "queue full: count" && all[3].delivery.reason == "queue full: bytes")
        #expect(all[4].delivery.reason == "queue full: age")
        try await journal.close()
    }

    @Test(
        "the commit that exceeds a bound keeps it in the same transaction, whatever it adds", .tags(.I8),
        arguments: Backend.allCases)
    func commits(_ backend: Backend) async throws {
        let store = try await backend.open()
        let reader = try await store.reader()
        let (oldest, newest) = (limits(["team": bound(50)]), limits(["team": bound(50, .dropNewest)]))
        func pending() async throws -> Int { try await reader.sinkCounts().first?.pending ?? 0 }
        var result = try await store.journal.commit(polls(1...40), within: oldest)
        #expect(result.eviction.evicted.isEmpty)
        result = try await store.journal.commit(polls(41...60), within: oldest)
        #expect(result.eviction.evicted.map(\.id) == Array(1...10))
        #expect(try await pending() == 50)
        // More than the bound at once: the first of them end in the commit that adds them.
        result = try await store.journal.commit(polls(61...130), within: oldest)
        #expect(result.eviction.evicted.map(\.id) == Array(11...80))
        let states = result.polls.flatMap(\.deliveries).map(\.state)
        #expect(states == Array(repeating: .dead, count: 20) + Array(repeating: .pending, count: 50))
        #expect(try await pending() == 50)
        result = try await store.journal.commit(polls(131...140), within: newest)
        #expect(result.eviction.evicted.map(\.id) == Array((131...140).reversed()))
        #expect(result.polls.flatMap(\.deliveries).allSatisfy { $0.state == .dead && $0.reason != nil })
        #expect(try await store.journal.pending(in: lane, after: 0, limit: 99).map(\.id) == Array(81...130))
        try await store.journal.close()
    }

    @Test(
        "a bound that was lowered far is reached in steps, and a commit never adds to a queue beyond it",
        arguments: Backend.allCases)
    func steps(_ backend: Backend) async throws {
        let store = try await backend.open()
        let reader = try await store.reader()
        _ = try await store.journal.commit(polls(1...4500))
        let result = try await store.journal.commit(polls(4501...4510), within: limits(["team": bound(100)]))
        #expect(result.eviction.evicted.count == EvictionLimits.step + 10)
        #expect(try await evicted(store, bound(100)).count == EvictionLimits.step)
        #expect(try await evicted(store, bound(100)).count == 400)
        #expect(try await evicted(store, bound(100)) == [])
        #expect(try await reader.sinkCounts().first?.pending == 100)
        try await store.journal.close()
    }

    @Test(
        "what is evicted goes to its fallback in the same transaction, within the bound of that",
        arguments: Backend.allCases)
    func fallbacks(_ backend: Backend) async throws {
        let store = try await backend.open()
        let bounds = ["team": bound(2), "mail": bound(1)]
        let limits = limits(bounds) { delivery in
            guard delivery.message.sink == "team" else { return nil }
            return delivery.fallback(among: ["mail"], where: { _ in true }, id: "msg_x\(delivery.id)", at: stamp(1))
        }
        let result = try await store.journal.commit(polls(1...5), within: limits)
        #expect(result.eviction.evicted.map(\.message.id) == ["msg_1", "msg_2", "msg_3", "msg_x1", "msg_x2"])
        #expect(result.eviction.successors.map(\.state) == [.dead, .dead, .pending])
        let reader = try await store.reader()
        #expect(try await reader.sinkCounts().map(\.pending) == [1, 2])
        // A delivery that dies at a sink passes the bound of its fallback on, too.
        let first = try #require(try await store.journal.pending(in: lane, after: 0, limit: 1).first)
        var dead = Attempt(
            delivery: first.id, state: .dead, attempts: 1, due: stamp(0), at: stamp(2), reason: "404")
        dead.successor = first.fallback(among: ["mail"], where: { _ in true }, id: "msg_y", at: stamp(2))
        let recorded = try await store.journal.record([dead], within: limits)
        #expect(
            recorded.successors.map(\.state) == [.pending] && recorded.eviction.evicted.map(\.message.id) == ["msg_x3"])
        try await store.journal.close()
    }

    @Test("at 10,000 messages a commit the bound holds after each", .tags(.I8))
    func load() async throws {
        let store = try await Backend.sqlite.open()
        let reader = try await store.reader()
        let limits = limits(["team": bound(2500)])
        for step in 0..<4 {
            _ = try await store.journal.commit(polls(step * 10_000 + 1...(step + 1) * 10_000), within: limits)
            let count = try #require(try await reader.sinkCounts().first)
            #expect(count.pending == 2500 && count.dead == (step + 1) * 10_000 - 2500)
        }
        try await store.journal.close()
    }
}
