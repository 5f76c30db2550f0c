// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// The registration of this process among the watchers of a journal. It expires by the database's clock unless it is
/// renewed, and all leases of its watcher end with it.
///
/// Each transaction of a watcher counts itself in the row of its registration, so a watcher that was paused until another
/// one deleted that row writes nothing any more.
struct WatcherRegistration: Sendable, Hashable {
    /// How a watcher registers.
    struct Identity: Sendable, Hashable {
        /// `settings.watcher`. Of several processes with one name the first is registered, and the others stand by for it.
        var name: String
        /// A digest of its configuration.
        var configuration: String
        /// Whether other watchers may be registered beside it.
        var isShared: Bool
    }

    /// Grows with each registration: the epoch of everything that the watcher writes.
    var number: Int64
    /// See `Identity`.
    var name: String
    /// See `Identity`.
    var isShared: Bool

    static let count = "update watcher set commits = commits + 1 where number = $1 returning commits"

    static let lost = JournalError(
        .locked(pid: nil),
        "other watchers have taken over from this one, since it did not renew its registration for "
            + "\(Lease.term.components.seconds) s: look for a pause of this machine, or of its way to the database"
    )

    /// Registers this process, and deletes the expired registrations in its way.
    /// - Throws: `.locked` where another process has the name, or shares the journal with nobody; `.newer`.
    static func register(
        _ identity: Identity, _ connection: Connection, _ location: String
    ) throws -> WatcherRegistration {
        let me = WatcherProcess.current
        return try connection.transaction {
            // One at a time, and none while a transaction runs that takes itself for the only watcher's.
            let version = try connection.run("select version from journal for update").first?.int(0)
            // Another process may have upgraded the tables since this one looked at them.
            try Migrations.requireKnown(version ?? 0)
            try connection.run(
                "delete from watcher where expires < clock_timestamp() and (name = $1 or not $2)",
                [identity.name, identity.isShared])
            let other = try connection.run(
                """
                select pid, host from watcher
                  where expires >= clock_timestamp() and (name = $1 or not is_shared or not $2) order by number limit 1
                """, [identity.name, identity.isShared]
            ).first
            if let other {
                let process = WatcherProcess(pid: Int32(try other.int(0)), host: try other.text(1))
                throw JournalError(
                    .locked(pid: process.pid),
                    "\(process.text) is watching with the journal \(location): "
                        + "stop it, or use another --state; \(delay)")
            }
            let number = try connection.run(
                """
                insert into watcher (name, host, pid, configuration, is_shared, expires)
                  values ($1, $2, $3, $4, $5, clock_timestamp() + $6 * interval '1 ms') returning number
                """,
                [
                    identity.name, me.host, Int(me.pid), identity.configuration, identity.isShared,
                    Int(Lease.term.wholeMilliseconds),
                ]
            ).first?.int64(0)
            guard let number else {
                throw PostgresError(.statement(state: PostgresError.dataCorrupted), "a registration has no number")
            }
            return WatcherRegistration(number: number, name: identity.name, isShared: identity.isShared)
        }
    }

    /// Renews the registration, also after it expired while nobody deleted it.
    /// - Parameters:
    ///   - version: the changes of rules that this watcher knows; see `RuleChanges`.
    ///   - ending: whether expired registrations of other watchers are deleted. A watcher that could not reach the
    ///     database itself leaves the others time to renew theirs; so does one whose renewals came late, since the
    ///     database may have answered nobody meanwhile.
    ///   - unrenewed: what the renewal before returned. A registration that has the same end at a second late renewal is
    ///     deleted: the database is slow, but answered this watcher twice and the other one not once.
    /// - Returns: the expired registrations of others, with their ends, where this renewal was late; none where it was not.
    /// - Throws: `lost`; `.newer` where a later version has upgraded the tables.
    @discardableResult
    func renew(
        _ connection: Connection, version: Int64, ending: Bool, unrenewed: [Int64: String] = [:]
    ) throws -> [Int64: String] {
        try Migrations.requireKnown(try connection.run("select version from journal").first?.int(0) ?? 0)
        let renew = """
            update watcher set expires = clock_timestamp() + $2 * interval '1 ms', version = $3
              from (select number as own, expires as earlier from watcher where number = $1 for update) as before
              where number = own returning earlier > clock_timestamp() + $4 * interval '1 ms'
            """
        let inTime = Lease.term - Lease.renewal * 2
        let rows = try connection.run(
            renew, [number, Int(Lease.term.wholeMilliseconds), version, Int(inTime.wholeMilliseconds)])
        guard let isInTime = try rows.first?.bool(0) else { throw WatcherRegistration.lost }
        guard isShared else { return [:] }
        // Each watcher has these changes.
        try connection.run("delete from memory_change where changed <= (select min(version) from watcher)")
        guard ending, isInTime else { return try endUnrenewed(connection, unrenewed) }
        // The database may answer nobody between the renewal and this.
        let expired = try connection.run(
            """
            delete from watcher where expires < clock_timestamp() and number <> $1 and exists (
              select 1 from watcher as own
              where own.number = $1 and own.expires > clock_timestamp() + $2 * interval '1 ms')
            """, [number, Int((Lease.term - Lease.renewal).wholeMilliseconds)]
        ).changed
        if expired > 0 { try WatcherRegistration.notify(connection) }
        return [:]
    }

    /// Deletes the expired registrations of others that were expired with the same end before.
    /// - Returns: those that are left.
    private func endUnrenewed(_ connection: Connection, _ before: [Int64: String]) throws -> [Int64: String] {
        let rows = try connection.run(
            "select number, expires::text from watcher where expires < clock_timestamp() and number <> $1", [number])
        var left: [Int64: String] = [:]
        for row in rows { left[try row.int64(0)] = try row.text(1) }
        for (other, end) in left where before[other] == end {
            // It may have been renewed a moment ago.
            let ended = try connection.run(
                "delete from watcher where number = $1 and expires::text = $2", [other, end]
            ).changed
            guard ended > 0 else { continue }
            left[other] = nil
            try WatcherRegistration.notify(connection)
        }
        return left
    }

    /// Ends the registration with all leases, so that other watchers need not wait for its expiry.
    func end(_ connection: Connection) throws {
        try connection.run("delete from watcher where number = $1", [number])
        try WatcherRegistration.notify(connection)
    }

    /// Tells readers and other watchers that a watcher began or ended.
    static func notify(_ connection: Connection) throws {
        try connection.run(
            "select pg_notify($1, current_schema() || $2)", [JournalChange.channel, JournalChange.watchers.payload()])
    }

    private static let delay = "after a crash its right ends within \(Lease.term.components.seconds) s"

    /// Reads the registered watchers in the order of their registration.
    /// - Parameter isExpiredToo: whether those are among them that did not renew their registration in time, and whose
    ///   leases nobody has taken.
    static func all(_ connection: Connection, isExpiredToo: Bool) throws -> [RegisteredWatcher] {
        try connection.run(
            """
            select number, name, pid, host, (extract(epoch from started) * 1000)::bigint, configuration, configured,
              (extract(epoch from expires - clock_timestamp()) * 1000)::bigint,
              (select count(*) from lease where watcher = number and kind = 'source'),
              (select count(*) from lease where watcher = number and kind = 'sink')
            from watcher where $1 or expires > clock_timestamp() order by number
            """, [isExpiredToo]
        ).map { row in
            RegisteredWatcher(
                number: try row.int64(0), name: try row.text(1),
                process: WatcherProcess(pid: Int32(try row.int(2)), host: try row.text(3)),
                started: Timestamp(milliseconds: try row.int64(4)), configuration: try row.text(5),
                configured: try row.int64(6), left: .milliseconds(try row.int(7)), sources: try row.int(8),
                sinks: try row.int(9))
        }
    }

    /// Returns whether the transaction with this number is committed. Waits for the server to end it where that is open.
    /// - Throws: `lost` where the registration is gone, so that nobody knows.
    func hasCommitted(_ transaction: Int64, _ connection: Connection) throws -> Bool {
        let rows = try connection.run("select commits from watcher where number = $1 for update", [number])
        guard let commits = try rows.first?.int64(0) else { throw WatcherRegistration.lost }
        return commits >= transaction
    }
}
