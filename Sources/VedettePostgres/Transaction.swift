// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// One transaction that changes the journal. It locks the row of numbers, so writers come one after another. What need not
/// be read at once is queued and goes out in one round trip.
final class Transaction {
    /// What the end of a transaction is known to be.
    enum End {
        case committed
        /// The connection ended while the server committed: `commits` of the lease tells whether it did.
        case inDoubt(PostgresError)
    }

    private let connection: Connection
    private var queued: [SQLCommand] = []
    private var (lastSeq, lastDelivery): (Int64, Int64) = (0, 0)
    private var bytes: Int64 = 0
    private var hasNumbers = false
    /// The number of this transaction among those of its lease; 0 without one.
    private(set) var number: Int64 = 0

    /// Begins a transaction.
    /// - Parameter epoch: that of the lease that the writer holds; nil for a command, which needs none.
    init(_ connection: Connection, epoch: Int64?) throws {
        self.connection = connection
        do {
            try begin(epoch)
        } catch {
            rollback()
            throw error
        }
    }

    private func begin(_ epoch: Int64?) throws {
        let fence = epoch.map { [SQLCommand(Lease.count, [$0])] } ?? []
        let rows = try connection.run(
            [SQLCommand("begin")] + fence + [SQLCommand("select last_seq, last_delivery from journal for update")])
        if epoch != nil {
            guard let count = try rows[1].first?.int64(0) else { throw Lease.lost }
            number = count
        }
        guard let numbers = rows.last?.first else {
            throw PostgresError(.statement(state: "XX001"), "the row of 'journal' is missing")
        }
        (lastSeq, lastDelivery) = (try numbers.int64(0), try numbers.int64(1))
    }

    /// Runs a statement, after those that are queued.
    @discardableResult
    func run(_ sql: String, _ values: [(any SQLValue)?] = []) throws(PostgresError) -> SQLRows {
        try run([SQLCommand(sql, values)])[0]
    }

    /// Runs statements, after those that are queued.
    func run(_ commands: [SQLCommand]) throws(PostgresError) -> [SQLRows] {
        defer { queued = [] }
        return Array(try connection.run(queued + commands).dropFirst(queued.count))
    }

    /// Adds a statement whose rows nobody needs.
    func enqueue(_ sql: String, _ values: [(any SQLValue)?]) { queued.append(SQLCommand(sql, values)) }

    func nextSeq() -> Int64 {
        (lastSeq, hasNumbers) = (lastSeq + 1, true)
        return lastSeq
    }

    func nextDelivery() -> Int64 {
        (lastDelivery, hasNumbers) = (lastDelivery + 1, true)
        return lastDelivery
    }

    /// Adds the texts of new rows, or subtracts those of deleted ones.
    func count(bytes: Int64) { self.bytes += bytes }

    /// Commits, and wakes those who listen.
    func commit(_ change: JournalChange?) throws -> End {
        if hasNumbers || bytes != 0 {
            enqueue(
                "update journal set last_seq = $1, last_delivery = $2, bytes = greatest(bytes + $3, 0)",
                [lastSeq, lastDelivery, bytes])
        }
        if let change {
            enqueue("select pg_notify($1, current_schema() || $2)", [JournalChange.channel, change.rawValue])
        }
        do throws(PostgresError) {
            try run("commit")
            return .committed
        } catch {
            guard error.cause == .lost else { throw error }
            return .inDoubt(error)
        }
    }

    /// Undoes everything. Where the connection is gone, the server has done so.
    func rollback() { _ = try? connection.run("rollback") }
}

/// What happened to a journal, for those who listen to the channel.
enum JournalChange: String {
    /// The watcher committed something, or began or ended.
    case commit = " commit"
    /// A command changed something and wrote control requests.
    case requests = " requests"

    static let channel = "vedette"
}
