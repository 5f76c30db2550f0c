// SPDX-License-Identifier: Apache-2.0

import GRDB
public import VedetteCore

/// The rows of `cookie`: the jars of servers whose `cookies` are `journal`. A jar holds credentials, so what is
/// replaced or deleted here is overwritten in the file, not only freed.
enum CookieRows {
    static func jar(_ db: Database, of session: String) throws -> [UInt8]? {
        let jar = try db.cachedStatement(sql: "select jar from cookie where session = ?")
        return try UTF8Column.fetchOne(jar, arguments: [session])?.bytes
    }

    static func keep(_ jar: [UInt8], of session: String, _ db: Database) throws {
        try overwriting(db) {
            guard !jar.isEmpty else {
                return try db.execute(sql: "delete from cookie where session = ?", arguments: [session])
            }
            try db.execute(sql: JournalTable.cookie.upsert, arguments: [session, UTF8Column(jar)])
        }
    }

    static func forget(_ db: Database, keeping kept: Set<String>) throws {
        let gone = try String.fetchAll(db, sql: "select session from cookie").filter { !kept.contains($0) }
        for session in gone { try keep([], of: session, db) }
    }

    private static func overwriting(_ db: Database, _ block: () throws -> Void) throws {
        try db.execute(sql: "pragma secure_delete = on")
        defer { try? db.execute(sql: "pragma secure_delete = off") }
        try block()
    }
}

extension SQLiteJournal: CookieStore {
    /// Nil also when it cannot be read: the server then makes a new session.
    public func cookies(of session: String) async -> [UInt8]? {
        do throws(JournalError) {
            return try await store.read { try CookieRows.jar($0, of: session) }
        } catch {
            return nil
        }
    }

    /// A jar that cannot be written is lost at the end of this run; nothing else is.
    public func keep(_ jar: [UInt8], of session: String) async {
        _ = try? await store.write { try CookieRows.keep(jar, of: session, $0) }
    }

    public func forgetCookies(keeping sessions: Set<String>) async throws(JournalError) {
        try await store.write { try CookieRows.forget($0, keeping: sessions) }
        // The log still has the jars that were deleted or replaced.
        await store.checkpoint()
    }
}
