// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteCore

@testable import VedettePostgres

@Suite("Plans of PostgreSQL", .timeLimit(.minutes(10)))
struct PostgresPlanTests {
    private let server: PostgresServer

    init() throws { server = try PostgresLab.shared.get().schema() }

    /// Made by SQL for speed.
    private func fill() async throws {
        try await PostgresJournal.open(server).close()
        let connection = try Connection(server)
        let body = String(decoding: event(1).json.bytes, as: UTF8.self)
        try connection.run(
            """
            insert into event (seq, id, source, type, key, time, body)
              select i, 'id' || i, 'source' || (i % 64), 't', 'k' || (i % 500), i, $1 from generate_series(1, 101000) i
            """, [body])
        let columns = """
            insert into delivery (id, message, source, sink, rule, event, title, text, priority, state, created, due,
              attempts, ended_at, tags, suppressed, bytes, subject)
            """
        try connection.run(
            """
            \(columns) select i, 'm' || i, 'source' || (i % 64), 'sink' || (i % 4), 'rule' || (i % 10), i, '', '', 'normal',
              case when i > 100000 then 'dead' else 'pending' end, 0, 0, 0, case when i > 100000 then i end, '', 0, 100, ''
              from generate_series(1, 101000) i
            """)
        for part in 0..<5 {
            try connection.run(
                """
                \(columns) select i, 'e' || i, 'source1', 'sink1', 'rule1', null, '', '', 'normal', 'sent', 0, 0, 0, i, '', 0, 0, ''
                  from generate_series($1::bigint, $2::bigint) i
                """, [200_000 + part * 100_000, 299_999 + part * 100_000])
        }
        try connection.run("update journal set last_seq = 101000, last_delivery = 800000")
        for table in ["event", "delivery"] {
            _ = try connection.run([SQLCommand("analyze \(table)", isPrepared: false)])
        }
    }

    /// Waits until the connections of the test are gone, which then have reported what they read.
    private func readWhole(_ connection: Connection) throws -> [String: Int] {
        let others = """
            select count(*) from pg_stat_activity
            where application_name = current_setting('application_name') and pid <> pg_backend_pid()
            """
        for _ in 0..<100_000 { guard try connection.run(others).first?.int(0) != 0 else { break } }
        let rows = try connection.run(
            """
            select relname, seq_tup_read from pg_stat_user_tables
            where schemaname = current_schema() and relname in ('event', 'delivery')
            """)
        return try rows.reduce(into: [:]) { $0[try $1.text(0)] = try $1.int(1) }
    }

    /// Calls what commands call; their connection ends with it.
    private func exerciseCommands() async throws {
        let access = PostgresJournalAccess(server)
        for selection in [
            DeliverySelection.ids([7]), .all(.init(.unsent, sink: "sink1", rule: "rule1")),
            .all(.init(.unsent, rule: "rule1", event: 7, before: stamp(0))),
        ] {
            _ = try await access.retry(selection, at: stamp(0))
            _ = try await access.drop(selection, at: stamp(0))
            _ = try await access.clear(selection, at: stamp(0))
        }
        try await exerciseReader(access.reader(), since: Timestamp(milliseconds: 100_990))
    }

    @Test("no statement of the ports reads a large table of PostgreSQL whole, with 500,000 ended deliveries")
    func statements() async throws {
        try await fill()
        let connection = try Connection(server)
        let before = try readWhole(connection)
        let shared = try await PostgresJournal.join(server, name: "a", configuration: "")
        let part = try #require(shared.shares)
        #expect(try await part.ended(among: [7, 100_500, 900_000]) == [100_500, 900_000])
        try await shared.close()
        let journal = try await PostgresJournal.open(server)
        try await exerciseEngine(journal)
        try await exerciseMaintenance(journal, prunedBefore: Timestamp(milliseconds: 203_500))
        try await exerciseCommands()
        try await journal.close()
        #expect(try readWhole(connection) == before)
        #expect(try connection.run("select count(*) from delivery where ended_at < 203500").first?.int(0) == 0)
    }

    @Test("the deliveries of a message without a stored event are looked up by the id of its own event")
    func ownEvents() async throws {
        try await PostgresJournal.open(server).close()
        let connection = try Connection(server)
        let body = String(decoding: event(1).json.bytes, as: UTF8.self)
        try connection.run(
            """
            insert into delivery (id, message, source, sink, rule, event_body, own_event_id, title, text, priority, state,
                created, due, attempts, ended_at, tags, suppressed, bytes, subject)
              select i, 'm' || i, 's', 'k', 'r', $1, lpad(i::text, 36, '0'), '', '', 'normal',
                'sent', 0, 0, 0, i, '', 0, 0, ''
              from generate_series(1, 20000) i
            """, [body])
        _ = try connection.run([SQLCommand("analyze delivery", isPrepared: false)])
        let before = try readWhole(connection)
        let wanted = String(repeating: "0", count: 32) + "1234"
        #expect(try await messages(wanted) == ["m1234"])
        #expect(try readWhole(connection) == before)
        let read = try connection.run(
            """
            select idx_tup_read from pg_stat_user_indexes
            where schemaname = current_schema() and indexrelname = 'delivery_own_event'
            """)
        #expect(try (1...10).contains(#require(read.first).int(0)))
    }

    /// Its connection ends with it.
    private func messages(_ id: String) async throws -> [String] {
        try await PostgresJournalAccess(server).reader().deliveries(ofMessage: id).map(\.delivery.message.id)
    }

    /// So few that to read them all may look cheaper than a thousand look-ups: that takes longer in the transaction.
    @Test("pruning looks up the deliveries of the events that it deletes, and does not read all of 20,000")
    func pruning() async throws {
        try await PostgresJournal.open(server).close()
        let connection = try Connection(server)
        try connection.run(
            """
            insert into event (seq, id, source, type, key, time, body)
              select i, 'id' || i, 'source', 't', 'k', i, 'x' from generate_series(1, 3000) i
            """)
        try connection.run(
            """
            insert into delivery (id, message, source, sink, rule, event, title, text, priority, state, created, due,
                attempts, tags, suppressed, bytes, subject)
              select i, 'm' || i, 'source', 'sink', 'rule', 2000 + i, '', '', 'normal', 'pending', 0, 0, 0, '', 0, 0, ''
              from generate_series(1, 20000) i
            """)
        for table in ["event", "delivery"] {
            _ = try connection.run([SQLCommand("analyze \(table)", isPrepared: false)])
        }
        let before = try readWhole(connection)
        let journal = try await PostgresJournal.open(server)
        try await journal.prune(
            Retention(eventsBefore: Timestamp(milliseconds: 9000), sources: [], sourcesBefore: stamp(0)))
        try await journal.close()
        #expect(try readWhole(connection) == before)
        let kept = try #require(try connection.run("select min(seq), count(*) from event").first)
        #expect(try kept.int64(0) == 2001 && kept.int64(1) == 1000)
    }
}
