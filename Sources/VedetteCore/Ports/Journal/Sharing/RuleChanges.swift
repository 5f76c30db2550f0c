// SPDX-License-Identifier: Apache-2.0

/// What the rules of other watchers changed.
public struct RuleChanges: Sendable {
    /// The number of the last change that these include.
    public var version: Int64
    /// The rows of rules; nil for a deleted one.
    public var memories: [RuleMemory.Key: RuleMemory?]
    /// The records of sources that had events or other items.
    public var records: [SourceRecord]
    /// All silences as they are now.
    public var silences: [Silence]

    /// Creates a value.
    public init(
        version: Int64, memories: [RuleMemory.Key: RuleMemory?], records: [SourceRecord], silences: [Silence]
    ) {
        (self.version, self.memories, self.records, self.silences) = (version, memories, records, silences)
    }
}
