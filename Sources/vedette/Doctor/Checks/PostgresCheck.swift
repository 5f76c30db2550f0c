// SPDX-License-Identifier: Apache-2.0

import VedetteCore
import VedettePostgres

/// Checks the server of a journal on PostgreSQL. Pure.
struct PostgresCheck {
    /// Above this, times of events and the server's do not fit together.
    static let mostSkew = Duration.seconds(2)
    /// A commit takes three round trips.
    static let mostLatency = Duration.milliseconds(50)

    /// Autovacuum begins at a fifth of a table by default; this many beyond the rows in use, it does not keep up.
    static let mostDeadRows = 200_000
    /// A watcher uses four connections, a command one or two.
    static let leastConnections = 8

    let location: String
    let facts: PostgresFacts

    @Findings var findings: [Finding] {
        let latency = "\(facts.latency.wholeMilliseconds) ms"
        if facts.latency > Self.mostLatency {
            .warning(
                "database", "\(location) answers in \(latency)",
                remedy: "run the watcher nearer to it: a commit takes three round trips")
        } else {
            .ok("database", "\(location) is PostgreSQL \(facts.version) and answers in \(latency)")
        }
        if !facts.canCreate {
            .failure(
                "database", "this user may create no table there",
                remedy: "make it the owner of the database, or create the schema of its search_path for it")
        }
        for name in ["fsync", "full_page_writes"] where facts.settings[name] == "off" {
            .failure(
                "database", "\(name) is off: a crash of its machine damages the journal",
                remedy: "set \(name) = on in postgresql.conf, and reload")
        }
        if facts.clockSkew > Self.mostSkew || facts.clockSkew < .zero - Self.mostSkew {
            .warning(
                "database", "its clock and this machine's differ by \(facts.clockSkew.wholeMilliseconds) ms",
                remedy: "synchronize both clocks (chrony, systemd-timesyncd)")
        }
        if facts.settings["synchronous_commit"] == "local",
            facts.settings["synchronous_standby_names"]?.isEmpty == false
        {
            .warning(
                "database",
                "a commit does not wait for the standbys (synchronous_commit = local): a fail-over loses the last ones",
                remedy: "set synchronous_commit = on for this database or user")
        }
        if !facts.closedTables.isEmpty {
            .failure(
                "database", "this user may not read and write \(facts.closedTables.joined(separator: ", "))",
                remedy: "run as the owner of the tables, or grant select, insert, update and delete on them")
        } else if !facts.foreignTables.isEmpty {
            .warning(
                "database",
                "another user owns \(facts.foreignTables.joined(separator: ", ")): an upgrade cannot change them",
                remedy: "alter table … owner to this user")
        }
        if facts.settings["autovacuum"] == "off" {
            .failure(
                "database", "autovacuum is off: tables grow without end, and statements slow down",
                remedy: "set autovacuum = on in postgresql.conf, and reload")
        }
        for table in facts.tables where table.dead > table.live + Self.mostDeadRows {
            .warning(
                "database",
                "the table '\(table.name)' has \(table.dead) dead rows beside \(table.live): autovacuum does not keep up",
                remedy:
                    "look for a transaction that stays open, and give autovacuum more (see 'A journal on PostgreSQL')")
        }
        if facts.freeConnections < Self.leastConnections {
            .warning(
                "database", "the server has room for \(facts.freeConnections) more connections",
                remedy: "raise max_connections: a watcher uses four, a command one or two")
        }
    }
}
