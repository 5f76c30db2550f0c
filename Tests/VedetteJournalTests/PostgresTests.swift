// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteCore
import VedetteTestSupport

@testable import VedettePostgres

@Suite("A journal on PostgreSQL", .timeLimit(.minutes(10)))
struct PostgresTests {
    private let server: PostgresServer

    init() throws { server = try PostgresLab.shared.get().schema() }

    private func run(_ sql: String) throws { try Connection(server).run(sql) }

    private func number(_ sql: String) throws -> Int64? { try Connection(server).run(sql).first?.int64(0) }

    @Test("U+0000, which PostgreSQL's texts cannot hold, and the character that stands for it come back as they were")
    func characters() async throws {
        let journal = try await PostgresJournal.open(server)
        let hard = "a\0b\u{10FFFF}0\u{10FFFF}"
        var cause = event(1, key: hard)
        cause.item?.title = hard
        var kept = delivery(1, of: cause)
        (kept.message.title, kept.message.text) = (hard, hard + "\0")
        _ = try await journal.commit([poll(writes: [item(hard)], events: [cause], deliveries: [kept])])
        let reader = try await PostgresJournalAccess(server).reader()
        #expect(try await journal.items(of: "lab") == [hard: item(hard)])
        #expect(try await reader.history(source: "lab", key: hard, limit: 9).map(\.item?.title) == [hard])
        let message = try await reader.deliveries(limit: 9).first?.delivery.message
        #expect(message?.title == hard && message?.text == hard + "\0")
        try await journal.close()
    }

    @Test("a schema whose name has capitals holds a journal, and one that does not exist is what must be created")
    func schemaNames() async throws {
        let lab = try PostgresLab.shared.get()
        try run(#"create schema "Capitals""#)
        let capitals = try lab.server(#" options='-c search_path="Capitals"'"#)
        for _ in 1...2 { try await PostgresJournal.open(capitals).close() }
        let access = PostgresJournalAccess(capitals)
        #expect(try await access.reader().lastSeq() == 0)
        #expect(try await access.serverFacts().tables.contains { $0.name == "event" })
        let missing = await #expect(throws: JournalError.self) {
            try await PostgresJournal.open(lab.server(" options='-c search_path=nowhere'"))
        }
        #expect(missing?.reason == .missing && missing?.detail.hasSuffix("create it first") == true)
    }

    @Test("tables of a later version are refused by the watcher and by commands, and left as they are")
    func newer() async throws {
        try await PostgresJournal.open(server).close()
        try run("update journal set version = 99")
        let refused = await #expect(throws: JournalError.self) { try await PostgresJournal.open(server) }
        let unread = await #expect(throws: JournalError.self) { try await PostgresJournalAccess(server).reader() }
        for error in [refused, unread] {
            #expect(error?.reason == .newer)
            #expect(
                error?.detail.hasSuffix(
                    " was written by a later Vedette (schema 99, known: \(Migrations.steps.count)): "
                        + "use that version, or another database") == true)
        }
        #expect(try number("select version from journal") == 99)
    }

    @Test("tables of an earlier build are refused by the watcher and by commands, in one sentence that says what to do")
    func unreleased() async throws {
        try await PostgresJournal.open(server).close()
        try run("alter table delivery drop column subject")
        let refused = await #expect(throws: JournalError.self) { try await PostgresJournal.open(server) }
        let unread = await #expect(throws: JournalError.self) { try await PostgresJournalAccess(server).reader() }
        for error in [refused, unread] {
            #expect(error?.detail.contains("it lacks delivery.subject): delete its tables") == true)
        }
    }

    @Test(
        "a later version keeps every row; until then its commands say what to do, and afterwards this version refuses")
    func upgrade() async throws {
        let journal = try await PostgresJournal.open(server)
        _ = try await journal.commit(polls(1...3))
        try await journal.close()
        let connection = try Connection(server)
        let later = Migrations.steps + [["alter table source add column note text", "update source set note = 'x'"]]
        let older = #expect(throws: JournalError.self) {
            try Migrations.requireCurrent(connection, "x", known: later.count)
        }
        #expect(older?.reason == .older && older?.detail.contains("vedette run") == true)
        for _ in 1...2 { try Migrations.migrate(connection, "x", steps: later) }
        try Migrations.requireCurrent(connection, "x", known: later.count)
        #expect(try number("select count(*) from source where note = 'x'") == 1)
        #expect(try number("select count(*) from event") == 3 && number("select last_seq from journal") == 3)
        let refused = await #expect(throws: JournalError.self) { try await PostgresJournal.open(server) }
        #expect(refused?.reason == .newer)
    }

    @Test("the statements of an upgrade may last as long as they need, and all others are limited as before")
    func longUpgrade() async throws {
        let connection = try Connection(server)
        let seen = "create table seen as select current_setting('statement_timeout') as value"
        try Migrations.migrate(connection, "x", steps: Migrations.steps + [[seen]])
        #expect(try connection.run("select value from seen").first?.text(0) == "0")
        #expect(try connection.run("show statement_timeout").first?.text(0) == "30s")
        let usual = try #require(connection.answerTimeout)
        try connection.unlimitedTransaction { #expect(connection.answerTimeout == nil) }
        #expect(connection.answerTimeout == usual)
        #expect(throws: PostgresError.self) {
            try connection.unlimitedTransaction { try connection.run("select * from nothing") }
        }
        #expect(connection.answerTimeout == usual)
        #expect(try connection.run("show statement_timeout").first?.text(0) == "30s")
    }

    @Test("another program's table is refused, and nothing is created beside it")
    func foreign() async throws {
        try run("create table event (name text)")
        let error = await #expect(throws: JournalError.self) { try await PostgresJournal.open(server) }
        #expect(error?.reason == .corrupt && error?.detail.contains("a schema of its own") == true)
        #expect(try number("select count(*) from pg_class where relnamespace = current_schema()::regnamespace") == 1)
    }

    @Test("where no watcher ever ran, commands tell so and create nothing")
    func missing() async throws {
        let access = PostgresJournalAccess(server)
        let unread = await #expect(throws: JournalError.self) { try await access.reader() }
        #expect(unread?.reason == .missing)
        let unchanged = await #expect(throws: JournalError.self) { try await access.accept(source: "a", at: stamp(1)) }
        #expect(unchanged?.reason == .missing)
        #expect(try number("select count(*) from pg_class where relnamespace = current_schema()::regnamespace") == 0)
    }

    @Test("a second watcher is refused while the first one watches alone, and watches as soon as that one ends")
    func exclusive() async throws {
        let first = try await PostgresJournal.open(server)
        let access = PostgresJournalAccess(server)
        #expect(await access.watcher()?.pid == WatcherProcess.current.pid)
        let refused = await #expect(throws: JournalError.self) { try await PostgresJournal.open(server) }
        #expect(refused?.reason == .locked(pid: WatcherProcess.current.pid))
        try await first.close()
        #expect(await access.watcher() == nil)
        try await PostgresJournal.open(server).close()
    }

    @Test("a watcher that was paused while another took over writes nothing any more, and learns why")
    func fenced() async throws {
        let paused = try await PostgresJournal.open(server)
        _ = try await paused.commit(polls(1...1))
        try run("update watcher set expires = '-infinity'")
        let next = try await PostgresJournal.open(server)
        let attempt = Attempt(delivery: 1, state: .sent, attempts: 1, due: stamp(0), at: stamp(1), reason: nil)
        let writes: [@Sendable () async throws -> Void] = [
            { _ = try await paused.commit(polls(2...2)) }, { _ = try await paused.record([attempt]) },
            { try await paused.write(deferred: [DeferredWrite(SourceRecord(name: "x"))]) },
            { try await paused.excludeFromAge(.seconds(5)) },
            { try await paused.forgetCookies(keeping: []) },
        ]
        for write in writes {
            let error = await #expect(throws: JournalError.self) { try await write() }
            #expect(error?.reason == .locked(pid: nil))
        }
        var losses = paused.losses.makeAsyncIterator()
        #expect(await losses.next()?.detail.contains("taken over") == true)
        _ = try await next.commit(polls(3...3))
        let reader = try await PostgresJournalAccess(server).reader()
        #expect(try await reader.events(limit: 9).map(\.id) == [event(1).id, event(3).id])
        #expect(try await reader.deliveries(limit: 9).map(\.state) == [.pending, .pending])
        // Its end must not end the registration of the other.
        try await paused.close()
        #expect(await PostgresJournalAccess(server).watcher() != nil)
        try await next.close()
    }

    @Test("a commit that the server ended before it was done is an error, and nothing of it is left")
    func brokenCommit() async throws {
        let journal = try await PostgresJournal.open(server)
        try run(
            """
            create function break_commit() returns trigger language plpgsql as $$ begin
              perform pg_terminate_backend(pg_backend_pid()); return null; end $$
            """)
        try run(
            """
            create constraint trigger break_commit after insert on event deferrable initially deferred
              for each row execute function break_commit()
            """)
        let error = await #expect(throws: JournalError.self) { _ = try await journal.commit(polls(1...2)) }
        #expect(error?.reason == .unavailable)
        try run("drop trigger break_commit on event")
        #expect(try await journal.commit(polls(1...2)).flatMap(\.events).map(\.seq) == [1, 2])
        try await journal.close()
    }

    @Test("after a lost answer the server tells of each transaction whether it was committed")
    func doubt() async throws {
        let connection = try Connection(server)
        try Migrations.migrate(connection, "x")
        let identity = WatcherRegistration.Identity(name: "", configuration: "", isShared: false)
        let registration = try WatcherRegistration.register(identity, connection, "x")
        var numbers: [Int64] = []
        for isCommitted in [true, true, false] {
            let transaction = try Transaction(connection, writer: registration)
            numbers.append(transaction.number)
            guard isCommitted else {
                transaction.rollback()
                continue
            }
            if case .inDoubt(let error) = try transaction.commit(nil) { throw error }
        }
        #expect(numbers == [1, 2, 3])
        #expect(try numbers.map { try registration.hasCommitted($0, connection) } == [true, true, false])
        let gone = WatcherRegistration(number: 99, name: "", isShared: false)
        #expect(throws: JournalError.self) { try gone.hasCommitted(1, connection) }
    }

    @Test("connections that the server has closed are made again, and no call fails")
    func reconnects() async throws {
        let journal = try await PostgresJournal.open(server)
        let access = PostgresJournalAccess(server)
        let reader = try await access.reader()
        for step in 1...3 {
            _ = try await journal.commit(polls(step...step))
            #expect(try await journal.pendingLanes().count == 1)
            #expect(try await reader.lastSeq() == Int64(step))
            // Only this test's connections: each has the name of its schema.
            try run(
                """
                select count(pg_terminate_backend(pid, 5000)) from pg_stat_activity
                  where application_name = current_schema() and pid <> pg_backend_pid()
                """)
        }
        try await journal.close()
    }

    @Test("a server that is not there is one clear sentence at once, with the place")
    func away() async throws {
        let nowhere = PostgresServer(try ConnectionString("host=/nonexistent dbname=vedette"))
        let error = await #expect(throws: JournalError.self) { try await PostgresJournal.open(nowhere) }
        #expect(error?.reason == .unavailable)
        #expect(error?.detail.contains("PostgreSQL database vedette on /nonexistent") == true)
    }

    @Test("a commit and a command wake their readers by themselves, without the timer")
    func wakes() async throws {
        let journal = try await PostgresJournal.open(server)
        let never = Duration.seconds(3600)
        var all = try NotificationWatch.start(server, for: .all, fallback: never).makeAsyncIterator()
        var requests = try NotificationWatch.start(server, for: .requests, fallback: never).makeAsyncIterator()
        _ = await (all.next(), requests.next())
        _ = try await journal.commit(polls(1...1))
        #expect(await all.next() != nil)
        try await PostgresJournalAccess(server).accept(source: "lab", at: stamp(1))
        #expect(await requests.next() != nil)
        #expect(try await journal.controlRequests().count == 1)
        #expect(await all.next() != nil)
        try await journal.close()
    }

    @Test("a notification of another schema of the same database wakes nobody")
    func otherSchema() async throws {
        let journal = try await PostgresJournal.open(server)
        var all = try NotificationWatch.start(server, for: .all, fallback: .seconds(3600)).makeAsyncIterator()
        _ = await all.next()
        let other = try await PostgresJournal.open(PostgresLab.shared.get().schema())
        _ = try await other.commit(polls(1...1))
        // Behind the other's, on the same channel: the first report is this journal's own.
        _ = try await journal.commit(polls(1...2))
        _ = await all.next()
        #expect(try await PostgresJournalAccess(server).reader().lastSeq() == 2)
        try await other.close()
        try await journal.close()
    }

    @Test("what was cleared or pruned is subtracted from the size, and a seq is never given twice")
    func size() async throws {
        let journal = try await PostgresJournal.open(server)
        _ = try await journal.commit(polls(1...1500))
        try await journal.record(
            (1...1500).map {
                Attempt(
                    delivery: $0, state: $0 > 500 ? .sent : .dead, attempts: 1, due: stamp(0), at: stamp(9), reason: nil
                )
            })
        let (size, access) = (try await journal.size(), PostgresJournalAccess(server))
        #expect(size > 100_000)
        let dead = try await access.reader().deliveries(DeliveryFilter(.only(.dead)), limit: 1500).map(
            \.delivery.message)
        #expect(try await access.clear(.ids([1, 2, 3]), at: stamp(10)) == 3)
        #expect(try await access.clear(.all(DeliveryFilter(.unsent)), at: stamp(10)) == 497)
        let cleared = dead.reduce(0) { $0 + Int64($1.title.utf8.count + $1.text.utf8.count) }
        #expect(cleared > 0)
        #expect(try await journal.size() == size - cleared)
        try await journal.prune(Retention(eventsBefore: stamp(9000), sources: [], sourcesBefore: stamp(0)))
        #expect(try await journal.size() == 0)
        #expect(try await journal.commit([poll(events: [event(9000)])])[0].events[0].seq == 1501)
        try await journal.close()
    }

    @Test("a commit of thousands of rows whose first is refused stores nothing, and the next one is stored")
    func refusedEarly() async throws {
        let journal = try await PostgresJournal.open(server)
        _ = try await journal.commit(polls(1...1))
        // Its id is in the journal; thousands of statements follow in the same transaction.
        let repeated = [poll(events: [event(1)])] + polls(2...2500)
        let error = await #expect(throws: JournalError.self) { try await journal.commit(repeated) }
        #expect(error?.reason == .refused)
        #expect(try number("select count(*) from event") == 1 && number("select last_seq from journal") == 1)
        #expect(try await journal.commit(polls(2...2500)).count == 2499)
        #expect(try number("select count(*) from delivery") == 2500)
        try await journal.close()
    }

    @Test(
        "keys and remembered values of the greatest length fit every index, and longer ones would be refused",
        .tags(.I12))
    func longestTexts() async throws {
        let journal = try await PostgresJournal.open(server)
        // Of so many characters that nothing of it repeats, since the server compresses.
        func noise(_ count: Int, from first: UInt32, of characters: UInt64, seed: String) -> String {
            var text = String.UnicodeScalarView()
            for number in 0..<count {
                let offset = UInt32(StableHash.of([seed, "\(number)"]) % characters)
                text.append(Unicode.Scalar(first + offset) ?? "x")
            }
            return String(text)
        }
        let names = ["source", "rule", "sink"].map { noise(100, from: 0x1D400, of: 0x400, seed: $0) }
        let key = noise(IndexedText.longest / 2, from: 0x100, of: 0x600, seed: "key")
        let escaped = noise(IndexedText.longest / 6, from: 0x21, of: 0x5E, seed: "").map { "\0\($0)" }.joined()
        for (number, text) in zip(1..., [key, escaped]) {
            #expect(IndexedText.bounded(text) == text)
            let cause = event(number, source: names[0], key: text)
            var record = poll(
                names[0], writes: [item(text)], events: [cause],
                deliveries: [delivery(number, of: cause, sink: names[2], rule: names[1])])
            for slot in [RuleMemory.Slot.once, .limit] {
                let name = slot == .once ? text : names[0] + "\u{1F}" + text + "\u{1E}" + names[2]
                let row = RuleMemory.Key(rule: names[1], slot: slot, name: name)
                record.memories[row] = RuleMemory(key: row, identity: 7, since: stamp(0))
            }
            _ = try await journal.commit([record])
        }
        #expect(try await Set(journal.items(of: names[0]).keys) == [key, escaped])
        #expect(try await journal.ruleMemories().count == 4)
        let longer = key + noise(IndexedText.longest, from: 0x100, of: 0x600, seed: "more")
        #expect(IndexedText.bounded(longer) != longer)
        let error = await #expect(throws: JournalError.self) {
            _ = try await journal.commit([poll(writes: [item(longer)])])
        }
        #expect(error?.reason == .refused, "by itself: other records may be written")
        try await journal.close()
    }

    @Test("what a trigger of the operator's refuses is the fault of that record alone")
    func refusedByTrigger() async throws {
        let journal = try await PostgresJournal.open(server)
        try run(
            """
            create function refuse() returns trigger language plpgsql as $$ begin
              raise exception 'no such key, please'; end $$
            """)
        try run(
            "create trigger refuse before insert on item for each row when (new.key = 'bad') execute function refuse()")
        let error = await #expect(throws: JournalError.self) {
            _ = try await journal.commit([poll(writes: [item("bad")])])
        }
        #expect(error?.reason == .refused && error?.detail.contains("no such key, please") == true)
        _ = try await journal.commit([poll(writes: [item("good")])])
        try await journal.close()
    }

    @Test("two outcomes of one delivery that are written together change it one after the other")
    func twoOutcomes() async throws {
        let journal = try await PostgresJournal.open(server)
        _ = try await journal.commit(polls(1...2))
        func outcome(_ delivery: Int64, _ state: DeliveryState, _ attempts: Int) -> Attempt {
            Attempt(
                delivery: delivery, state: state, attempts: attempts, due: stamp(9), at: stamp(Int64(attempts)),
                reason: state == .sent ? nil : "busy")
        }
        try await journal.record([outcome(1, .retry, 1), outcome(2, .retry, 1), outcome(1, .sent, 2)])
        let rows = try await PostgresJournalAccess(server).reader().deliveries(limit: 9)
        #expect(rows.map(\.state) == [.sent, .retry])
        #expect(rows.map(\.delivery.attempts) == [2, 1] && rows.map(\.delivery.reason) == [nil, "busy"])
        #expect(try number("select count(*) from attempt") == 2)
        #expect(try await PostgresJournalAccess(server).reader().sinkCounts().map(\.pending) == [1])
        try await journal.close()
    }

    @Test("a source that comes back while it is pruned keeps the items of its new baseline")
    func comesBack() async throws {
        let journal = try await PostgresJournal.open(server)
        func commit(polled: Int64, items: Int) async throws {
            var record = SourceRecord(name: "back")
            record.health.lastPollAt = stamp(polled)
            let writes = (0..<items).map { item("\($0)") }
            var poll = PollRecord(record: record, writes: writes)
            poll.isFirst = true
            _ = try await journal.commit([poll])
        }
        try await commit(polled: 1, items: PostgresPruning.batch + 500)
        let retention = Retention(eventsBefore: stamp(0), sources: [], sourcesBefore: stamp(100))
        let pruning = journal.pruning
        #expect(try await pruning.abandonedSources(retention) == ["back"])
        #expect(try await pruning.retire("back", retention))
        #expect(try await !pruning.delete("back"))
        #expect(try await journal.items(of: "back").count == 500)
        try await commit(polled: 201, items: 3)
        #expect(try await pruning.delete("back"))
        #expect(try await journal.items(of: "back").count == 3)
        #expect(try await !pruning.retire("back", retention))
        try await journal.close()
    }

    @Test("the rights of the user, the rows of tables and the settings of the server are read")
    func facts() async throws {
        try await PostgresJournal.open(server).close()
        let facts = try PostgresFacts(Connection(server))
        #expect(facts.canCreate && facts.closedTables == [] && facts.foreignTables == [])
        #expect(facts.tables.map(\.name).contains("delivery") && facts.freeConnections > 0)
        #expect(Set(facts.settings.keys) == Set(PostgresFacts.settingNames))
        let reader = "\(try #require(try schema()))_reader"
        try run("create role \(reader) login")
        try run("grant usage on schema \(try schema() ?? "") to \(reader)")
        try run("grant select on event to \(reader)")
        let other = try Connection(server)
        try other.run("set role \(reader)")
        let less = try PostgresFacts(other)
        #expect(!less.canCreate && less.closedTables.contains("event") && less.foreignTables.contains("event"))
        try run("drop owned by \(reader)")
        try run("drop role \(reader)")
    }

    private func schema() throws -> String? { try Connection(server).run("select current_schema()").first?.text(0) }

    @Test("damage in the counts and numbers of a journal is found")
    func damages() async throws {
        let journal = try await PostgresJournal.open(server)
        _ = try await journal.commit(polls(1...3))
        let reader = try await PostgresJournalAccess(server).reader()
        #expect(try await reader.damages() == [])
        try run("update queue_total set count = 7")
        try run("update journal set last_seq = 1")
        #expect(
            try await reader.damages() == [
                "2 events have a higher number than the last one given", "1 totals of queues differ from their rows",
            ])
        try await journal.close()
    }
}
