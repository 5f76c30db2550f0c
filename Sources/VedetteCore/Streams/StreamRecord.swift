// SPDX-License-Identifier: Apache-2.0

/// One record of a stream as received: the data of a server-sent event, or a line.
public struct StreamRecord: Sendable, Hashable {
    /// The bytes. Empty for an event that only sets the id.
    public var data: [UInt8]
    /// The name of the server-sent event; `message` when it has none, and for lines.
    public var event: String
    /// The last event id when the event was complete (WHATWG HTML §9.2.6); nil for lines and before the first id. Empty once
    /// the server has reset it.
    public var id: String?

    /// Creates a record.
    public init(_ data: [UInt8], event: String = "message", id: String? = nil) {
        (self.data, self.event, self.id) = (data, event, id)
    }
}

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

/// What a record means besides the items that were read from it.
public struct RecordNote: Sendable, Hashable {
    /// What a record does to its items.
    public enum Meaning: Sendable, Hashable {
        /// They are as it says now.
        case items
        /// They are gone.
        case deletion
        /// It has none.
        case nothing
        /// It has none, but its resume id counts.
        case bookmark
        /// It reports that the resume id is too old: the next connection starts without one.
        case expired
    }

    /// What it does to its items.
    public var meaning: Meaning
    /// The id with which reading resumes behind the record; nil when it has none.
    public var resume: String?

    /// Creates a note.
    public init(_ meaning: Meaning, resume: String? = nil) { (self.meaning, self.resume) = (meaning, resume) }
}
