// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// The numbers of changes in `memory_change` and `source`, by which each watcher learns what rules must know of the others.
/// They are written while there are others: a watcher that registers reads everything.
enum ChangeRows {
    /// Refuses polls that were evaluated without a change of another watcher on which they depend.
    /// - Throws: `.conflict`.
    static func requireCurrent(_ polls: [PollRecord], _ transaction: Transaction) throws {
        // Also of watchers that have ended.
        let commands = polls.filter { ($0.basis?.version ?? .max) < transaction.lastChange }.compactMap(check)
        guard !commands.isEmpty else { return }
        for rows in try transaction.run(commands) where try rows.first?.bool(0) == true {
            throw JournalError(.conflict, "another watcher has changed what rules remember meanwhile")
        }
    }

    private static func check(_ poll: PollRecord) -> SQLCommand? {
        guard let basis = poll.basis, !basis.rules.isEmpty || !poll.memories.isEmpty else { return nil }
        let keys = Array(poll.memories.keys)
        return SQLCommand(
            """
            select exists (select 1 from memory_change where changed > $1 and writer <> $2 and (
                is_shared and rule = any($3::text[])
                or (rule, slot, name) in (select * from unnest($4::text[], $5::text[], $6::text[]))))
              or exists (select 1 from source where changed > $1 and writer <> $2 and name = any($7::text[]))
            """,
            [
                basis.version, basis.writer, SQLArray(basis.rules), SQLArray(keys.map(\.rule)),
                SQLArray(keys.map(\.slot.rawValue)), SQLArray(keys.map(\.name)), SQLArray(basis.sources),
            ])
    }

    /// Numbers what a poll changed.
    static func write(_ poll: PollRecord, _ transaction: Transaction) {
        guard transaction.hasOthers, let writer = transaction.sharedWriter else { return }
        for key in poll.memories.keys {
            transaction.enqueue(
                """
                insert into memory_change (rule, slot, name, changed, writer, is_shared) values ($1, $2, $3, $4, $5, $6)
                on conflict (rule, slot, name) do update set changed = excluded.changed, writer = excluded.writer
                """,
                [key.rule, key.slot.rawValue, key.name, transaction.nextChange(), writer, key.slot.isShared])
        }
        guard let record = poll.record, poll.changesSource else { return }
        transaction.enqueue(
            "update source set changed = $2, writer = $3 where name = $1",
            [record.name, transaction.nextChange(), writer])
    }

    /// Reads what other watchers changed after a version, or everything that rules remember, as of one moment.
    static func changes(_ connection: Connection, after version: Int64?, writer: Int64) throws -> RuleChanges {
        let memories =
            version.map { version in
                SQLCommand(
                    """
                    select c.rule, c.slot, c.name, m.body from memory_change c left join memory m using (rule, slot, name)
                    where c.changed > $1 and c.writer <> $2
                    """, [version, writer])
            } ?? SQLCommand("select \(RuleMemoryRow.columns) from memory")
        let sources = SQLCommand(
            "select \(SourceRow.columns) from source where changed > $1 and writer <> $2", [version ?? .max, writer])
        // Rows of different commits would look like a state that never was.
        let rows: [SQLRows]
        do {
            rows = try connection.run([
                SQLCommand("begin isolation level repeatable read read only"),
                SQLCommand("select changes from journal"), memories, sources, SQLCommand(SilenceRows.select),
                SQLCommand("commit"),
            ])
        } catch {
            _ = try? connection.run("rollback")
            throw error
        }
        var changes = RuleChanges(
            version: try rows[1].first?.int64(0) ?? 0, memories: [:], records: try rows[3].map(SourceRow.decode),
            silences: try rows[4].map(SilenceRow.decode))
        for row in rows[2] {
            guard let key = try RuleMemoryRow.key(row) else { continue }
            changes.memories[key] = .some(try RuleMemoryRow.decode(row))
        }
        return changes
    }
}
