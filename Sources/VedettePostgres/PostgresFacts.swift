// SPDX-License-Identifier: Apache-2.0

import Glibc

/// What `doctor` checks of a server.
public struct PostgresFacts: Sendable, Hashable {
    /// As the server writes it, such as `15.18`.
    public var version: String
    /// How far this machine's clock is ahead of the server's.
    public var clockSkew: Duration
    /// The time of one round trip.
    public var latency: Duration
    /// The values of `fsync`, `full_page_writes` and `synchronous_commit` by their names, as the database has them.
    public var settings: [String: String]
    /// Whether this user may create tables in the schema, and whether there is one.
    public var canCreate: Bool

    /// Creates a value.
    public init(
        version: String, clockSkew: Duration, latency: Duration, settings: [String: String], canCreate: Bool
    ) {
        (self.version, self.clockSkew, self.latency) = (version, clockSkew, latency)
        (self.settings, self.canCreate) = (settings, canCreate)
    }

    /// Reads them through a connection. Blocks for two round trips.
    init(_ connection: Connection) throws {
        let facts = try connection.run(
            """
            select current_setting('server_version'),
              coalesce(has_schema_privilege(current_schema(), 'create'), false)
            """
        ).first
        (version, canCreate) = (try facts?.text(0) ?? "", try facts?.bool(1) ?? false)
        settings = [:]
        // The reset value is that of the database; the session's own is always safe.
        let rows = try connection.run(
            "select name, reset_val from pg_settings where name in ('fsync', 'full_page_writes', 'synchronous_commit')")
        for row in rows { settings[try row.text(0)] = try row.text(1) }
        let clock = "select (extract(epoch from clock_timestamp()) * 1000)::bigint"
        // Once before, so that the server has the statement prepared.
        try connection.run(clock)
        let (start, before) = (ContinuousClock.now, PostgresFacts.wallClock())
        let server = try connection.run(clock).first?.int64(0) ?? 0
        latency = .now - start
        clockSkew = .milliseconds((before + PostgresFacts.wallClock()) / 2 - server)
    }

    /// Milliseconds since 1970 by this machine's clock.
    private static func wallClock() -> Int64 {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
    }
}
