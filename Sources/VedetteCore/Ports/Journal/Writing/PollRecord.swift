// SPDX-License-Identifier: Apache-2.0

/// The changes of one poll, or of rules when time has passed: one unit of a commit.
public struct PollRecord: Sendable {
    /// Nil when there was no poll.
    public var record: SourceRecord?
    /// True when the snapshot is replaced: every stored item of the source is deleted first.
    public var isNewBaseline: Bool
    /// No snapshot of the source was stored before: what a pruning has not deleted yet of an earlier one is none of it.
    public var isFirst = false
    public var writes: [StoredItem]
    public var deletions: [String]
    public var events: [Event]
    /// Deliveries name their event by its id.
    public var deliveries: [Delivery]
    /// That a sink stopped, or takes messages again; nil for neither.
    public var sinkChange: SinkChange?
    /// Changed rule memories; nil deletes one.
    public var memories: [RuleMemory.Key: RuleMemory?] = [:]
    /// Ids of silences that an item's state ended.
    public var endedSilences: [Int64] = []
    /// What the evaluation is based on; nil where nobody else writes the journal.
    public var basis: RuleBasis?

    public init(
        record: SourceRecord?, isNewBaseline: Bool = false, writes: [StoredItem] = [], deletions: [String] = [],
        events: [Event] = [], deliveries: [Delivery] = [], sinkChange: SinkChange? = nil
    ) {
        (self.record, self.isNewBaseline, self.writes) = (record, isNewBaseline, writes)
        (self.deletions, self.events, self.deliveries) = (deletions, events, deliveries)
        self.sinkChange = sinkChange
    }

    /// Whether rules of other watchers may find something else in the source afterwards. A first list without items has
    /// neither writes nor events.
    public var changesSource: Bool {
        isNewBaseline || !(events.isEmpty && writes.isEmpty && deletions.isEmpty) || record?.snapshot?.count == 0
    }
}
