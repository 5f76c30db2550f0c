// SPDX-License-Identifier: Apache-2.0

/// The failure of a journal.
public struct JournalError: Error, Sendable, Hashable {
    /// The classes of failures, by what the caller can do.
    public enum Reason: Sendable, Hashable {
        /// Another `run` watches with the journal; `pid` is nil when it is unknown, or of another machine.
        case locked(pid: Int32?)
        /// The disk or the quota is full.
        case full
        /// The file or its directory cannot be written.
        case readOnly
        /// The file is damaged, or is no journal.
        case corrupt
        /// Written by a later version.
        case newer
        /// Written by an earlier version; the next `run` upgrades it.
        case older
        /// There is no journal in that place.
        case missing
        /// This user may not read the file or its directory.
        case denied
        /// Another program held the lock of the database for too long.
        case busy
        /// The journal refuses this record itself, for example an id that exists; other records may be written.
        case refused
        /// Another watcher has changed what this commit is based on, or holds the source: evaluate it again.
        case conflict
        /// The server of the database does not answer, or refuses the connection.
        case unavailable
        /// The system refused an operation for another reason.
        case inputOutput
    }

    /// The class of the failure.
    public var reason: Reason
    /// One clear sentence with the place and the remedy.
    public var detail: String

    /// Creates an error.
    public init(_ reason: Reason, _ detail: String) { (self.reason, self.detail) = (reason, detail) }
}
