// SPDX-License-Identifier: Apache-2.0

import GRDB
import VedetteCore

/// The tables, as steps from an empty file to this version. A released step is never edited: a change is a new step at
/// the end. `PRAGMA user_version` counts the steps done.
enum Migrations {
    /// `Vdtt`: marks a database as ours.
    static let applicationID: Int32 = 0x5664_7474

    static let steps: [String] = [version1, version2, version3, version4]

    private static let version1 = """
        -- name is null for one that is given up, while its items are deleted in batches; another may have its name by then.
        create table source (
          id integer primary key,
          name text unique,
          due integer,
          polled_at integer,
          good_at integer,
          count integer not null,
          failing integer not null,
          record text not null
        ) strict;

        -- With row ids. Without them whole rows would be the keys of the tree: four long ones fit into a page, so the tree
        -- would be seven levels deep, and one new item would write eight pages
        -- (https://www.sqlite.org/withoutrowid.html, section 3). shown is a digest of the fields that are only shown.
        create table item (
          source integer not null references source (id) on delete cascade,
          key text not null,
          digest integer not null,
          shown integer not null,
          absent_since integer,
          state_since integer not null,
          body text not null,
          primary key (source, key)
        ) strict;

        -- autoincrement: a seq is never given twice, even when every event was pruned.
        create table event (
          seq integer primary key autoincrement,
          id text not null unique,
          source text not null,
          type text not null,
          key text,
          time integer not null,
          body text not null
        ) strict;
        create index event_source on event (source, seq);
        create index event_item on event (source, key, seq) where key is not null;
        create index event_time on event (time);

        -- event_body holds an event that was never journalled, and own_event_id its id; else both are null and event tells
        -- which. chain has the remaining fallback sinks of a message that was passed on, one a line, and is null for any other;
        -- field is the field that the rule of the message is about, and subject the item or source, or empty for several; bytes is
        -- what the delivery counts against the bound of its sink's queue.
        create table delivery (
          id integer primary key autoincrement,
          message text not null unique,
          source text not null,
          sink text not null,
          rule text not null,
          event integer references event (seq),
          event_body text,
          own_event_id text,
          title text not null,
          text text not null,
          priority text not null,
          state text not null,
          created integer not null,
          due integer not null,
          attempts integer not null,
          reason text,
          ended_at integer,
          tags text not null,
          suppressed integer not null,
          chain text,
          bytes integer not null,
          field text,
          subject text not null
        ) strict;
        create index delivery_lane on delivery (source, sink, priority, id) where ended_at is null;
        create index delivery_subject on delivery (sink, rule, subject, id) where ended_at is null;
        create index delivery_queue on delivery (sink, id, created, bytes) where ended_at is null;
        create index delivery_dead on delivery (sink, id) where state = 'dead';
        -- For the last and the number of the messages that each sink sent.
        create index delivery_sent on delivery (sink, ended_at) where state = 'sent';
        create index delivery_ended on delivery (ended_at) where ended_at is not null;
        create index delivery_event on delivery (event);
        create index delivery_rule on delivery (rule, event);
        create index delivery_own_event on delivery (own_event_id, id) where own_event_id is not null;

        -- Failed attempts, the newest of each delivery: slot is the number modulo how many are kept.
        create table attempt (
          delivery integer not null references delivery (id) on delete cascade,
          slot integer not null,
          number integer not null,
          at integer not null,
          due integer not null,
          state text not null,
          reason text,
          primary key (delivery, slot)
        ) without rowid, strict;

        create table request (
          id integer primary key autoincrement,
          verb text not null,
          argument text not null,
          created integer not null
        ) strict;

        create table cookie (
          session text primary key,
          jar text not null
        ) without rowid, strict;

        create table memory (
          rule text not null,
          slot text not null,
          name text not null,
          body text not null,
          primary key (rule, slot, name)
        ) without rowid, strict;

        -- sink is the only sink of a silence, and null for all; drops tells whether what it held is not told at its end.
        create table silence (
          id integer primary key autoincrement,
          rule text,
          source text,
          item text,
          until integer,
          until_state text,
          created integer not null,
          sink text,
          drops integer not null
        ) strict;

        -- Sinks that take no messages until a person acts, or that fail and have fallbacks. kind is paused, disabled or
        -- failing; fingerprint is a digest of the options that the sink had.
        create table stopped_sink (
          sink text primary key,
          kind text not null,
          reason text not null,
          since integer not null,
          fingerprint integer not null
        ) without rowid, strict;

        -- How late polls started lately: the 99th percentile in milliseconds, of how many polls, and when it was reported.
        -- watcher is empty where the journal is one watcher's.
        create table poll_lateness (
          watcher text primary key,
          p99 integer not null,
          polls integer not null,
          at integer not null
        ) without rowid, strict;

        -- Pending and dead deliveries by sink and state, kept by triggers, whichever process changes a row: to count millions
        -- of rows takes seconds.
        create table queue_total (
          sink text not null,
          state text not null,
          count integer not null,
          bytes integer not null,
          primary key (sink, state)
        ) without rowid, strict;
        create trigger delivery_inserted after insert on delivery
          when new.ended_at is null or new.state = 'dead' begin
            insert into queue_total values (new.sink, new.state, 1, new.bytes) on conflict (sink, state)
              do update set count = count + 1, bytes = bytes + excluded.bytes;
          end;
        create trigger delivery_left after update of state on delivery
          when old.state <> new.state and (old.ended_at is null or old.state = 'dead') begin
            update queue_total set count = count - 1, bytes = bytes - old.bytes
              where sink = old.sink and state = old.state;
          end;
        create trigger delivery_joined after update of state on delivery
          when old.state <> new.state and (new.ended_at is null or new.state = 'dead') begin
            insert into queue_total values (new.sink, new.state, 1, new.bytes) on conflict (sink, state)
              do update set count = count + 1, bytes = bytes + excluded.bytes;
          end;
        create trigger delivery_deleted after delete on delivery
          when old.ended_at is null or old.state = 'dead' begin
            update queue_total set count = count - 1, bytes = bytes - old.bytes
              where sink = old.sink and state = old.state;
          end;
        """

    /// begins is when a silence begins, and null for at once; fields has patterns of an item's values, one a line.
    private static let version2 = """
        alter table silence add column begins integer;
        alter table silence add column fields text;
        """

    /// receiver_id is how the receiver of a sent message calls it, where a later message can take its place, and null for any other.
    private static let version3 = """
        alter table delivery add column receiver_id text;
        create index delivery_receiver on delivery (sink, rule, id) where receiver_id is not null;
        """

    /// For what a sink was told of a subject, ended or not.
    private static let version4 = "create index delivery_told on delivery (sink, rule, subject, id)"

    /// Upgrades a database of any earlier version in one transaction: a crash leaves it as it was, and a reader finds a new file
    /// without tables or whole, never a part of it.
    static func migrate(_ db: Database, steps: [String] = steps) throws {
        let done = try version(db)
        guard done < steps.count else { return }
        try db.inTransaction(.immediate) {
            for step in steps.dropFirst(done) { try db.execute(sql: step) }
            try db.execute(sql: "pragma application_id = \(applicationID); pragma user_version = \(steps.count)")
            return .commit
        }
    }

    /// Steps done; 0 for an empty file.
    static func version(_ db: Database) throws -> Int {
        try Int.fetchOne(db, sql: "pragma user_version") ?? 0
    }

    /// Accepts only a database of exactly the known version.
    static func requireCurrent(_ db: Database, _ files: JournalFiles, known: Int = steps.count) throws {
        let version = try check(db, files, known: known)
        guard version > 0 else { throw JournalError.missing(files) }
        guard version == known else { throw JournalError.older(files) }
    }

    /// Refuses another program's database, and one of a later version.
    /// - Returns: the steps done.
    static func check(_ db: Database, _ files: JournalFiles, known: Int = steps.count) throws -> Int {
        let version = try version(db)
        let tables = try Int.fetchOne(db, sql: "select count(*) from sqlite_schema where name not like 'grdb%'") ?? 0
        guard tables > 0 || version > 0 else { return 0 }
        guard try Int32.fetchOne(db, sql: "pragma application_id") == applicationID else {
            throw JournalError.foreign(files)
        }
        guard version <= known else {
            throw JournalError(
                .newer,
                "the journal \(files.database) was written by a later Vedette (schema \(version), known: \(known)): "
                    + "use that version, or another --state")
        }
        if version > 0 {
            // Before its release a version has other tables from day to day.
            let columns = "select m.name || '.' || c.name from sqlite_schema m join pragma_table_info(m.name) c"
            let missing = JournalTable.missingColumn(in: try String.fetchSet(db, sql: columns), version: version)
            if let missing { throw JournalError.unreleased(files, missing) }
        }
        return version
    }
}
