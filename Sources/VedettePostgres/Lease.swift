// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// The right to write a journal as its watcher. One process holds it at a time, by the database's clock, and renews it.
/// Each transaction of its holder counts itself in the row of its epoch, so a holder that was paused while another took
/// over writes nothing any more.
struct Lease: Sendable, Hashable {
    /// How long it is held after it was taken or renewed.
    static let term = Duration.seconds(15)

    /// Grows whenever another process takes it.
    var epoch: Int64

    /// Who holds a lease.
    struct Holder: Hashable {
        var process: WatcherProcess
        /// The time until it expires.
        var left: Duration
    }

    static let count = "update lease set commits = commits + 1 where name = 'journal' and epoch = $1 returning commits"

    static let lost = JournalError(
        .locked(pid: nil),
        "another watcher has taken over the journal, since this one did not renew its lease for "
            + "\(term.components.seconds) s: look for a pause of this machine, or of its way to the database")

    private static let take = """
        insert into lease as held (name, epoch, host, pid, expires, commits)
          values ('journal', 1, $1, $2, clock_timestamp() + $3 * interval '1 ms', 0)
          on conflict (name) do update set epoch = held.epoch + 1, host = excluded.host, pid = excluded.pid,
            expires = excluded.expires, commits = 0
            where held.expires < clock_timestamp()
          returning epoch
        """

    /// Takes the lease where nobody holds it.
    static func take(_ connection: Connection) throws -> Lease? {
        let me = WatcherProcess.current
        let rows = try connection.run(take, [me.host, Int(me.pid), Int(term.wholeMilliseconds)])
        return try rows.first.map { Lease(epoch: try $0.int64(0)) }
    }

    /// Renews the lease, also after it expired while nobody took it.
    /// - Throws: `lost`.
    func renew(_ connection: Connection) throws {
        let renewal = """
            update lease set expires = clock_timestamp() + $2 * interval '1 ms' where name = 'journal' and epoch = $1
            """
        let rows = try connection.run(renewal, [epoch, Int(Lease.term.wholeMilliseconds)])
        if rows.changed == 0 { throw Lease.lost }
    }

    /// Gives the lease back, so that another watcher need not wait for its end.
    func release(_ connection: Connection) throws {
        try connection.run("update lease set expires = '-infinity' where name = 'journal' and epoch = $1", [epoch])
        try Lease.notify(connection)
    }

    /// Tells readers that a watcher began or ended.
    static func notify(_ connection: Connection) throws {
        try connection.run(
            "select pg_notify($1, current_schema() || $2)", [JournalChange.channel, JournalChange.commit.rawValue])
    }

    static let delay = "after a crash its right ends within \(term.components.seconds) s"

    /// The process that holds it now; nil when none does.
    static func holder(_ connection: Connection) throws -> Holder? {
        let holder = """
            select pid, host, (extract(epoch from expires - clock_timestamp()) * 1000)::bigint from lease
              where name = 'journal' and expires > clock_timestamp()
            """
        return try connection.run(holder).first.map { row in
            Holder(
                process: WatcherProcess(pid: Int32(try row.int(0)), host: try row.text(1)),
                left: .milliseconds(try row.int(2)))
        }
    }

    /// Returns whether the transaction with this number is committed. Waits for the server to end it where that is open.
    /// - Throws: `lost` where another process holds the lease, so that nobody knows.
    func hasCommitted(_ number: Int64, _ connection: Connection) throws -> Bool {
        let rows = try connection.run(
            "select commits from lease where name = 'journal' and epoch = $1 for update", [epoch])
        guard let commits = try rows.first?.int64(0) else { throw Lease.lost }
        return commits >= number
    }
}
