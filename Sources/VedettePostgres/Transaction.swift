// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// One transaction that changes the journal. It locks the row of numbers, so writers come one after another. What need not
/// be read at once is queued and goes out in one round trip.
///
/// Between two round trips the transaction waits for nothing but the encoding of the rows of the next one, and so does not
/// reach the server's limit for one that waits (`Connection`): the blocks that use it are synchronous.
final class Transaction {
    /// Statements that are queued: more would take their memory twice, and time in which the transaction waits.
    private static let batch = 1000

    /// What the end of a transaction is known to be.
    enum End {
        case committed
        /// The connection ended while the server committed: `commits` of the registration tells whether it did.
        case inDoubt(PostgresError)
    }

    private let connection: Connection
    private var queued: [SQLCommand] = []
    /// Of a statement that was queued; the next round trip throws it.
    private var failure: PostgresError?
    private var lastSeq: Int64 = 0
    /// The greatest id that a delivery was ever given.
    private(set) var lastDelivery: Int64 = 0
    private var bytes: Int64 = 0
    private var hasNumbers = false
    /// The number of the last change that other watchers must know.
    private(set) var lastChange: Int64 = 0
    /// The number of this transaction within its registration; 0 without one.
    private(set) var number: Int64 = 0
    /// The watcher that writes; nil for a command.
    private let writer: WatcherRegistration?
    /// Whether other watchers are registered, which must learn of changes.
    private(set) var hasOthers = false

    /// The number of the watcher that writes, where others may write beside it.
    var sharedWriter: Int64? { writer.flatMap { $0.isShared ? $0.number : nil } }

    /// Begins a transaction.
    /// - Parameter writer: the watcher that writes; nil for a command, which needs no registration.
    init(_ connection: Connection, writer: WatcherRegistration?) throws {
        (self.connection, self.writer) = (connection, writer)
        do {
            try begin()
        } catch {
            rollback()
            throw error
        }
    }

    private func begin() throws {
        let fence = writer.map { [SQLCommand(WatcherRegistration.count, [$0.number])] } ?? []
        // A statement of its own, whose snapshot is taken behind the lock: a watcher that registered meanwhile is in it.
        let others = sharedWriter.map { [SQLCommand("select exists (select 1 from watcher where number <> $1)", [$0])] }
        let rows = try connection.run(
            [
                SQLCommand("begin"),
                SQLCommand("select last_seq, last_delivery, changes, version from journal for update"),
            ] + fence + (others ?? []))
        guard let numbers = rows[1].first else {
            throw PostgresError(.statement(state: PostgresError.dataCorrupted), "the row of 'journal' is missing")
        }
        (lastSeq, lastDelivery) = (try numbers.int64(0), try numbers.int64(1))
        lastChange = try numbers.int64(2)
        try Migrations.requireKnown(try numbers.int(3))
        guard writer != nil else { return }
        guard let count = try rows[2].first?.int64(0) else { throw WatcherRegistration.lost }
        number = count
        if others != nil { hasOthers = try rows[3].first?.bool(0) ?? false }
    }

    /// Runs a statement, after those that are queued.
    @discardableResult
    func run(_ sql: String, _ values: [(any SQLValue)?] = []) throws(PostgresError) -> SQLRows {
        try run([SQLCommand(sql, values)])[0]
    }

    /// Runs statements, after those that are queued.
    func run(_ commands: [SQLCommand]) throws(PostgresError) -> [SQLRows] {
        if let failure { throw failure }
        defer { queued = [] }
        return Array(try connection.run(queued + commands).dropFirst(queued.count))
    }

    /// Adds a statement whose rows nobody needs.
    func enqueue(_ sql: String, _ values: [(any SQLValue)?]) {
        guard failure == nil else { return }
        queued.append(SQLCommand(sql, values))
        guard queued.count == Transaction.batch else { return }
        do throws(PostgresError) { _ = try run([]) } catch { failure = error }
    }

    func nextSeq() -> Int64 {
        (lastSeq, hasNumbers) = (lastSeq + 1, true)
        return lastSeq
    }

    func nextDelivery() -> Int64 {
        (lastDelivery, hasNumbers) = (lastDelivery + 1, true)
        return lastDelivery
    }

    /// Returns the number of a change that other watchers must know.
    func nextChange() -> Int64 {
        (lastChange, hasNumbers) = (lastChange + 1, true)
        return lastChange
    }

    /// Adds the texts of new rows, or subtracts the texts of deleted ones.
    func count(bytes: Int64) { self.bytes += bytes }

    /// Commits, and wakes those who listen.
    func commit(_ change: JournalChange?) throws -> End {
        if hasNumbers || bytes != 0 {
            enqueue(
                """
                update journal set last_seq = $1, last_delivery = $2, bytes = greatest(bytes + $3, 0), changes = $4
                """, [lastSeq, lastDelivery, bytes, lastChange])
        }
        if let change {
            let payload = change.payload(from: sharedWriter)
            enqueue("select pg_notify($1, current_schema() || $2)", [JournalChange.channel, payload])
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
