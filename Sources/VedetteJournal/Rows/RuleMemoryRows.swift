// SPDX-License-Identifier: Apache-2.0

import GRDB
import VedetteCore

/// The rows of `memory`: what rules remember between an event and a message.
enum RuleMemoryRows {
    static func write(_ changes: [RuleMemory.Key: RuleMemory?], _ db: Database) throws {
        guard !changes.isEmpty else { return }
        let upsert = try db.cachedStatement(sql: JournalTable.memory.upsert)
        let delete = try db.cachedStatement(sql: "delete from memory where rule = ? and slot = ? and name = ?")
        for (key, memory) in changes {
            if let memory {
                try upsert.execute(arguments: [key.rule, key.slot.rawValue, key.name, UTF8Column(memory.json.bytes)])
            } else {
                try delete.execute(arguments: [key.rule, key.slot.rawValue, key.name])
            }
        }
    }

    /// Reads all in the order of their keys, without rows that this program did not write.
    static func all(_ db: Database) throws -> [RuleMemory] {
        let select = "select \(RuleMemoryRow.columns) from memory order by rule, slot, name"
        return try Row.fetchCursor(db.cachedStatement(sql: select)).decode(RuleMemoryRow.decode)
    }
}
