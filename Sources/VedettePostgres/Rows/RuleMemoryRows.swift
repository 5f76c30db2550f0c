// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// The rows of `memory`: what rules remember between an event and a message.
enum RuleMemoryRows {
    static func write(_ changes: [RuleMemory.Key: RuleMemory?], _ transaction: Transaction) {
        for (key, memory) in changes {
            if let memory {
                transaction.enqueue(
                    JournalTable.memory.upsert, [key.rule, key.slot.rawValue, key.name, UTF8Text(memory.json.bytes)])
            } else {
                transaction.enqueue(
                    "delete from memory where rule = $1 and slot = $2 and name = $3",
                    [key.rule, key.slot.rawValue, key.name])
            }
        }
    }

    /// Reads all in the order of their keys, without rows that this program did not write.
    static func all(_ connection: Connection) throws -> [RuleMemory] {
        try connection.run("select \(RuleMemoryRow.columns) from memory order by rule, slot, name")
            .compactMap(RuleMemoryRow.decode)
    }
}
