// SPDX-License-Identifier: Apache-2.0

import GRDB
import Testing
import VedetteCore

@testable import VedetteJournal

@Suite("Query plans with 100,000 deliveries pending")
struct QueryPlanTests {
    let scratch = Scratch()

    /// 100,000 pending and 1,000 dead deliveries of as many events, made by SQL for speed.
    private func filled() throws -> SQLiteJournal {
        let journal = try scratch.open()
        try journal.tamper(
            """
            with recursive n (i) as (select 1 union all select i + 1 from n where i < 101000)
            insert into event (id, source, type, key, time, body)
              select 'id' || i, 'source' || (i % 64), 't', 'k' || (i % 500), i, '{}' from n;
            insert into delivery (message, source, sink, rule, event, title, text, priority, state, created, due,
                attempts, ended_at)
              select 'm' || seq, source, 'sink' || (seq % 4), 'rule' || (seq % 10), seq, '', '', 'normal',
                iif(seq > 100000, 'dead', 'pending'), 0, 0, 0, iif(seq > 100000, seq, null) from event
            """)
        return journal
    }

    @Test("every look-up of the hot paths walks an index, with nothing sorted")
    func plans() async throws {
        let journal = try filled()
        let plans: [(sql: String, index: String)] = [
            (DeliveryRows.nextLane, "delivery_owed"),
            (DeliveryRows.pendingInLane, "delivery_owed"),
            (DeliveryRows.sql(.init(.only(.dead), sink: "sink1")), "delivery_dead"),
            (DeliveryRows.sql(.init(event: 7)), "delivery_event"),
            (EventRows.sql(.init(), .oldestFirst), "INTEGER PRIMARY KEY"),
            (EventRows.sql(.init(source: "source1"), .oldestFirst), "event_source"),
            (EventRows.sql(.init(source: "source1", since: stamp(0)), .newestFirst), "event_source"),
            (EventRows.sql(.init(rule: "rule1"), .oldestFirst), "delivery_rule"),
            (EventRows.sql(.init(source: "source1", rule: "rule1", since: stamp(0)), .newestFirst), "delivery_rule"),
            (EventRows.historySQL, "event_item"),
            (EventRows.lastOfWatcherSQL, "event_source"),
            (Pruning.oldEvents, "event_time"),
            (SourceRows.selectItems, "PRIMARY KEY"),
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

    private func plan(of sql: String, in journal: SQLiteJournal) throws -> String {
        try journal.store.database.read { db in
            let count = sql.count { $0 == "?" }
            let arguments = StatementArguments(Array(repeating: 1, count: count))
            return try Row.fetchAll(db, sql: "explain query plan " + sql, arguments: arguments)
                .map { $0["detail"] as String }.joined(separator: "\n")
        }
    }
}
