// SPDX-License-Identifier: Apache-2.0

/// A journal as commands reach it, beside a watcher or without one. A change is one transaction together with the
/// `ControlRequest` that tells the watcher; it is durable whether a watcher runs or not.
public protocol JournalAccess: Sendable {
    /// Names the place of the journal for a person.
    var location: String { get }

    /// The process that watches with this journal now; nil when none does.
    func watcher() async -> WatcherProcess?

    /// Reads the watchers that are registered with a journal that several of them share; empty for any other journal.
    func watchers() async throws(JournalError) -> [RegisteredWatcher]

    /// Opens the journal for reading.
    /// - Throws: `.missing` when no watcher ever ran with it; `.older`, `.newer` or `.corrupt`.
    func reader() async throws(JournalError) -> any JournalReader

    /// Yields when the journal may have changed: a commit, a change by a command, the start or the end of a watcher. A
    /// wake-up is a hint: it may come for nothing, and several may come as one. The stream ends when its consumer is
    /// cancelled.
    func changes() throws(JournalError) -> AsyncStream<Void>

    /// Adds a silence and deletes those that are over when it is created.
    /// - Returns: its id.
    func add(_ silence: Silence) async throws(JournalError) -> Int64

    /// Ends silences by their ids.
    /// - Returns: how many of them existed.
    func endSilences(_ ids: [Int64], at now: Timestamp) async throws(JournalError) -> Int

    /// Makes dead, paused and retrying deliveries pending again, with a fresh age and no attempts. A large selection is
    /// changed in several transactions, so that the watcher can commit between them.
    /// - Returns: how many changed.
    func retry(_ selection: DeliverySelection, at now: Timestamp) async throws(JournalError) -> Int

    /// Ends pending deliveries as dead. A large selection is changed in several transactions.
    /// - Returns: how many changed.
    func drop(_ selection: DeliverySelection, at now: Timestamp) async throws(JournalError) -> Int

    /// Deletes dead deliveries. A large selection is deleted in several transactions.
    /// - Returns: how many were deleted.
    func clear(_ selection: DeliverySelection, at now: Timestamp) async throws(JournalError) -> Int

    /// Writes what can be read of a damaged journal to a new one, which takes its place; the damaged one is kept beside it.
    /// - Returns: nil when the journal is sound; then nothing is changed.
    /// - Throws: `.locked` while a watcher runs; `.newer`, and `.corrupt` where nothing can be read or the file is another
    ///   program's; `.refused` where the store repairs itself.
    func repair(at now: Timestamp) async throws(JournalError) -> RepairReport?

    /// Asks the watcher to believe the suspect observation of a source.
    func accept(source: String, at now: Timestamp) async throws(JournalError)

    /// Asks the watcher to poll a source now.
    func poll(source: String, at now: Timestamp) async throws(JournalError)
}

extension JournalAccess {
    /// One process alone can write the journal.
    public func watchers() async throws(JournalError) -> [RegisteredWatcher] { [] }
}

/// The deliveries that a command changes, as far as their state allows it.
public enum DeliverySelection: Sendable, Hashable {
    case ids([Int64])
    /// All that a filter accepts.
    case all(DeliveryFilter)

    /// The sink whose deliveries these are without exception: a retry resumes it even when it has none. Nil for a part of them.
    public var wholeSink: String? {
        guard case .all(let filter) = self, filter.rule == nil, filter.event == nil, filter.before == nil else {
            return nil
        }
        return filter.sink
    }
}

/// What a repair saved of a journal.
public struct RepairReport: Sendable, Hashable {
    /// The rows of one table.
    public struct Table: Sendable, Hashable {
        public var name: String
        public var saved: Int
        /// Rows that an index or another table names and that could not be read; nil when their number is unknown.
        public var lost: Int?

        public init(name: String, saved: Int, lost: Int?) { (self.name, self.saved, self.lost) = (name, saved, lost) }
    }

    public var tables: [Table]
    /// Sources whose items or record could not be read whole: their next poll is a new baseline.
    public var forgottenSources: [String]
    /// Where the damaged journal is kept.
    public var kept: String

    public init(tables: [Table], forgottenSources: [String], kept: String) {
        (self.tables, self.forgottenSources, self.kept) = (tables, forgottenSources, kept)
    }
}

/// A request of a command to the watcher. Each is idempotent: the watcher deletes it only when it is carried out, so a
/// crash in between carries it out again.
public enum ControlRequest: Sendable, Hashable {
    /// Believe the suspect observation of a source at a poll now.
    case accept(source: String)
    /// Poll a source now, unless its server wants no request yet (Retry-After).
    case poll(source: String)
    /// Read the silences again.
    case reloadSilences
    /// Deliver to a sink again that is paused, including deliveries that were revived.
    case retry(sink: String)
    /// Read the pending deliveries of a sink again, since some were dropped.
    case reloadQueue(sink: String)
    /// Written by another version of this program.
    case unknown(verb: String)
}

/// A control request in the journal.
public struct QueuedRequest: Sendable, Hashable {
    public var id: Int64
    public var request: ControlRequest

    public init(id: Int64, request: ControlRequest) { (self.id, self.request) = (id, request) }
}

/// What the program does with the journal beside the engine: control requests, pruning and the end. One process at a
/// time holds it.
public protocol JournalMaintenance: Sendable {
    /// Reads the control requests that wait, in order.
    func controlRequests() async throws(JournalError) -> [QueuedRequest]

    /// Deletes a control request that was carried out.
    func finish(_ request: QueuedRequest) async throws(JournalError)

    /// Yields when a control request may wait; see `JournalAccess.changes()`.
    func controlWakes() throws(JournalError) -> AsyncStream<Void>

    /// Deletes what is kept no longer, in steps of few rows. It returns early when its task is cancelled.
    func prune(_ retention: Retention) async throws(JournalError)

    /// Checks a journal that was too large to be checked when it was opened, beside everything else; returns at once for
    /// any other. Returns early when its task is cancelled.
    /// - Throws: `.corrupt`.
    func checkInBackground() async throws(JournalError)

    /// The bytes in use.
    func size() async throws(JournalError) -> Int64

    /// Deletes the cookies of other sessions than these, so that no copy stays on the disk.
    func forgetCookies(keeping sessions: Set<String>) async throws(JournalError)

    /// Closes the journal and releases its lock. No other call may follow.
    func close() async throws(JournalError)
}
