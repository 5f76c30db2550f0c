// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// The rows of `lease`: which watcher polls a source, delivers to a sink, and evaluates the deadlines of a rule. A lease has
/// no time of its own: all leases of a watcher end with its registration, `Lease.term` after the last renewal.
enum LeaseRows {
    /// Takes leases that nobody holds.
    /// - Returns: those that the watcher holds now.
    static func take(_ leases: Set<Lease>, for writer: Int64, _ transaction: Transaction) throws -> Set<Lease> {
        transaction.enqueue(
            """
            insert into lease (kind, name, watcher)
              select kind, name, $1::bigint from unnest($2::text[], $3::text[]) as n (kind, name)
              on conflict (kind, name) do nothing
            """, [writer] + columns(of: leases))
        return try held(leases, by: writer, transaction)
    }

    static func release(_ leases: Set<Lease>, of writer: Int64, _ transaction: Transaction) {
        transaction.enqueue(
            """
            delete from lease using unnest($2::text[], $3::text[]) as n (kind, name)
            where lease.kind = n.kind and lease.name = n.name and watcher = $1
            """, [writer] + columns(of: leases))
    }

    /// Returns which of the leases the writer of the transaction must hold, and does not.
    static func fenced(_ leases: Set<Lease>, _ transaction: Transaction) throws -> Set<Lease> {
        guard let writer = transaction.sharedWriter, !leases.isEmpty else { return [] }
        return leases.subtracting(try held(leases, by: writer, transaction))
    }

    /// Returns which of the leases a watcher holds. It looks each up: for a comparison with an array the server may
    /// compare each row with each element, which takes seconds for 5,000 of 100,000.
    private static func held(
        _ leases: Set<Lease>, by writer: Int64, _ transaction: Transaction
    ) throws -> Set<Lease> {
        let rows = try transaction.run(
            """
            select n.kind, n.name from unnest($2::text[], $3::text[]) as n (kind, name)
            where (select l.watcher from lease l where l.kind = n.kind and l.name = n.name) = $1
            """, [writer] + columns(of: leases))
        var held = Set<Lease>()
        for row in rows {
            if let kind = Lease.Kind(rawValue: try row.text(0)) { held.insert(Lease(kind, try row.text(1))) }
        }
        return held
    }

    private static func columns(of leases: Set<Lease>) -> [(any SQLValue)?] {
        let all = Array(leases)
        return [SQLArray(all.map(\.kind.rawValue)), SQLArray(all.map(\.name))]
    }
}
