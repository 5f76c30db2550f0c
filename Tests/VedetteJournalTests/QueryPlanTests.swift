// SPDX-License-Identifier: Apache-2.0

import GRDB
import Synchronization
import Testing
import VedetteCore

@testable import VedetteJournal

@Suite("Query plans with 100,000 deliveries pending")
struct QueryPlanTests {
    let scratch = Scratch()

    /// 100,000 pending and 1,000 dead deliveries of as many events, made by SQL for speed.
    private func filled() throws -> SQLiteJournal {
        let journal = try scratch.open()
        let body = String(decoding: event(1).json.bytes, as: UTF8.self)
        try journal.tamper(
            """
            with recursive n (i) as (select 1 union all select i + 1 from n where i < 101000)
            insert into event (id, source, type, key, time, body)
              select 'id' || i, 'source' || (i % 64), 't', 'k' || (i % 500), i, '\(body)' from n;
            insert into delivery (message, source, sink, rule, event, title, text, priority, state, created, due,
                attempts, ended_at, tags, suppressed, bytes, subject)
              select 'm' || seq, source, 'sink' || (seq % 4), 'rule' || (seq % 10), seq, '', '', 'normal',
                iif(seq > 100000, 'dead', 'pending'), 0, 0, 0, iif(seq > 100000, seq, null), '', 0, 100, source
              from event
            """)
        return journal
    }

    @Test("every look-up of the hot paths walks an index, with nothing sorted")
    func plans() async throws {
        let journal = try filled()
        let plans: [(sql: String, index: String)] = [
            (DeliveryRows.nextLane, "delivery_lane"),
            (DeliveryRows.pendingInLane, "delivery_lane"),
            (DeliveryRows.sql(.init(.only(.dead), sink: "sink1")), "delivery_dead"),
            (DeliveryRows.sql(.init(.unsent, sink: "sink1"), .dead), "delivery_dead"),
            (DeliveryRows.sql(.init(.unsent, sink: "sink1"), .pending), "delivery_queue"),
            (DeliveryRows.sql(.init(.unsent, sink: "sink1", rule: "rule1"), .pending), "delivery_queue"),
            (DeliveryRows.lastSent, "delivery_sent"),
            (DeliveryRows.sentBefore, "delivery_receiver"),
            (DeliveryRows.aboutSubject, "delivery_told"),
            (DeliveryRows.sentSince, "delivery_sent"),
            (DeliveryRows.lastDead, "delivery_dead"),
            (DeliveryRows.eventsOfRule, "delivery_rule"),
            (DeliveryRows.othersOfRule, "delivery_rule"),
            (DeliveryRows.sql(.init(event: 7)), "delivery_event"),
            (DeliveryRows.sql(.init(event: 0)), "delivery_event"),
            (DeliveryRows.ofMessage, "delivery_own_event"),
            (EventRows.sql(.init(), .oldestFirst), "INTEGER PRIMARY KEY"),
            (EventRows.sql(.init(source: "source1"), .oldestFirst), "event_source"),
            (EventRows.sql(.init(source: "source1", since: stamp(0)), .newestFirst), "event_source"),
            (EventRows.sql(.init(rule: "rule1"), .oldestFirst), "delivery_rule"),
            (EventRows.sql(.init(source: "source1", rule: "rule1", since: stamp(0)), .newestFirst), "delivery_rule"),
            (EventRows.sql(.init(source: "source1", key: "k1"), .newestFirst), "event_item"),
            (EventRows.sql(.init(source: "source1", isSent: true), .newestFirst), "delivery_event"),
            (EventRows.sql(.init(rule: "rule1", kinds: [.changed], isSent: true), .newestFirst), "delivery_rule"),
            (EventRows.historySQL, "event_item"),
            (EventRows.lastOfWatcherSQL, "event_source"),
            (SQLitePruning.oldEvents, "event_time"),
            (SourceRows.selectItems, "sqlite_autoindex_item_1"),
            (SourceRows.selectItemsByName, "sqlite_autoindex_item_1"),
        ]
        for (sql, index) in plans {
            let plan = try plan(of: sql, in: journal)
            #expect(plan.contains("USING \(index)") || plan.contains("INDEX \(index)"), "\(sql)\n\(plan)")
            #expect(!plan.contains("SCAN") && !plan.contains("TEMP B-TREE"), "\(sql)\n\(plan)")
        }
        try journal.close()
    }

    @Test("64 lanes are found among 100,000 deliveries")
    func lanes() async throws {
        let journal = try filled()
        #expect(try await journal.pendingLanes().count == 64)
        try journal.close()
    }

    /// The statements of a connection, once each.
    private final class Trace: Sendable {
        private let seen = Mutex<Set<String>>([])
        var statements: [String] { seen.withLock { $0.sorted() } }

        func configuration() -> Configuration {
            var configuration = JournalStore.configuration(readonly: false)
            configuration.prepareDatabase { db in
                db.trace { event in
                    guard case .statement(let statement) = event else { return }
                    self.seen.withLock { _ = $0.insert(statement.sql) }
                }
            }
            return configuration
        }
    }

    /// Tables of a few rows, and an argument that is a list: they are read whole.
    private static let small = [
        "json_each", "source", "memory", "silence", "request", "cookie", "queue_total", "sqlite_sequence",
        "stopped_sink", "poll_lateness",
    ]

    @Test("no statement of the ports reads a large table whole, with 500,000 ended deliveries")
    func statements() async throws {
        let first = try filled()
        try first.tamper(
            """
            with recursive n (i) as (select 1 union all select i + 1 from n where i < 500000)
            insert into delivery (message, source, sink, rule, event, title, text, priority, state, created, due,
                attempts, ended_at, tags, suppressed, bytes, subject)
              select 'e' || i, 'source1', 'sink1', 'rule1', null, '', '', 'normal', 'sent', 0, 0, 0, 1000 + i, '', 0, 0, ''
              from n;
            """)
        try first.close()
        let trace = Trace()
        func store() throws -> JournalStore {
            let queue = try DatabaseQueue(path: scratch.database, configuration: trace.configuration())
            return JournalStore(files: scratch.files, database: queue)
        }
        let journal = SQLiteJournal(
            store: try store(), itemReader: try store(), lock: try StateLock(scratch.files), isUnchecked: false)
        try await exercise(journal)
        let statements = trace.statements.filter { sql in
            ["select", "insert", "update", "delete", "with"].contains { sql.hasPrefix($0) }
        }
        #expect(statements.count > 30)
        for sql in statements {
            let plan = try plan(of: sql, in: journal)
            for step in plan.split(separator: "\n") where step.hasPrefix("SCAN") {
                let words = step.split(separator: " ")
                let isSmall = words.count > 1 && Self.small.contains(String(words[1]))
                // The count of ended deliveries that are kept is found in their index alone, once per pruning.
                #expect(isSmall || sql == SQLitePruning.excessEnd || step == "SCAN CONSTANT ROW", "\(sql)\n\(plan)")
            }
        }
        try journal.close()
    }

    /// Calls everything that the ports have.
    private func exercise(_ journal: SQLiteJournal) async throws {
        try await exerciseEngine(journal)
        for action in [DeliveryChange.Action.retry, .drop, .clear] {
            for selection in [
                DeliverySelection.ids([7]), .all(.init(.unsent, sink: "sink1")),
                .all(.init(.unsent, rule: "rule1", event: 7, before: stamp(-1_000_000_000_000))),
            ] {
                try await journal.store.write { db in
                    var change = DeliveryChange(action, selection, at: stamp(0))
                    _ = try change.run(SQLiteEdit(db: db))
                }
            }
        }
        try await exerciseMaintenance(journal, prunedBefore: Timestamp(milliseconds: 100))
        try await exerciseReader(SQLiteJournalReader(store: journal.store), since: Timestamp(milliseconds: 5))
    }

    private func plan(of sql: String, in journal: SQLiteJournal) throws -> String {
        try journal.store.database.read { db in
            let numbered = (1...40).last { sql.contains("?\($0)") || sql.contains("$\($0)") }
            let count = numbered ?? sql.count { $0 == "?" }
            let arguments = StatementArguments(Array(repeating: 1, count: count))
            return try Row.fetchAll(db, sql: "explain query plan " + sql, arguments: arguments)
                .map { $0["detail"] as String }.joined(separator: "\n")
        }
    }
}
