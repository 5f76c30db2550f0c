// SPDX-License-Identifier: Apache-2.0

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
