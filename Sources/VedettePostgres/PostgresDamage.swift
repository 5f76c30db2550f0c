// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// What can be wrong in a journal on PostgreSQL although the server is well.
enum PostgresDamage {
    /// Checks what the tables must have in common. The pages are the server's: `pg_amcheck` checks them.
    static func find(_ connection: Connection) throws -> [String] {
        let rows = try connection.run([
            SQLCommand("select count(*) from event where seq > (select last_seq from journal)"),
            SQLCommand("select count(*) from delivery where id > (select last_delivery from journal)"),
            SQLCommand(
                "select count(*) from delivery d where event is not null and not exists "
                    + "(select 1 from event where seq = d.event)"),
            SQLCommand(
                """
                select count(*) from (
                  select sink, state, count(*) as count, sum(bytes) as bytes from delivery
                    where ended_at is null or state = 'dead' group by sink, state) as found
                  full join (select * from queue_total where count <> 0 or bytes <> 0) as kept
                    using (sink, state)
                  where found.count is distinct from kept.count or found.bytes is distinct from kept.bytes
                """),
        ])
        let names = [
            "events have a higher number than the last one given", "messages have a higher number than the last",
            "messages name an event that is missing", "totals of queues differ from their rows",
        ]
        return try zip(rows, names).compactMap { rows, name in
            let count = try rows.first?.int(0) ?? 0
            return count > 0 ? "\(count) \(name)" : nil
        }
    }
}
