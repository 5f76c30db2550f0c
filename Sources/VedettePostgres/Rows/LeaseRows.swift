// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// The rows of `lease`: which watcher polls a source, delivers to a sink, and evaluates the deadlines of a rule. A lease has
/// no time of its own: all leases of a watcher end with its registration, `Lease.term` after the last renewal.
enum LeaseRows {
    /// Takes leases that nobody holds.
    /// - Returns: those that the watcher holds now.
    static func take(_ leases: Set<Lease>, for writer: Int64, _ transaction: Transaction) throws -> Set<Lease> {
        let names = SQLArray(leases.map(\.text))
        try transaction.run(
            "insert into lease (name, watcher) select unnest($1::text[]), $2 on conflict (name) do nothing",
            [names, writer])
        let rows = try transaction.run(held, [writer, names])
        let held = Set(try rows.map { try $0.text(0) })
        return leases.filter { held.contains($0.text) }
    }

    /// Those of many names that a watcher holds. A look-up for each name: for `name = any($2)` the server may compare each row
    /// with each name, which takes seconds for 5,000 of 100,000.
    private static let held = """
        select n.name from unnest($2::text[]) as n (name)
        where (select l.watcher from lease l where l.name = n.name) = $1
        """

    static func release(_ leases: Set<Lease>, of writer: Int64, _ transaction: Transaction) {
        transaction.enqueue(
            "delete from lease using unnest($2::text[]) as n (name) where lease.name = n.name and watcher = $1",
            [writer, SQLArray(leases.map(\.text))])
    }

    /// Returns those of some leases that the writer of the transaction must hold, and does not.
    static func fenced(_ leases: Set<Lease>, _ transaction: Transaction) throws -> Set<Lease> {
        guard let writer = transaction.sharedWriter, !leases.isEmpty else { return [] }
        let rows = try transaction.run(held, [writer, SQLArray(leases.map(\.text))])
        let held = Set(try rows.map { try $0.text(0) })
        return leases.filter { !held.contains($0.text) }
    }
}
