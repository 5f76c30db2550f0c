// SPDX-License-Identifier: Apache-2.0

/// Changes of a poll that may be written late: due times, validators and measures.
public struct DeferredWrite: Sendable {
    public var record: SourceRecord
    /// See `Difference.refreshes`.
    public var items: [StoredItem]

    public init(_ record: SourceRecord, items: [StoredItem] = []) { (self.record, self.items) = (record, items) }
}
