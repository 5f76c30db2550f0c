// SPDX-License-Identifier: Apache-2.0

extension RuleEngine {
    /// What one call to the engine changed.
    public struct Step: Sendable {
        /// Deliveries to commit: pending, or suppressed with the reason.
        public var deliveries: [Delivery] = []
        /// Rows to write, by key; nil deletes.
        public var changes: [RuleMemory.Key: RuleMemory?] = [:]
        /// The changes of rows in their order, for `undo`.
        var writes: [Write] = []
        /// The index in `writes` of the last change of each row.
        private var lastWrite: [RuleMemory.Key: Int] = [:]
        /// Groups that are to be asked about at the end of the step.
        var joined = Set<RowTable.Group>()
        /// Silences that a state ended.
        var ended: [Silence] = []
        /// The health of sources before the step, for `undo`.
        var healthBefore: [String: RuleWorld.Health] = [:]
        /// Sources that the step confirmed, for `undo`.
        var wereUnconfirmed = Set<String>()
        /// The items that were missing from sources before the step, for `undo`.
        var missingBefore: [String: Set<String>] = [:]
        /// Sources whose items the step counted first, for `undo`.
        var wereUncounted = Set<String>()
        /// Log lines about matches that were discarded because their rule or source is gone or changed.
        public var discarded: [String] = []
        /// Log lines about rules that have no room for further rows, once per rule and purpose.
        public var warnings: [String] = []
        /// Rules that could not be evaluated against every event, with the reason and the number of events.
        public var failures: [(rule: String, detail: String)] = []

        /// A change of one row.
        struct Write: Sendable {
            var key: RuleMemory.Key
            /// The row before; nil for none.
            var before: RuleMemory?
            /// The versions before and after.
            var versions: (before: Int, after: Int)
        }

        /// The row ids of the silences that a state ended.
        public var endedSilences: [Int64] { ended.map(\.id) }

        /// Appends a step that followed this one.
        public mutating func add(_ later: Step) {
            deliveries += later.deliveries
            for (key, change) in later.changes { changes[key] = .some(change) }
            for write in later.writes { record(write) }
            ended += later.ended
            healthBefore.merge(later.healthBefore) { first, _ in first }
            wereUnconfirmed.formUnion(later.wereUnconfirmed)
            missingBefore.merge(later.missingBefore) { first, _ in first }
            wereUncounted.formUnion(later.wereUncounted)
            discarded += later.discarded
            failures += later.failures
            warnings += later.warnings
        }

        /// Records a change of a row. Changes that directly follow each other are one.
        mutating func record(_ write: Write) {
            if let last = lastWrite[write.key], writes[last].versions.after == write.versions.before {
                writes[last].versions.after = write.versions.after
            } else {
                lastWrite[write.key] = writes.count
                writes.append(write)
            }
        }

        /// Whether there is nothing to commit.
        public var isEmpty: Bool { deliveries.isEmpty && changes.isEmpty && ended.isEmpty }

        /// The rules of which the step changed rows or made deliveries.
        public var rules: Set<String> { Set(changes.keys.map(\.rule)).union(deliveries.map(\.message.rule)) }

        /// Whether the step is based on what an earlier one, which may fail, wrote: the same row, or what a rule counts or
        /// lists over several subjects.
        public func depends(on earlier: Step) -> Bool {
            guard !changes.isEmpty, !earlier.changes.isEmpty else { return false }
            let counting = Set(earlier.changes.keys.lazy.filter { $0.slot != .match && $0.slot.isShared }.map(\.rule))
            if !counting.isEmpty, changes.keys.contains(where: { counting.contains($0.rule) }) { return true }
            let (fewer, more) = changes.count < earlier.changes.count ? (self, earlier) : (earlier, self)
            return fewer.changes.keys.contains { more.changes[$0] != nil }
        }

        /// The sources whose rows the step changed.
        public var sources: Set<String> {
            let rows = changes.values.compactMap { $0 } + writes.compactMap(\.before)
            return Set(rows.compactMap(\.subject?.source))
        }
    }

    /// Undoes a step whose commit failed; its poll will be repeated. Steps that fail together can be undone in any order: a
    /// row that a later step changed keeps that change, and if the later step fails, too, it gets the value before both.
    public mutating func undo(_ failed: Step) {
        for change in failed.writes.reversed() { table.undo(change) }
        table.endUndo()
        for (source, health) in failed.healthBefore { _ = world.set(health, of: source) }
        world.unconfirmed.formUnion(failed.wereUnconfirmed)
        for (source, missing) in failed.missingBefore { world.missing[source] = missing.isEmpty ? nil : missing }
        world.uncounted.formUnion(failed.wereUncounted)
        world.endedSilences.subtract(failed.endedSilences)
        world.silences += failed.ended.filter { ended in !world.silences.contains { $0.id == ended.id } }
        step = Step()
    }
}
