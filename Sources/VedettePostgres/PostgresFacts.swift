// SPDX-License-Identifier: Apache-2.0

import VedetteCore
import VedetteSystem

/// What `doctor` checks of a server.
public struct PostgresFacts: Sendable, Hashable {
    /// As the server writes it, such as `15.18`.
    public var version: String
    /// How far this machine's clock is ahead of the server's.
    public var clockSkew: Duration
    /// The time of one round trip.
    public var latency: Duration
    /// The values of settings by their names, as the database has them; see `settingNames`.
    public var settings: [String: String]
    /// Whether this user may create tables in the schema, and whether there is one.
    public var canCreate: Bool
    /// The tables of the journal that this user may not read and write.
    public var closedTables: [String]
    /// The tables of the journal that this user does not own, so that an upgrade cannot change them.
    public var foreignTables: [String]
    /// The rows of each table of the journal, as the server estimates them.
    public var tables: [Table]
    /// Connections that the server still has for this user.
    public var freeConnections: Int

    /// The rows of one table.
    public struct Table: Sendable, Hashable {
        public var name: String
        public var live: Int
        /// Deleted or replaced, and not yet vacuumed.
        public var dead: Int

        public init(name: String, live: Int, dead: Int) { (self.name, self.live, self.dead) = (name, live, dead) }
    }

    /// What `settings` holds.
    static let settingNames = [
        "fsync", "full_page_writes", "synchronous_commit", "synchronous_standby_names", "autovacuum",
    ]

    /// Creates the facts of a server at which nothing is to be said about tables.
    public init(
        version: String, clockSkew: Duration, latency: Duration, settings: [String: String], canCreate: Bool
    ) {
        (self.version, self.clockSkew, self.latency) = (version, clockSkew, latency)
        (self.settings, self.canCreate) = (settings, canCreate)
        (closedTables, foreignTables, tables, freeConnections) = ([], [], [], 100)
    }

    /// Reads them through a connection. Blocks for a few round trips.
    init(_ connection: Connection) throws {
        let facts = try connection.run(
            """
            select current_setting('server_version'),
              coalesce(has_schema_privilege(current_schema(), 'create'), false),
              current_setting('max_connections')::integer - current_setting('superuser_reserved_connections')::integer
                - (select sum(numbackends)::integer from pg_stat_database)
            """
        ).first
        (version, canCreate) = (try facts?.text(0) ?? "", try facts?.bool(1) ?? false)
        freeConnections = try facts?.int(2) ?? 0
        settings = [:]
        // The reset value is the database's; the session's own is always safe.
        let names = Self.settingNames.map { "'\($0)'" }.joined(separator: ", ")
        for row in try connection.run("select name, reset_val from pg_settings where name in (\(names))") {
            settings[try row.text(0)] = try row.text(1)
        }
        (closedTables, foreignTables, tables) = ([], [], [])
        let ours = """
            select c.relname, has_table_privilege(c.oid, 'select') and has_table_privilege(c.oid, 'insert')
                and has_table_privilege(c.oid, 'update') and has_table_privilege(c.oid, 'delete'),
              pg_has_role(c.relowner, 'usage'), coalesce(s.n_live_tup, 0), coalesce(s.n_dead_tup, 0)
            from pg_class c left join pg_stat_user_tables s on s.relid = c.oid
            where c.relnamespace = quote_ident(current_schema())::regnamespace and c.relkind = 'r' order by c.relname
            """
        for row in try connection.run(ours) {
            let name = try row.text(0)
            if !(try row.bool(1)) { closedTables.append(name) }
            if !(try row.bool(2)) { foreignTables.append(name) }
            tables.append(Table(name: name, live: try row.int(3), dead: try row.int(4)))
        }
        let clock = "select (extract(epoch from clock_timestamp()) * 1000)::bigint"
        // Once before, so that the server has the statement prepared.
        try connection.run(clock)
        let (start, before) = (ContinuousClock.now, KernelClock.wall.milliseconds)
        let server = try connection.run(clock).first?.int64(0) ?? 0
        latency = .now - start
        clockSkew = .milliseconds((before + KernelClock.wall.milliseconds) / 2 - server)
    }
}
