// SPDX-License-Identifier: Apache-2.0

import GRDB
public import VedetteCore

/// What other commands change in a journal that a watcher may hold: one transaction, and a word to the watcher, which
/// takes it up within a second. What is written stands whether a watcher runs or not. Each call blocks for at most the
/// wait for another program's lock.
public struct JournalEdit: Sendable {
    private let directory: String
    private let now: Timestamp

    /// - Parameter now: when the person said it.
    public init(directory: String, at now: Timestamp) { (self.directory, self.now) = (directory, now) }

    /// - Returns: its number.
    public func silence(_ silence: Silence) throws(JournalError) -> Int64 {
        try edit(saying: ["silences"]) { db in
            try SilenceRows.endOver(before: now, db)
            return try SilenceRows.add(silence, db)
        }
    }

    /// - Returns: how many there were.
    public func endSilences(_ ids: [Int64]) throws(JournalError) -> Int {
        try edit(saying: ["silences"]) { try SilenceRows.end(ids, $0) }
    }

    /// Dead, paused and waiting deliveries are owed anew, from now.
    /// - Returns: how many.
    public func retry(_ deliveries: [Int64], sinks: Set<String>) throws(JournalError) -> Int {
        try edit(saying: sinks.sorted().map { "retry " + $0 }) { db in
            let revive = try db.cachedStatement(
                sql: """
                    update delivery set state = 'pending', attempts = 0, due = ?1, created = ?1, reason = null,
                      ended_at = null
                    where id = ?2 and state in ('dead', 'paused', 'retry')
                    """)
            return try JournalEdit.each(deliveries, db) { try revive.execute(arguments: [now.milliseconds, $0]) }
        }
    }

    /// Owed deliveries die by a person's hand.
    /// - Returns: how many.
    public func drop(_ deliveries: [Int64], sinks: Set<String>) throws(JournalError) -> Int {
        try edit(saying: sinks.sorted().map { "reread " + $0 }) { db in
            let end = try db.cachedStatement(
                sql: """
                    update delivery set state = 'dead', reason = 'dropped by hand', ended_at = ?
                    where id = ? and ended_at is null
                    """)
            return try JournalEdit.each(deliveries, db) { try end.execute(arguments: [now.milliseconds, $0]) }
        }
    }

    private static func each(_ ids: [Int64], _ db: Database, _ change: (Int64) throws -> Void) throws -> Int {
        var count = 0
        for id in ids {
            try change(id)
            count += db.changesCount
        }
        return count
    }

    /// - Parameter words: `verb argument`, for the watcher.
    private func edit<Answer>(saying words: [String], _ change: (Database) throws -> Answer) throws(JournalError)
        -> Answer
    {
        let files = JournalFiles(directory: directory)
        guard files.identity != nil else { throw JournalError.missing(files) }
        let answer = try JournalStore.result(files) {
            let queue = try DatabaseQueue(
                path: files.database, configuration: JournalStore.configuration(readonly: false))
            var answer: Answer?
            try queue.writeWithoutTransaction { db in
                guard try Migrations.check(db, files) == Migrations.steps.count else {
                    throw JournalError.missing(files)
                }
                try db.execute(sql: "pragma synchronous = full")
                try JournalStore.transaction(db) { db in
                    answer = try change(db)
                    for word in words {
                        let parts = word.split(separator: " ", maxSplits: 1).map(String.init)
                        try ControlQueue.write(
                            JournalRequest(verb: parts[0], argument: parts.count > 1 ? parts[1] : "", created: now), db)
                    }
                }
            }
            try queue.close()
            return answer
        }.get()
        files.ring()
        guard let answer else { throw JournalError.missing(files) }
        return answer
    }
}
