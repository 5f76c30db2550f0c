// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteCore

@testable import VedettePostgres

@Suite("Several watchers on one PostgreSQL", .timeLimit(.minutes(10)))
struct PostgresSharesTests {
    private let server: PostgresServer

    init() throws { server = try PostgresLab.shared.get().schema() }

    private func run(_ sql: String) throws { try Connection(server).run(sql) }

    private func join(_ name: String, configuration: String = "c") async throws -> PostgresJournal {
        try await PostgresJournal.join(server, name: name, configuration: configuration)
    }

    private func shares(_ journal: PostgresJournal) throws -> any JournalShares { try #require(journal.shares) }

    @Test(
        "watchers with different names are registered side by side; one with a name in use is refused, as is one alone")
    func names() async throws {
        let first = try await join("a")
        let second = try await join("b", configuration: "d")
        let watchers = try await shares(first).watchers()
        #expect(watchers.map(\.name) == ["a", "b"] && watchers.map(\.configuration) == ["c", "d"])
        #expect(watchers[0].configured < watchers[1].configured)
        #expect(watchers.allSatisfy { $0.left > .seconds(10) && $0.process.pid == WatcherProcess.current.pid })
        try await shares(first).configure("d")
        let now = try await PostgresJournalAccess(server).watchers()
        #expect(now.map(\.configuration) == ["d", "d"] && now[0].configured > now[1].configured)
        let twin = await #expect(throws: JournalError.self) { try await join("a") }
        #expect(twin?.reason == .locked(pid: WatcherProcess.current.pid))
        let alone = await #expect(throws: JournalError.self) { try await PostgresJournal.open(server) }
        #expect(alone?.reason == .locked(pid: WatcherProcess.current.pid))
        try await first.close()
        try await second.close()
        #expect(try await PostgresJournalAccess(server).watchers().isEmpty)
    }

    @Test("a lease has one holder, until that gives it back, ends, or is deleted for being late")
    func leases() async throws {
        let (first, second) = (try await join("a"), try await join("b"))
        let (mine, others) = (try shares(first), try shares(second))
        let hard = Lease.sink(#"a "b" \ {c,d} NULL"#)
        #expect(try await mine.take([.source("x"), .source("y"), hard]) == [.source("x"), .source("y"), hard])
        #expect(try await others.take([.source("x"), .source("z"), hard]) == [.source("z")])
        #expect(try await mine.take([.source("x")]) == [.source("x")], "what it holds it gets again")
        #expect(try await mine.watchers().map(\.sources) == [2, 1])
        #expect(try await mine.watchers().map(\.sinks) == [1, 0])
        try await mine.release([hard])
        #expect(try await others.take([hard]) == [hard])
        try await first.close()
        #expect(try await others.take([.source("x")]) == [.source("x")])
        let third = try await join("c")
        #expect(try await shares(third).take([.source("x")]).isEmpty)
        try run("delete from watcher where name = 'b'")
        #expect(try await shares(third).take([.source("x"), hard]) == [.source("x"), hard])
        let error = await #expect(throws: JournalError.self) { _ = try await others.take([.source("q")]) }
        #expect(error?.reason == .locked(pid: nil))
        try await second.close()
        try await third.close()
    }

    @Test(
        "watchers that run while a later version upgrades the tables write nothing any more, learn why, and give up their parts"
    )
    func rollOut() async throws {
        let old = try await join("a")
        #expect(try await shares(old).take([.source("lab")]) == [.source("lab")])
        _ = try await old.commit(polls(1...1))
        let commands = PostgresJournalAccess(server)
        let connection = try Connection(server)
        let later = Migrations.steps + [["alter table source add column note text not null default ''"]]
        try Migrations.migrate(connection, "x", steps: later)
        // What a later version writes, this one may not read.
        let writes: [@Sendable () async throws -> Void] = [
            { _ = try await old.commit(polls(2...2)) },
            { try await old.write(deferred: [DeferredWrite(SourceRecord(name: "lab"))]) },
            { _ = try await old.shares?.take([.source("y")]) },
            { try await commands.poll(source: "lab", at: stamp(1)) },
        ]
        for write in writes {
            let error = await #expect(throws: JournalError.self) { try await write() }
            #expect(error?.reason == .newer)
        }
        let late = #expect(throws: JournalError.self) {
            try old.writer.registration.renew(connection, version: 0, ending: true)
        }
        let joining = #expect(throws: JournalError.self) {
            try WatcherRegistration.register(.init(name: "b", configuration: "", isShared: true), connection, "x")
        }
        #expect(late?.reason == .newer && joining?.reason == .newer)
        var losses = old.losses.makeAsyncIterator()
        let end = await losses.next()
        #expect(
            end?.detail
                == "a later Vedette has upgraded the journal (schema \(later.count), known: \(later.count - 1)): "
                + "install that version here, too, and start it")
        try await old.close()
        #expect(try connection.run("select count(*) from event").first?.int(0) == 1)
        #expect(
            try connection.run("select (select count(*) from watcher) + (select count(*) from lease)").first?.int(0)
                == 0)
    }

    @Test("an expired registration is deleted by a watcher that was there all the time, and by one of the same name")
    func expiry() async throws {
        let (first, second) = (try await join("a"), try await join("b"))
        let connection = try Connection(server)
        try run("update watcher set expires = '-infinity' where name = 'a'")
        let own = second.writer.registration
        try own.renew(connection, version: 0, ending: false)
        let late = try await first.commit([PollRecord(record: nil, events: [event(1)])])
        #expect(late[0].events.map(\.seq) == [1], "late, but nobody has taken over")
        try run("update watcher set expires = '-infinity' where name = 'a'")
        try own.renew(connection, version: 0, ending: true)
        let error = await #expect(throws: JournalError.self) {
            _ = try await first.commit([PollRecord(record: nil, events: [event(2)])])
        }
        #expect(error?.reason == .locked(pid: nil))
        try run("update watcher set expires = '-infinity' where name = 'b'")
        let twin = try await join("b")
        #expect(throws: JournalError.self) { try own.renew(connection, version: 0, ending: false) }
        for journal in [first, second, twin] { try await journal.close() }
    }

    @Test("after a pause of the server in which all registrations expired each watcher keeps its part")
    func pause() async throws {
        let (first, second) = (try await join("a"), try await join("b"))
        let (mine, others) = (try shares(first), try shares(second))
        #expect(try await mine.take([.source("x")]) == [.source("x")])
        #expect(try await others.take([.source("y")]) == [.source("y")])
        let connection = try Connection(server)
        try run("update watcher set expires = clock_timestamp() - interval '5 s'")
        // Whoever looks first finds itself and the other one, which nobody heard of for as long.
        #expect(try await mine.watchers().map(\.name) == ["a", "b"])
        #expect(try await others.watchers().map(\.name) == ["a", "b"])
        #expect(try await PostgresJournalAccess(server).watchers().isEmpty, "for status both are late")
        // A renewal that waited for the server takes nothing from the other one.
        let own = second.writer.registration
        try own.renew(connection, version: 0, ending: true)
        #expect(try await others.take([.source("x")]).isEmpty)
        #expect(try await first.commit([poll("x", events: [event(1)])])[0].events.count == 1)
        // The next one does, when the other one still did not renew its own.
        try own.renew(connection, version: 0, ending: true)
        #expect(try await others.watchers().count == 1)
        #expect(try await others.take([.source("x")]) == [.source("x")])
        try await first.close()
        try await second.close()
    }

    @Test(
        "while each renewal is late, an expired registration ends at the second one without a renewal of it in between")
    func slowServer() async throws {
        let (first, second) = (try await join("a"), try await join("b"))
        #expect(try await shares(first).take([.source("x")]) == [.source("x")])
        let connection = try Connection(server)
        let (own, other) = (second.writer.registration, first.writer.registration)
        func expire() throws {
            try run("update watcher set expires = clock_timestamp() - interval '1 ms' where name = 'a'")
        }
        try expire()
        var seen = try own.renew(connection, version: 0, ending: false)
        #expect(Set(seen.keys) == [other.number])
        try other.renew(connection, version: 0, ending: false)
        #expect(try own.renew(connection, version: 0, ending: false, unrenewed: seen).isEmpty, "it is not expired")
        try expire()
        seen = try own.renew(connection, version: 0, ending: false, unrenewed: seen)
        #expect(Set(seen.keys) == [other.number], "it was renewed since it was seen first")
        #expect(try await shares(second).take([.source("x")]).isEmpty)
        #expect(try own.renew(connection, version: 0, ending: false, unrenewed: seen).isEmpty)
        #expect(try await shares(second).watchers().map(\.name) == ["b"])
        #expect(try await shares(second).take([.source("x")]) == [.source("x")])
        try await first.close()
        try await second.close()
    }

    @Test("leases last from the request of the last renewal that succeeded, and no longer once others have taken over")
    func leasedFrom() async throws {
        let journal = try await join("a")
        let registered = try #require(try shares(journal).leasedFrom)
        #expect(registered <= BootTime.now)
        await journal.writer.renew()
        let renewed = try #require(try shares(journal).leasedFrom)
        #expect(registered <= renewed && renewed <= BootTime.now)
        #expect(try shares(journal).maySend(at: renewed.advanced(by: .milliseconds(13_999))))
        #expect(try !shares(journal).maySend(at: renewed.advanced(by: .seconds(14))))
        try run("delete from watcher")
        await journal.writer.renew()
        #expect(try shares(journal).leasedFrom == nil)
        #expect(try !shares(journal).maySend(at: renewed))
        try await journal.close()
    }

    @Test("polls, due times and outcomes of a source or sink that another watcher holds change nothing")
    func fences() async throws {
        let (first, second) = (try await join("a"), try await join("b"))
        _ = try await shares(first).take([.source("lab"), .sink("desk")])
        _ = try await first.commit([poll(events: [event(1)], deliveries: [delivery(1, of: event(1), sink: "desk")])])
        let refused = await #expect(throws: JournalError.self) {
            _ = try await second.commit([poll(events: [event(2)])])
        }
        #expect(refused?.reason == .conflict)
        var stale = SourceRecord(name: "lab")
        stale.due = stamp(77)
        try await second.write(deferred: [DeferredWrite(stale)])
        #expect(try await first.sourceRecords().map(\.due) != [stamp(77)])
        let sent = Attempt(delivery: 1, state: .sent, attempts: 1, due: stamp(0), at: stamp(1), reason: nil)
        try await second.record([sent])
        let reader = try await PostgresJournalAccess(server).reader()
        #expect(try await reader.deliveries(limit: 9).map(\.state) == [.pending])
        try await first.record([sent])
        #expect(try await reader.deliveries(limit: 9).map(\.state) == [.sent])
        #expect(try await reader.events(limit: 9).map(\.id) == [event(1).id])
        try await first.close()
        try await second.close()
    }

    @Test("a watcher learns which of its deliveries another one ended, or are deleted")
    func ended() async throws {
        let (first, second) = (try await join("a"), try await join("b"))
        let deliveries = (1...3).map { delivery($0, of: event(1), sink: "desk") }
        _ = try await first.commit([PollRecord(record: nil, events: [event(1)], deliveries: deliveries)])
        #expect(try await shares(first).ended(among: [1, 2, 3]).isEmpty)
        _ = try await second.evict(limits(["desk": bound(1)]))
        #expect(try await shares(first).ended(among: [1, 2, 3, 4]) == [1, 2, 4])
        #expect(try await shares(first).ended(among: []).isEmpty)
        try await first.close()
        try await second.close()
    }

    @Test("that a sink stopped or takes messages again is stored by the watcher that holds it alone")
    func stoppedSink() async throws {
        let (first, second) = (try await join("a"), try await join("b"))
        _ = try await shares(first).take([.sink("desk")])
        let stop = StoppedSink(sink: "desk", kind: .paused, reason: "401", since: stamp(1), fingerprint: 7)
        let stopped = PollRecord(record: nil, events: [event(1)], sinkChange: .stopped(stop))
        let refused = await #expect(throws: JournalError.self) { _ = try await second.commit([stopped]) }
        #expect(refused?.reason == .conflict)
        #expect(try await first.stoppedSinks().isEmpty)
        _ = try await first.commit([stopped])
        let resumed = PollRecord(record: nil, sinkChange: .resumed("desk"))
        let kept = await #expect(throws: JournalError.self) { _ = try await second.commit([resumed]) }
        #expect(kept?.reason == .conflict)
        #expect(try await second.stoppedSinks() == [stop])
        _ = try await first.commit([resumed])
        #expect(try await second.stoppedSinks().isEmpty)
        try await first.close()
        try await second.close()
    }

    @Test("each watcher stores how late its own polls start, and status reads all of them")
    func lateness() async throws {
        let (first, second) = (try await join("a"), try await join("b"))
        let started = try #require(try await shares(first).watchers().last?.started)
        let now = started.advanced(by: .seconds(60))
        for (journal, p99) in [(first, 0.025), (second, 2.5)] {
            let report = PollLateness.Report(p99: p99, polls: 7, at: now)
            try await journal.store(report, of: try shares(journal).name)
        }
        let access = PostgresJournalAccess(server)
        let none = ConfigurationFacts(sources: [], sinks: [], rules: [], editedAt: now)
        var facts = try await StatusFacts.read(access, none, now: now, today: now, age: { _ in nil })
        #expect(facts.lateness.mapValues(\.p99) == ["a": 0.025, "b": 2.5])
        try await first.close()
        facts = try await StatusFacts.read(access, none, now: now, today: now, age: { _ in nil })
        #expect(facts.lateness.mapValues(\.p99) == ["b": 2.5])
        try await second.store(PollLateness.Report(p99: 0, polls: 0, at: now), of: try shares(second).name)
        facts = try await StatusFacts.read(access, none, now: now, today: now, age: { _ in nil })
        #expect(facts.lateness.isEmpty, "it polled nothing lately")
        let again = try await join("b2")
        let later = now.advanced(by: .seconds(1300))
        facts = try await StatusFacts.read(access, none, now: later, today: now, age: { _ in nil })
        #expect(facts.watchers.map(\.name) == ["b", "b2"] && facts.lateness.isEmpty, "too long ago")
        try await second.close()
        try await again.close()
    }

    private func memory(_ slot: RuleMemory.Slot, _ name: String, count: Int = 1) -> [RuleMemory.Key: RuleMemory?] {
        let key = RuleMemory.Key(rule: "r", slot: slot, name: name)
        var memory = RuleMemory(key: key, identity: 7, since: stamp(0))
        memory.count = count
        return [key: memory]
    }

    /// A step of rules without a poll.
    private func step(
        _ changes: [RuleMemory.Key: RuleMemory?], by journal: PostgresJournal, knowing version: Int64,
        reading sources: Set<String> = []
    ) -> PollRecord {
        var record = PollRecord(record: nil)
        record.memories = changes
        record.basis = RuleBasis(
            writer: journal.writer.registration.number, version: version, rules: ["r"], sources: sources)
        return record
    }

    @Test("a step of rules is refused when another watcher changed rows that it may have read, and only then")
    func conflicts() async throws {
        let (first, second) = (try await join("a"), try await join("b"))
        let known = try await shares(second).ruleChanges(after: nil).version
        _ = try await first.commit([step(memory(.failed, "x"), by: first, knowing: known)])
        // A row about another subject.
        _ = try await second.commit([step(memory(.failed, "y"), by: second, knowing: known)])
        let same = await #expect(throws: JournalError.self) {
            _ = try await second.commit([step(memory(.failed, "x", count: 2), by: second, knowing: known)])
        }
        #expect(same?.reason == .conflict)
        _ = try await first.commit([step(memory(.limit, ""), by: first, knowing: known)])
        let shared = await #expect(throws: JournalError.self) {
            _ = try await second.commit([step(memory(.failed, "y"), by: second, knowing: known)])
        }
        #expect(shared?.reason == .conflict)
        let changes = try await shares(second).ruleChanges(after: known)
        #expect(Set(changes.memories.keys.map(\.slot)) == [.failed, .limit] && changes.memories.count == 2)
        _ = try await second.commit([step(memory(.limit, "", count: 5), by: second, knowing: changes.version)])
        let seen = try await shares(first).ruleChanges(after: known).memories
        #expect(seen[RuleMemory.Key(rule: "r", slot: .limit, name: "")]??.count == 5)
        let gone: [RuleMemory.Key: RuleMemory?] = [RuleMemory.Key(rule: "r", slot: .limit, name: ""): nil]
        _ = try await second.commit([step(gone, by: second, knowing: changes.version)])
        let after = try await shares(first).ruleChanges(after: known).memories
        #expect(
            after[RuleMemory.Key(rule: "r", slot: .limit, name: "")] == .some(nil), "a deleted row is a change, too")
        try await first.close()
        try await second.close()
    }

    @Test("a step is refused that does not know what a watcher changed which has ended since")
    func conflictWithEnded() async throws {
        let (first, second) = (try await join("a"), try await join("b"))
        let known = try await shares(second).ruleChanges(after: nil).version
        _ = try await first.commit([step(memory(.limit, ""), by: first, knowing: known)])
        try await first.close()
        let error = await #expect(throws: JournalError.self) {
            _ = try await second.commit([step(memory(.limit, "", count: 2), by: second, knowing: known)])
        }
        #expect(error?.reason == .conflict)
        let now = try await shares(second).ruleChanges(after: known).version
        _ = try await second.commit([step(memory(.limit, "", count: 2), by: second, knowing: now)])
        try await second.close()
    }

    @Test("a change is kept until each watcher has taken it over, however often it was read")
    func unknownChanges() async throws {
        let (first, second) = (try await join("a"), try await join("b"))
        let known = try await shares(second).ruleChanges(after: nil).version
        _ = try await first.commit([step(memory(.limit, ""), by: first, knowing: known)])
        let own = try await shares(first).ruleChanges(after: known).version
        try shares(first).know(version: own)
        func renew() async { for journal in [first, second] { await journal.writer.renew() } }
        var keys: [RuleMemory.Key] {
            get async throws { Array(try await shares(second).ruleChanges(after: known).memories.keys) }
        }
        #expect(try await keys.map(\.slot) == [.limit])
        await renew()
        #expect(try await keys.map(\.slot) == [.limit])
        try shares(second).know(version: own)
        await renew()
        await renew()
        #expect(try await keys.isEmpty)
        try await first.close()
        try await second.close()
    }

    @Test("a step that read a source is refused when another watcher stored events of that source")
    func readSources() async throws {
        let (first, second) = (try await join("a"), try await join("b"))
        _ = try await shares(first).take([.source("lab")])
        let known = try await shares(second).ruleChanges(after: nil).version
        _ = try await first.commit([poll(events: [event(1)])])
        let error = await #expect(throws: JournalError.self) {
            _ = try await second.commit([step(memory(.failed, "y"), by: second, knowing: known, reading: ["lab"])])
        }
        #expect(error?.reason == .conflict)
        let changes = try await shares(second).ruleChanges(after: known)
        #expect(changes.records.map(\.name) == ["lab"])
        _ = try await second.commit(
            [step(memory(.failed, "y"), by: second, knowing: changes.version, reading: ["lab"])])
        try await first.close()
        try await second.close()
    }

    @Test("a first list without items is a change that other watchers learn")
    func emptyList() async throws {
        let (first, second) = (try await join("a"), try await join("b"))
        _ = try await shares(first).take([.source("lab")])
        let known = try await shares(second).ruleChanges(after: nil).version
        var record = SourceRecord(name: "lab")
        record.snapshot = SnapshotHead(identity: 1, fingerprints: [:], goodAt: stamp(1))
        _ = try await first.commit([PollRecord(record: record)])
        #expect(try await shares(second).ruleChanges(after: known).records.map(\.name) == ["lab"])
        try await first.close()
        try await second.close()
    }

    @Test("a commit, a release and an end wake the other watchers by themselves, and none wakes its own")
    func wakes() async throws {
        let (first, second) = (try await join("a"), try await join("b"))
        let own = second.writer.registration.number
        var wakes = try NotificationWatch.start(server, for: .others(than: own), fallback: .seconds(3600))
            .makeAsyncIterator()
        _ = await wakes.next()
        _ = try await shares(second).take([.source("lab")])
        _ = try await second.commit([poll(events: [event(1)])])
        _ = try await first.commit([PollRecord(record: nil, events: [event(2)])])
        _ = await wakes.next()
        #expect(try await PostgresJournalAccess(server).reader().lastSeq() == 2, "not by its own, which came first")
        try await first.close()
        #expect(await wakes.next() != nil)
        try await second.close()
    }
}
