// SPDX-License-Identifier: Apache-2.0

/// The version of each row: the number of its last change. Undoing a change restores the version before it. Steps that fail
/// together can be undone in any order: a row that a later step changed keeps that change, and if the later step fails,
/// too, it gets the value before both.
struct RowVersions: Sendable {
    private var current: [RuleMemory.Key: Int] = [:]
    private var last = 0
    /// Versions whose step failed after a later step had changed the row: what the later step restores if it fails, too.
    private var undone: [Int: (row: RuleMemory?, version: Int)] = [:]
    /// The versions of deleted rows that are kept at most.
    private let maximum: Int

    init(maximum: Int) { self.maximum = maximum }

    var count: Int { current.count }

    /// Counts a change of a row.
    mutating func change(
        _ key: RuleMemory.Key, before: RuleMemory?, rows: [RuleMemory.Key: RuleMemory]
    ) -> RuleEngine.Step.Write {
        last += 1
        let write = RuleEngine.Step.Write(key: key, before: before, versions: (current[key, default: 0], last))
        current[key] = last
        // The versions of deleted rows are kept for steps whose commit is in flight.
        if current.count - rows.count > maximum {
            current = current.filter { rows[$0.key] != nil || $0.value > last - maximum / 2 }
        }
        return write
    }

    /// Returns the row and the version that undoing the change restores; nil when a later step has changed the row.
    mutating func undo(_ change: RuleEngine.Step.Write) -> (row: RuleMemory?, version: Int)? {
        var before = (row: change.before, version: change.versions.before)
        while let earlier = undone.removeValue(forKey: before.version) { before = earlier }
        guard current[change.key, default: 0] == change.versions.after else {
            undone[change.versions.after] = before
            return nil
        }
        return before
    }

    mutating func restore(_ key: RuleMemory.Key, _ version: Int) { current[key] = version == 0 ? nil : version }

    /// A later step that is committed leaves its entry behind. They are few, since commits seldom fail.
    mutating func endUndo() { if undone.count > RuleMemory.maximum { undone = [:] } }
}
