// SPDX-License-Identifier: Apache-2.0

/// The rows of one rule that are announced in one message: what a gate withheld, or what a message announced and
/// reminders repeat.
struct RowGroup: Hashable, Sendable {
    var rule: String
    var slot: RuleMemory.Slot
    /// `limited`: the value that the limit counts under; `silenced`: the only sink, or empty; `grouped`: the server;
    /// `active`: the message.
    var name: String

    init(rule: String, slot: RuleMemory.Slot, name: String = "") {
        (self.rule, self.slot, self.name) = (rule, slot, name)
    }

    init(_ memory: RuleMemory) { (rule, slot, name) = (memory.key.rule, memory.key.slot, memory.group) }
}
