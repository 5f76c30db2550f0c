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

    /// Asks the watcher to note that somebody works on a match, or with nil that nobody does any more.
    func acknowledge(
        rule: String, _ subject: Subject, _ acknowledgement: Acknowledgement?, at now: Timestamp
    ) async throws(JournalError)

    /// Asks the watcher to poll a source now.
    func poll(source: String, at now: Timestamp) async throws(JournalError)
}

extension JournalAccess {
    /// One process alone can write the journal.
    public func watchers() async throws(JournalError) -> [RegisteredWatcher] { [] }
}
