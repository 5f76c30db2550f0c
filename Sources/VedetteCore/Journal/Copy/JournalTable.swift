// SPDX-License-Identifier: Apache-2.0

/// A table of a journal as it is copied: the columns that both stores have. What a store derives from them is not among
/// them, and neither is what belongs to a process, such as a lease.
public struct JournalTable: Sendable, Hashable {
    /// A column of a table.
    public struct Column: Sendable, Hashable {
        /// What its values are.
        public enum Kind: Sendable, Hashable {
            case integer, text
            /// 0 or 1.
            case flag
        }

        public var name: String
        public var kind: Kind
    }

    public var name: String
    /// The primary key comes first.
    public var columns: [Column]
    /// How many columns the primary key has.
    public var keyCount: Int

    /// The names of the columns, as a statement lists them.
    public var names: String { columns.map(\.name).joined(separator: ", ") }

    /// The statement of both stores that adds a row, or changes the one with its key. Its values are in the order of the columns.
    public let upsert: String

    /// The columns of the primary key.
    public var key: ArraySlice<Column> { columns.prefix(keyCount) }

    /// - Parameter columns: names, and after `:` the kind where that is not text.
    private init(_ name: String, key keyCount: Int, _ columns: String...) {
        (self.name, self.keyCount) = (name, keyCount)
        self.columns = columns.map { column in
            let parts = column.split(separator: ":")
            let kind: Column.Kind =
                switch parts.dropFirst().first {
                case "integer": .integer
                case "flag": .flag
                default: .text
                }
            return Column(name: String(parts[0]), kind: kind)
        }
        let names = self.columns.map(\.name)
        let key = names.prefix(keyCount).joined(separator: ", ")
        let values = names.indices.map { "$\($0 + 1)" }.joined(separator: ", ")
        let changes = names.dropFirst(keyCount).map { "\($0) = excluded.\($0)" }.joined(separator: ", ")
        upsert = """
            insert into \(name) (\(names.joined(separator: ", "))) values (\(values))
            on conflict (\(key)) do update set \(changes)
            """
    }

    public static let source = JournalTable("source", key: 1, "name", "record")

    /// `source` is the name of the source.
    public static let item = JournalTable(
        "item", key: 2, "source", "key", "digest:integer", "shown:integer", "absent_since:integer",
        "state_since:integer", "body")

    public static let event = JournalTable(
        "event", key: 1, "seq:integer", "id", "source", "type", "key", "time:integer", "body")

    public static let delivery = JournalTable(
        "delivery", key: 1, "id:integer", "message", "source", "sink", "rule", "event:integer", "event_body",
        "own_event_id",
        "title", "text", "priority", "state", "created:integer", "due:integer", "attempts:integer", "reason",
        "ended_at:integer",
        "tags", "suppressed:integer", "chain", "bytes:integer", "field", "subject", "receiver_id")

    public static let attempt = JournalTable(
        "attempt", key: 2, "delivery:integer", "slot:integer", "number:integer", "at:integer", "due:integer", "state",
        "reason")

    public static let request = JournalTable(
        "request", key: 1, "id:integer", "verb", "argument", "created:integer")

    public static let cookie = JournalTable("cookie", key: 1, "session", "jar")

    public static let memory = JournalTable("memory", key: 3, "rule", "slot", "name", "body")

    public static let silence = JournalTable(
        "silence", key: 1, "id:integer", "rule", "source", "item", "until:integer", "until_state", "created:integer",
        "sink", "drops:flag", "begins:integer", "fields")

    public static let stoppedSink = JournalTable(
        "stopped_sink", key: 1, "sink", "kind", "reason", "since:integer", "fingerprint:integer")

    public static let pollLateness = JournalTable(
        "poll_lateness", key: 1, "watcher", "p99:integer", "polls:integer", "at:integer")

    /// In an order in which no row names one that comes later.
    public static let all = [
        source, item, event, delivery, attempt, request, cookie, memory, silence, stoppedSink, pollLateness,
    ]

    /// Returns the first column that a journal lacks, as `table.column`; nil when it has all.
    /// - Parameters:
    ///   - found: the columns that it has, written like that.
    ///   - version: its schema; the columns of later ones are not asked for.
    public static func missingColumn(in found: Set<String>, version: Int) -> String? {
        var later: Set<String> = version < 3 ? ["delivery.receiver_id"] : []
        if version < 2 { later.formUnion(["silence.begins", "silence.fields"]) }
        return all.lazy.flatMap { table in table.columns.map { "\(table.name).\($0.name)" } }
            .first { !found.contains($0) && !later.contains($0) }
    }
}

/// The values of a row, in the order of `JournalTable.columns`.
public typealias JournalRow = [JournalValue]
