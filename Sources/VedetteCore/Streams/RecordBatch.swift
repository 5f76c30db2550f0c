// SPDX-License-Identifier: Apache-2.0

/// What a stream received since it was asked last.
public struct RecordBatch: Sendable {
    /// The records, in order. None when only bytes that keep the connection alive came, or none at all.
    public var records: [StreamRecord]
    /// Whether it is empty since `interrupt` was called.
    public var isInterrupted: Bool

    /// Creates a batch.
    public init(_ records: [StreamRecord] = [], isInterrupted: Bool = false) {
        (self.records, self.isInterrupted) = (records, isInterrupted)
    }
}
