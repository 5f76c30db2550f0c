// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// The tables, as steps from an empty schema to this version. A released step is never edited: a change is a new step at
/// the end. `journal.version` counts the steps done; it is negative while a copy is written.
///
/// Texts are compared by their bytes (`collate "C"`), as SQLite does, whatever the database's language. To Swift's
/// `String` two texts are equal that are so to Unicode, whatever their bytes: what changes a row keeps its key.
enum Migrations {
    /// Each is a list of statements, since the server takes one at a time.
    static let steps: [[String]] = [version1, version2, version3, version4]

    private static let version4 = ["create index delivery_told on delivery (sink, rule, subject, id)"]

    private static let version3 = [
        "alter table delivery add column receiver_id text",
        "create index delivery_receiver on delivery (sink, rule, id) where receiver_id is not null",
    ]

    private static let version2 = [
        "alter table silence add column begins bigint", "alter table silence add column fields text",
    ]

    private static let version1: [String] = [
        // One row. Each transaction that gives numbers locks it, so that they are committed in their order: a reader that
        // has seen a number misses none below it. `bytes` counts the texts of events and deliveries; `changes` is the number of
        // the last change of rules' memory, or of a source, that another watcher may have to know.
        """
        create table journal (
          one boolean primary key default true check (one),
          version integer not null,
          last_seq bigint not null default 0,
          last_delivery bigint not null default 0,
          bytes bigint not null default 0,
          changes bigint not null default 0
        ) with (fillfactor = 20)
        """,
        "insert into journal (version) values (1)",
        "create sequence watcher_configuration",
        // `commits` counts the transactions of this registration; `version` is the last of `journal.changes` that it knows.
        """
        create table watcher (
          number bigint generated always as identity primary key,
          name text collate "C" not null unique,
          host text not null,
          pid integer not null,
          started timestamptz not null default clock_timestamp(),
          configuration text not null,
          configured bigint not null default nextval('watcher_configuration'),
          is_shared boolean not null,
          expires timestamptz not null,
          commits bigint not null default 0,
          version bigint not null default 0
        ) with (fillfactor = 20)
        """,
        """
        create table lease (
          kind text collate "C" not null,
          name text collate "C" not null,
          watcher bigint not null references watcher (number) on delete cascade,
          primary key (kind, name)
        )
        """,
        "create index lease_watcher on lease (watcher, kind)",
        """
        create table source (
          name text collate "C" primary key,
          polled_at bigint,
          record text not null,
          changed bigint not null default 0,
          writer bigint not null default 0
        )
        """,
        "create index source_changed on source (changed)",
        """
        create table item (
          source text collate "C" not null,
          key text collate "C" not null,
          digest bigint not null,
          shown bigint not null,
          absent_since bigint,
          state_since bigint not null,
          body text not null,
          primary key (source, key)
        )
        """,
        """
        create table event (
          seq bigint primary key,
          id text collate "C" not null unique,
          source text collate "C" not null,
          type text collate "C" not null,
          key text collate "C",
          time bigint not null,
          body text not null
        )
        """,
        "create index event_source on event (source, seq)",
        "create index event_item on event (source, key, seq) where key is not null",
        "create index event_time on event (time, seq)",
        // event_body holds an event that was never journalled, and own_event_id its id; else both are null and event tells
        // which. subject is the item or source of the message, or empty for several.
        """
        create table delivery (
          id bigint primary key,
          message text collate "C" not null unique,
          source text collate "C" not null,
          sink text collate "C" not null,
          rule text collate "C" not null,
          event bigint,
          event_body text,
          own_event_id text collate "C",
          title text not null,
          text text not null,
          priority text collate "C" not null,
          state text collate "C" not null,
          created bigint not null,
          due bigint not null,
          attempts bigint not null,
          reason text,
          ended_at bigint,
          tags text not null,
          suppressed bigint not null,
          chain text,
          bytes bigint not null,
          field text,
          subject text collate "C" not null
        )
        """,
        "create index delivery_lane on delivery (source, sink, priority, id) where ended_at is null",
        "create index delivery_subject on delivery (sink, rule, subject, id) where ended_at is null",
        "create index delivery_queue on delivery (sink, id) include (created, bytes) where ended_at is null",
        "create index delivery_pending on delivery (id) where ended_at is null",
        "create index delivery_dead on delivery (sink, id) where state = 'dead'",
        // For the last and the number of the messages that each sink sent.
        "create index delivery_sent on delivery (sink, ended_at) where state = 'sent'",
        "create index delivery_ended on delivery (ended_at) where ended_at is not null",
        "create index delivery_event on delivery (event)",
        "create index delivery_rule on delivery (rule, event)",
        "create index delivery_own_event on delivery (own_event_id, id) where own_event_id is not null",
        // Failed attempts, the newest of each delivery: slot is the number modulo how many are kept.
        """
        create table attempt (
          delivery bigint not null references delivery (id) on delete cascade,
          slot bigint not null,
          number bigint not null,
          at bigint not null,
          due bigint not null,
          state text not null,
          reason text,
          primary key (delivery, slot)
        )
        """,
        """
        create table request (
          id bigint generated always as identity primary key,
          verb text not null,
          argument text not null,
          created bigint not null
        )
        """,
        """
        create table cookie (
          session text collate "C" primary key,
          jar text not null
        )
        """,
        """
        create table memory (
          rule text collate "C" not null,
          slot text collate "C" not null,
          name text collate "C" not null,
          body text not null,
          primary key (rule, slot, name)
        )
        """,
        """
        create table memory_change (
          rule text collate "C" not null,
          slot text collate "C" not null,
          name text collate "C" not null,
          changed bigint not null,
          writer bigint not null,
          is_shared boolean not null,
          primary key (rule, slot, name)
        )
        """,
        "create index memory_change_changed on memory_change (changed)",
        """
        create table silence (
          id bigint generated always as identity primary key,
          rule text,
          source text,
          item text,
          until bigint,
          until_state text,
          created bigint not null,
          sink text,
          drops boolean not null
        )
        """,
        // Sinks that take no messages until a person acts, or that fail and have fallbacks. kind is paused, disabled or failing;
        // fingerprint is a digest of the options that the sink had.
        """
        create table stopped_sink (
          sink text collate "C" primary key,
          kind text not null,
          reason text not null,
          since bigint not null,
          fingerprint bigint not null
        )
        """,
        // How late polls started lately: the 99th percentile in milliseconds, of how many polls, and when it was reported.
        // watcher is empty where the journal is one watcher's.
        """
        create table poll_lateness (
          watcher text collate "C" primary key,
          p99 bigint not null,
          polls bigint not null,
          at bigint not null
        )
        """,
        // Pending and dead deliveries by sink and state: to count millions of rows takes seconds.
        """
        create table queue_total (
          sink text collate "C" not null,
          state text collate "C" not null,
          count bigint not null,
          bytes bigint not null,
          primary key (sink, state)
        ) with (fillfactor = 50)
        """,
        """
        create function count_added() returns trigger language plpgsql set search_path from current as $$ begin
          insert into queue_total as total
            select sink, state, count(*), sum(bytes) from added where ended_at is null or state = 'dead'
            group by sink, state order by sink, state
            on conflict (sink, state)
              do update set count = total.count + excluded.count, bytes = total.bytes + excluded.bytes;
          return null;
        end $$
        """,
        """
        create function count_changed() returns trigger language plpgsql set search_path from current as $$ begin
          insert into queue_total as total
            select sink, state, sum(n), sum(n * bytes) from (
              select sink, state, bytes, 1 as n from added where ended_at is null or state = 'dead'
              union all
              select sink, state, bytes, -1 from removed where ended_at is null or state = 'dead'
            ) as change group by sink, state having sum(n) <> 0 or sum(n * bytes) <> 0 order by sink, state
            on conflict (sink, state)
              do update set count = total.count + excluded.count, bytes = total.bytes + excluded.bytes;
          return null;
        end $$
        """,
        """
        create function count_removed() returns trigger language plpgsql set search_path from current as $$ begin
          insert into queue_total as total
            select sink, state, -count(*), -sum(bytes) from removed where ended_at is null or state = 'dead'
            group by sink, state order by sink, state
            on conflict (sink, state)
              do update set count = total.count + excluded.count, bytes = total.bytes + excluded.bytes;
          return null;
        end $$
        """,
        """
        create trigger delivery_added after insert on delivery
          referencing new table as added for each statement execute function count_added()
        """,
        """
        create trigger delivery_changed after update on delivery
          referencing new table as added old table as removed for each statement execute function count_changed()
        """,
        """
        create trigger delivery_removed after delete on delivery
          referencing old table as removed for each statement execute function count_removed()
        """,
    ]

    /// Upgrades the tables of any earlier version in one transaction. Several programs may do so at once: the first one
    /// does it, and the others find it done. A step may last for hours: the time of a statement is not limited.
    /// - Throws: `.newer` where a later version wrote them; `.busy` while another program upgrades them; `.missing` where
    ///   no schema of the `search_path` exists.
    static func migrate(_ connection: Connection, _ location: String, steps: [[String]] = steps) throws {
        if try check(connection, location, known: steps.count) == steps.count { return }
        guard try connection.run("select current_schema()").first?.optionalText(0) != nil else {
            throw JournalError.noSchema(location)
        }
        try connection.unlimitedTransaction {
            _ = try connection.run("select pg_advisory_xact_lock(\(lock))")
            let done = try check(connection, location, known: steps.count)
            try run(steps.dropFirst(done), connection)
        }
    }

    /// The number marks this program among the advisory locks of the database; the second is its schema.
    private static let lock = "\(0x5664_7474), quote_ident(current_schema())::regnamespace::oid::int"

    private static func run(_ steps: ArraySlice<[String]>, _ connection: Connection) throws {
        for (number, step) in zip(steps.indices, steps) {
            _ = try connection.run(
                step.map { SQLCommand($0, isPrepared: false) }
                    + [SQLCommand("update journal set version = \(number + 1)", isPrepared: false)])
        }
    }

    /// Creates the tables for a copy, or finds the tables of an interrupted copy. The connection keeps others from both.
    /// - Throws: `.readOnly` where there is a journal; `.busy` where another copy runs.
    static func beginCopy(_ connection: Connection, _ location: String) throws {
        // Null where no schema of the path exists.
        guard let isLocked = try connection.run("select pg_try_advisory_lock(\(lock))").first?.optionalText(0) else {
            throw JournalError.noSchema(location)
        }
        guard isLocked == "t" else { throw JournalError.copyRuns(location) }
        try connection.transaction {
            let done = try version(connection)
            if done == -steps.count { return }
            guard done == 0 else { throw done > 0 ? JournalError.occupied(location) : .otherCopy(location) }
            try run(steps[...], connection)
            try connection.run("update journal set version = -version")
        }
    }

    /// Makes a copy a journal.
    static func finishCopy(_ connection: Connection) throws {
        try connection.run("update journal set version = -version")
    }

    /// Accepts only tables of exactly the known version.
    static func requireCurrent(_ connection: Connection, _ location: String, known: Int = steps.count) throws {
        let version = try check(connection, location, known: known)
        guard version > 0 else { throw JournalError.missing(location) }
        guard version == known else { throw JournalError.older(location) }
    }

    /// Refuses tables that a later version upgraded while this process was connected: it would write rows that lack what
    /// the later version needs.
    static func requireKnown(_ version: Int) throws(JournalError) {
        if version > steps.count { throw JournalError.upgraded(version: version, known: steps.count) }
    }

    /// Refuses tables of a later version.
    /// - Returns: the steps done.
    private static func check(_ connection: Connection, _ location: String, known: Int = steps.count) throws -> Int {
        let version = try version(connection)
        guard version >= 0 else { throw JournalError.unfinishedCopy(location) }
        guard version <= known else { throw JournalError.newer(location, version: version, known: known) }
        if version > 0 {
            // Before its release a version has other tables from day to day.
            let columns = try connection.run(
                """
                select c.relname || '.' || a.attname from pg_attribute a join pg_class c on c.oid = a.attrelid
                where c.relnamespace = quote_ident(current_schema())::regnamespace and a.attnum > 0 and not a.attisdropped
                """
            ).map { try $0.text(0) }
            let missing = JournalTable.missingColumn(in: Set(columns), version: version)
            if let missing { throw JournalError.unreleased(location, missing) }
        }
        return version
    }

    /// Steps done; 0 for a schema without a journal.
    private static func version(_ connection: Connection) throws -> Int {
        // The name alone could be found in another schema of the path.
        let exists = """
            select exists (select 1 from pg_class
              where relname = 'journal' and relnamespace = quote_ident(current_schema())::regnamespace)
            """
        guard try connection.run(exists).first?.bool(0) == true else { return 0 }
        return try connection.run("select version from journal").first?.int(0) ?? 0
    }
}
