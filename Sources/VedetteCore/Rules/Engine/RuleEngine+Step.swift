// SPDX-License-Identifier: Apache-2.0

extension RuleEngine {
    /// What one call to the engine changed.
    public struct Step: Sendable {
        /// Deliveries to commit: pending, or suppressed with the reason.
        public private(set) var deliveries: [Delivery] = []
        /// Rows to write, by key; nil deletes.
        public private(set) var changes: [RuleMemory.Key: RuleMemory?] = [:]
        /// The changes of rows in their order, for `undo`.
        private(set) var writes: [Write] = []
        /// The index in `writes` of the last change of each row.
        private var lastWrite: [RuleMemory.Key: Int] = [:]
        /// Groups that are to be asked about at the end of the step.
        private var joined = Set<RowTable.Group>()
        /// What it changed besides rows, for `undo`.
        var world = RuleWorld.Changes()
        /// Log lines about matches that were discarded because their rule or source is gone or changed.
        public private(set) var discarded: [String] = []
        /// Log lines about rules that have no room for further rows, once per rule and purpose.
        public private(set) var warnings: [String] = []
        /// Rules that could not be evaluated against every event, with the reason and the number of events.
        public private(set) var failures: [(rule: String, detail: String)] = []

        /// A change of one row.
        struct Write: Sendable {
            var key: RuleMemory.Key
            /// The row before; nil for none.
            var before: RuleMemory?
            /// The versions before and after.
            var versions: (before: Int, after: Int)
        }

        /// The row ids of the silences that a state ended.
        public var endedSilences: [Int64] { world.endedSilences.map(\.id) }

        /// Appends a step that followed this one.
        public mutating func add(_ later: Step) {
            deliveries += later.deliveries
            for (key, change) in later.changes { changes[key] = .some(change) }
            for write in later.writes { record(write) }
            world.add(later.world)
            discarded += later.discarded
            failures += later.failures
            warnings += later.warnings
        }

        mutating func send(_ delivery: Delivery) { deliveries.append(delivery) }
        mutating func discard(_ sentence: String) { discarded.append(sentence) }
        mutating func warn(_ sentence: String) { warnings.append(sentence) }
        mutating func fail(_ rule: String, _ detail: String) { failures.append((rule, detail)) }

        /// Lets a group be asked about at the end of the step.
        mutating func join(_ group: RowTable.Group) { joined.insert(group) }
        func hasJoined(_ group: RowTable.Group) -> Bool { joined.contains(group) }

        /// Takes the groups that are to be asked about, in a fixed order.
        mutating func takeJoined() -> [RowTable.Group] {
            defer { joined = [] }
            return joined.sorted { ($0.rule, $0.name) < ($1.rule, $1.name) }
        }

        /// Leaves out what it changed.
        mutating func clear() { self = Step() }

        /// Takes the rows that it changed as they are now.
        mutating func update(from table: RowTable) { for key in changes.keys { changes[key] = .some(table[key]) } }

        /// Records that a row was written, or deleted.
        mutating func record(_ write: Write, _ row: RuleMemory?) {
            record(write)
            changes[write.key] = .some(row)
        }

        /// Records a change of a row. Changes that directly follow each other are one.
        private mutating func record(_ write: Write) {
            if let last = lastWrite[write.key], writes[last].versions.after == write.versions.before {
                writes[last].versions.after = write.versions.after
            } else {
                lastWrite[write.key] = writes.count
                writes.append(write)
            }
        }

        /// Whether there is nothing to commit.
        public var isEmpty: Bool { deliveries.isEmpty && changes.isEmpty && world.endedSilences.isEmpty }

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
}
