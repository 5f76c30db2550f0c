// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// The rows of `cookie`: the jars of servers whose `cookies` are `journal`.
enum CookieRows {
    static func jar(_ connection: Connection, of session: String) throws -> [UInt8]? {
        try connection.run("select jar from cookie where session = $1", [session]).first?.bytes(0)
    }

    static func keep(_ jar: [UInt8], of session: String, _ transaction: Transaction) {
        guard !jar.isEmpty else { return transaction.enqueue("delete from cookie where session = $1", [session]) }
        transaction.enqueue(JournalTable.cookie.upsert, [session, UTF8Text(jar)])
    }

    static func forget(_ transaction: Transaction, keeping kept: Set<String>) throws {
        let gone = try transaction.run("select session from cookie").map { try $0.text(0) }
        for session in gone where !kept.contains(session) { keep([], of: session, transaction) }
    }
}
