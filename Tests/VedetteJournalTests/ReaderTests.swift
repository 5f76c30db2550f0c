// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteCore

@testable import VedetteJournal

@Suite("Reading beside the watcher")
struct ReaderTests {
    let scratch = Scratch()

    private func filled(_ backend: Backend) async throws -> Store {
        let store = try await backend.open()
        let journal = store.journal
        let (a, b) = (event(1, at: 100), event(2, source: "blog", key: "x", at: 50))
        _ = try await journal.commit([
            poll(events: [a], deliveries: [delivery(1, of: a), delivery(2, of: a, sink: "hook")]),
            poll("blog", events: [b]),
            poll(events: [event(3, key: "60", at: 200), event(4, at: 300, kind: .failing)]),
        ])
        return store
    }

    @Test("events by source, rule and time, forwards and from the end", arguments: Backend.allCases)
    func filters(_ backend: Backend) async throws {
        let store = try await filled(backend)
        let journal = store.journal
        let reader = try await store.reader()
        func seqs(_ filter: EventFilter, after: Int64 = 0, limit: Int = 9) async throws -> [Int64] {
            try await reader.events(after: after, filter, limit: limit).map(\.seq)
        }
        #expect(try await seqs(.init()) == [1, 2, 3, 4])
        #expect(try await seqs(.init(), after: 1, limit: 2) == [2, 3])
        #expect(try await seqs(.init(source: "lab"), after: 1) == [3, 4])
        #expect(try await seqs(.init(rule: "ready")) == [1])
        #expect(try await seqs(.init(source: "blog", rule: "ready")) == [])
        #expect(try await seqs(.init(since: stamp(100))) == [1, 3, 4])
        #expect(try await seqs(.init(source: "lab", rule: "ready", since: stamp(100))) == [1])
        #expect(try await seqs(.init(since: stamp(301))) == [])
        #expect(try await reader.lastEvents(2).map(\.seq) == [3, 4])
        #expect(try await reader.lastEvents(2, .init(source: "lab")).map(\.seq) == [3, 4])
        #expect(try await reader.lastEvents(9, .init(rule: "ready")).map(\.seq) == [1])
        #expect(try await seqs(.init(source: "lab", key: "60")) == [3])
        #expect(try await seqs(.init(kinds: [.failing])) == [4])
        #expect(try await seqs(.init(source: "lab", since: stamp(100), until: stamp(300))) == [1, 3])
        #expect(try await seqs(.init(until: stamp(50))) == [])
        #expect(try await seqs(.init(isSent: true)) == [1])
        #expect(try await seqs(.init(rule: "ready", kinds: [.failing], isSent: true)) == [])
        #expect(try await reader.lastSeq() == 4)
        try await journal.close()
    }

    @Test("the newest events begin after a seq, whatever the filter", arguments: Backend.allCases)
    func start(_ backend: Backend) async throws {
        let store = try await filled(backend)
        let reader = try await store.reader()
        #expect(try await reader.seq(before: 2, .init()) == 2)
        #expect(try await reader.seq(before: 2, .init(source: "lab")) == 2)
        #expect(try await reader.seq(before: 3, .init(source: "lab")) == 0)
        #expect(try await reader.seq(before: 9, .init()) == 0)
        #expect(try await reader.seq(before: 0, .init()) == 4)
        #expect(try await reader.seq(before: 9, .init(rule: "unknown")) == 4)
        var seqs: [Int64] = []
        for try await page in reader.allEvents(after: 1, page: 2) { seqs += page.map(\.seq) }
        #expect(seqs == [2, 3, 4])
        try await store.journal.close()
    }

    @Test("the states of the deliveries of events are read by seq", arguments: Backend.allCases)
    func deliveryStates(_ backend: Backend) async throws {
        let store = try await filled(backend)
        let reader = try await store.reader()
        #expect(try await reader.deliveryStates(of: [1, 2, 9]) == [1: [.pending]])
        let died = Attempt(
            delivery: 1, state: .dead, attempts: 1, due: stamp(0), at: stamp(1), reason: "404")
        try await store.journal.record([died])
        #expect(try await reader.deliveryStates(of: [1]) == [1: [.pending, .dead]])
        #expect(try await reader.events(after: 0, .init(isSent: true), limit: 9).map(\.seq) == [1])
        #expect(try await reader.deliveryStates(of: []).isEmpty)
        try await store.journal.close()
    }

    @Test("an event is found by its id, by a beginning of it, and by its seq", arguments: Backend.allCases)
    func matching(_ backend: Backend) async throws {
        let store = try await filled(backend)
        let journal = store.journal
        let reader = try await store.reader()
        #expect(try await reader.events(matching: "0199-2").map(\.seq) == [2])
        #expect(try await reader.events(matching: "0199").count == 4)
        #expect(try await reader.events(matching: "3").map(\.seq) == [3])
        #expect(try await reader.events(matching: "0200").isEmpty)
        try await journal.close()
    }

    @Test("a message whose own event is not stored is found by the id of that event", arguments: Backend.allCases)
    func ofMessage(_ backend: Backend) async throws {
        let store = try await filled(backend)
        let (one, two) = (event(70), event(71))
        _ = try await store.journal.commit([
            poll(deliveries: [delivery(3, of: one), delivery(4, of: two), delivery(5, of: one, sink: "hook")])
        ])
        let reader = try await store.reader()
        func messages(_ text: String) async throws -> [String] {
            try await reader.deliveries(ofMessage: text).map(\.delivery.message.id)
        }
        #expect(try await messages("0199-70") == ["msg_3", "msg_5"])
        #expect(try await messages("0199-7") == ["msg_3", "msg_5", "msg_4"])
        #expect(try await messages("0199-1").isEmpty, "its event is stored")
        #expect(try await messages("70").isEmpty)
        try await store.journal.close()
    }

    @Test("an item's history, and an event about no item in none", arguments: Backend.allCases)
    func history(_ backend: Backend) async throws {
        let store = try await filled(backend)
        let journal = store.journal
        _ = try await journal.commit([poll(events: [event(5, key: "59", at: 400), event(6, key: "59", at: 500)])])
        let reader = try await store.reader()
        #expect(try await reader.history(source: "lab", key: "59", limit: 9).map(\.seq) == [1, 5, 6])
        #expect(try await reader.history(source: "lab", key: "59", limit: 2).map(\.seq) == [5, 6])
        try await journal.close()
    }

    @Test("items are read by their keys, and page by page without those that are absent", arguments: Backend.allCases)
    func items(_ backend: Backend) async throws {
        let store = try await backend.open()
        var absent = item("b")
        absent.absentSince = stamp(2)
        let writes = [item("ä"), item("a"), absent, item("Z"), item("c")]
        _ = try await store.journal.commit([poll(newBaseline: true, writes: writes)])
        let reader = try await store.reader()
        #expect(try await reader.items(of: "lab", withKeys: ["a", "b", "x"]) == ["a": item("a"), "b": absent])
        #expect(try await reader.items(of: "lab", from: 0, limit: 9).map(\.key) == ["Z", "a", "c", "ä"])
        #expect(try await reader.items(of: "lab", from: 1, limit: 2).map(\.key) == ["a", "c"])
        #expect(try await reader.items(of: "none", from: 0, limit: 9).isEmpty)
        try await store.journal.close()
    }

    @Test("a reader sees each commit, hinders none, and may write nothing")
    func beside() async throws {
        let journal = try scratch.open()
        let reader = try scratch.reader()
        _ = try await journal.commit([poll(writes: [item("1")], events: [event(1)])])
        #expect(try await reader.lastSeq() == 1)
        #expect(try await reader.items(of: "lab") == ["1": item("1")])
        #expect(try await reader.sourceRecords().map(\.name) == ["lab"])
        #expect(try await reader.damages().isEmpty)
        try journal.close()
        #expect(try await reader.lastSeq() == 1)
        #expect(try await scratch.reader().lastSeq() == 1)
    }

    @Test("every page is read, in order", arguments: Backend.allCases)
    func pages(_ backend: Backend) async throws {
        let store = try await backend.open()
        _ = try await store.journal.commit(polls(1...10))
        let reader = try await store.reader()
        var (seqs, ids): ([Int64], [Int64]) = ([], [])
        for try await page in reader.allEvents(page: 3) { seqs += page.map(\.seq) }
        for try await page in reader.allDeliveries(page: 5) { ids += page.map(\.delivery.id) }
        #expect(seqs == Array(1...10) && ids == Array(1...10))
        try await store.journal.close()
    }

    @Test("one source's record is read as among all; of an unknown source there is none", arguments: Backend.allCases)
    func record(_ backend: Backend) async throws {
        let store = try await backend.open()
        _ = try await store.journal.commit([PollRecord(record: fullRecord())])
        let reader = try await store.reader()
        #expect(try await reader.sourceRecord(of: fullRecord().name) == fullRecord())
        #expect(try await reader.sourceRecord(of: "unknown") == nil)
        try await store.journal.close()
    }
}

@Suite("Commands beside the watcher", .timeLimit(.minutes(10)))
struct AccessTests {
    @Test("what a person acknowledges reaches the watcher as it was said, or taken back", arguments: Backend.allCases)
    func acknowledgements(_ backend: Backend) async throws {
        let store = try await backend.open()
        let said = Acknowledgement(match: "e1", user: "anna", host: "desk", note: "the \"disk\" ü", time: stamp(1))
        let (item, source) = (Subject(source: "lab", key: "a b"), Subject(source: "lab", key: nil))
        try await store.access.acknowledge(rule: "r", item, said, at: stamp(1))
        try await store.access.acknowledge(rule: "r", source, nil, at: stamp(2))
        #expect(
            try await store.journal.controlRequests().map(\.request) == [
                .acknowledge(rule: "r", subject: item, said), .acknowledge(rule: "r", subject: source, nil),
            ])
        try await store.journal.close()
    }

    @Test(
        "a control request wakes the watcher and stays, over a restart, until it is finished",
        arguments: Backend.allCases)
    func requests(_ backend: Backend) async throws {
        let store = try await backend.open()
        #expect(try await store.journal.controlRequests().isEmpty)
        var wakes = try store.journal.controlWakes().makeAsyncIterator()
        try await store.access.accept(source: "lab", at: stamp(1))
        var queued: [QueuedRequest] = []
        while queued.isEmpty, await wakes.next() != nil { queued = try await store.journal.controlRequests() }
        #expect(queued.map(\.request) == [.accept(source: "lab")])
        // The watcher ends before it has carried the request out.
        try await store.restart()
        _ = try await store.access.add(Silence(rule: "ready", created: stamp(2)))
        try await store.access.poll(source: "blog", at: stamp(2))
        let again = try await store.journal.controlRequests()
        #expect(again.map(\.request) == [.accept(source: "lab"), .reloadSilences, .poll(source: "blog")])
        try await store.journal.finish(again[0])
        try await store.journal.finish(again[0])
        #expect(
            try await store.journal.controlRequests().map(\.request) == [.reloadSilences, .poll(source: "blog")])
        try await store.journal.close()
    }

    @Test("a silence gets an id, is read, ends by its id, and goes when it is over", arguments: Backend.allCases)
    func silences(_ backend: Backend) async throws {
        let store = try await backend.open()
        var short = Silence(source: "lab", created: stamp(0))
        (short.from, short.until) = (stamp(3), stamp(10))
        short.fields = ["name=prod-*", "owner=Ann = Bob"].compactMap(Silence.FieldPattern.init)
        #expect(try await store.access.add(short) == 1)
        short.id = 1
        #expect(try await store.journal.silences() == [short])
        #expect(try await store.access.add(Silence(rule: "ready", created: stamp(5))) == 2)
        #expect(try await store.journal.silences().map(\.id) == [1, 2])
        #expect(try await store.access.add(Silence(item: "59", created: stamp(11))) == 3)
        #expect(try await store.reader().silences().map(\.id) == [2, 3])
        #expect(try await store.access.endSilences([2, 9], at: stamp(12)) == 1)
        var ended = poll()
        ended.endedSilences = [3]
        _ = try await store.journal.commit([ended])
        #expect(try await store.journal.silences().isEmpty)
        try await store.journal.close()
    }

    @Test(
        "retry revives what is dead or waits, drop ends what is pending, and each tells its sinks",
        arguments: Backend.allCases)
    func outbox(_ backend: Backend) async throws {
        let store = try await backend.open()
        let journal = store.journal
        _ = try await journal.commit(polls(1...3) + polls(4...4, sink: "hook"))
        func attempt(_ id: Int64, _ state: DeliveryState) -> Attempt {
            Attempt(delivery: id, state: state, attempts: 3, due: stamp(50), at: stamp(5), reason: "503")
        }
        try await journal.record([attempt(1, .dead), attempt(2, .sent), attempt(3, .retry)])
        #expect(try await store.access.retry(.ids([1, 2, 3, 4, 77]), at: stamp(60)) == 2)
        let team = try await journal.pending(
            in: DeliveryLane(source: "lab", sink: "team", priority: .high), after: 0, limit: 9)
        #expect(team.map(\.id) == [1, 3])
        #expect(team.allSatisfy { $0.attempts == 0 && $0.due == stamp(60) && $0.created == stamp(60) })
        #expect(try await store.access.drop(.ids([2, 3, 4]), at: stamp(70)) == 2)
        let all = try await store.reader().deliveries(limit: 9)
        #expect(all.map(\.state) == [.pending, .sent, .dead, .dead])
        #expect(all.last?.delivery.reason == Delivery.droppedReason && all.last?.endedAt == stamp(70))
        let requests = try await journal.controlRequests().map(\.request)
        #expect(requests == [.retry(sink: "team"), .reloadQueue(sink: "hook"), .reloadQueue(sink: "team")])
        try await journal.close()
    }

    @Test(
        "retry and drop change all that a filter accepts, by sink, rule and age, in steps with a request each",
        arguments: Backend.allCases)
    func selections(_ backend: Backend) async throws {
        let store = try await backend.open()
        let journal = store.journal
        let count = DeliveryChange.step + 200
        _ = try await journal.commit(polls(1...count) + polls(count + 1...count + 5, sink: "hook"))
        let old = event(90_000)
        var other = delivery(90_000, of: old, rule: "other")
        other.created = stamp(-50)
        _ = try await journal.commit([poll(events: [old], deliveries: [other])])
        func drop(_ filter: DeliveryFilter) async throws -> Int {
            try await store.access.drop(.all(filter), at: stamp(70))
        }
        #expect(try await drop(.init(.unsent, sink: "hook")) == 5)
        #expect(try await drop(.init(.unsent, sink: "hook")) == 0)
        #expect(try await drop(.init(.unsent, sink: "team", before: stamp(0))) == 1)
        #expect(try await drop(.init(.unsent, sink: "team")) == count)
        let reader = try await store.reader()
        #expect(try await reader.sinkCounts().map(\.dead) == [5, count + 1])
        func retry(_ filter: DeliveryFilter) async throws -> Int {
            try await store.access.retry(.all(filter), at: stamp(80))
        }
        #expect(try await retry(.init(.unsent, rule: "other")) == 1)
        #expect(try await retry(.init(.unsent, rule: "other")) == 0)
        #expect(try await retry(.init(.unsent)) == count + 5)
        #expect(try await reader.sinkCounts().map(\.pending) == [5, count + 1])
        #expect(try await reader.sinkCounts().map(\.dead) == [0, 0])
        let requests = try await journal.controlRequests().map(\.request)
        #expect(
            Set(requests) == [
                .reloadQueue(sink: "hook"), .reloadQueue(sink: "team"), .retry(sink: "hook"), .retry(sink: "team"),
            ])
        try await journal.close()
    }

    @Test(
        "drop and retry of a whole selection leave out the messages that come between their steps",
        arguments: [Backend.sqlite, .postgres])
    func newerMessages(_ backend: Backend) async throws {
        let store = try await backend.open()
        let access = try #require(store.access as? any EditableJournal)
        let count = DeliveryChange.step + 10
        _ = try await store.journal.commit(polls(1...count))
        func step(_ change: DeliveryChange) async throws -> (DeliveryChange, Int) {
            try await access.edit(at: change.now) { edit in
                var next = change
                let changed = try next.run(edit).count
                return ((next, changed), [])
            }
        }
        for action in [DeliveryChange.Action.drop, .retry] {
            let change = DeliveryChange(action, .all(DeliveryFilter(.unsent)), at: stamp(70))
            let (half, first) = try await step(change)
            #expect(first == DeliveryChange.step && !half.isDone)
            // For the retry they are dead, too.
            let number = action == .drop ? 90_000 : 91_000
            let committed = try await store.journal.commit(polls(number...number + 4))
            if action == .retry {
                try await store.journal.record(
                    committed.flatMap(\.deliveries).map {
                        Attempt(
                            delivery: $0.id, state: .dead, attempts: 1, due: stamp(0), at: stamp(71), reason: "gone")
                    })
            }
            let (whole, second) = try await step(half)
            #expect(second == 10 && whole.isDone)
        }
        let counts = try await store.reader().sinkCounts()
        #expect(counts.map(\.pending) == [count + 5] && counts.map(\.dead) == [5])
        try await store.journal.close()
    }

    @Test(
        "a retry of all of a sink resumes it, also when it has no deliveries; a retry of a part does not",
        arguments: Backend.allCases)
    func retryOfNothing(_ backend: Backend) async throws {
        let store = try await backend.open()
        #expect(try await store.access.retry(.all(.init(.unsent, sink: "team")), at: stamp(1)) == 0)
        #expect(try await store.access.retry(.all(.init(.unsent, sink: "hook", rule: "r")), at: stamp(1)) == 0)
        #expect(try await store.access.drop(.all(.init(.unsent, sink: "hook")), at: stamp(1)) == 0)
        #expect(try await store.journal.controlRequests().map(\.request) == [.retry(sink: "team")])
    }

    @Test("what rules remember is replaced, deleted and read", arguments: Backend.allCases)
    func memories(_ backend: Backend) async throws {
        let store = try await backend.open()
        func memory(_ name: String, _ identity: UInt64) -> RuleMemory {
            RuleMemory(key: .init(rule: "r", slot: .tally, name: name), identity: identity, since: stamp(1))
        }
        var record = PollRecord(record: nil)
        record.memories = [memory("a", 1).key: memory("a", 1), memory("b", 1).key: memory("b", 1)]
        _ = try await store.journal.commit([record])
        record.memories = [memory("a", 1).key: nil, memory("b", 2).key: memory("b", 2)]
        _ = try await store.journal.commit([record])
        #expect(try await store.journal.ruleMemories() == [memory("b", 2)])
        #expect(try await store.reader().ruleMemories() == [memory("b", 2)])
        try await store.journal.close()
    }

    @Test("where there is no journal, a command's change is refused and creates nothing")
    func missing() async throws {
        let scratch = Scratch()
        await #expect(throws: JournalError.self) { try await scratch.access.accept(source: "lab", at: stamp(1)) }
        #expect(scratch.files.identity == nil)
    }
}
