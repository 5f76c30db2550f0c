// SPDX-License-Identifier: Apache-2.0

/// What a good poll makes of a snapshot.
public struct Difference: Sendable {
    public var head: SnapshotHead
    /// Oldest first.
    public var events: [DraftEvent] = []
    /// Only rows that changed.
    public var writes: [StoredItem] = []
    /// Rows of which only measures are others: they are no reason to write at once.
    public var refreshes: [StoredItem] = []
    public var deletions: [String] = []
    /// Keys of rows that time alone brought into a list. They make no event.
    public var entered: Set<String> = []
    /// Keys of rows that differ because they are read with other options or by another version. They make no event.
    public var reread: Set<String> = []
    /// Entries of a window's first page that were never seen and lie before its old end. They make no event.
    public var unannounced: [Item] = []
    /// How many values were found that several items share, so that they are no keys.
    public var newlyShared = 0
    /// Replaces the whole snapshot: what was stored is dropped.
    public var isNewBaseline = false
    /// A list that turned empty or became something else: the snapshot is held and nothing else of this difference counts.
    public var isSuspect = false

    /// No item, no event: at most measures, the validators and the head's times are others.
    public var changesNothing: Bool { events.isEmpty && writes.isEmpty && deletions.isEmpty && !isNewBaseline }
}
