// SPDX-License-Identifier: Apache-2.0

/// What the program does with the journal beside the engine: control requests, pruning and the end. One process at a
/// time holds it.
public protocol JournalMaintenance: Sendable {
    /// Reads the control requests that wait, in order.
    func controlRequests() async throws(JournalError) -> [QueuedRequest]

    /// Deletes a control request that was carried out.
    func finish(_ request: QueuedRequest) async throws(JournalError)

    /// Yields when a control request may wait; see `JournalAccess.changes()`.
    func controlWakes() throws(JournalError) -> AsyncStream<Void>

    /// Stores how late the polls of a watcher start, in the place of its last report.
    /// - Parameter watcher: its name; empty where it has the journal for itself.
    func store(_ lateness: PollLateness.Report, of watcher: String) async throws(JournalError)

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
