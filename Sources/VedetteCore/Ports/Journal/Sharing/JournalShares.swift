// SPDX-License-Identifier: Apache-2.0

/// One watcher's part of a journal that several watchers write at once.
///
/// A watcher is registered for 15 s, which its journal renews. One that is late may lose its leases to the others: they
/// delete its registration, and none of its commits is accepted any more. It cannot know when that happens, so a late one
/// begins no send (`maySend`). Otherwise nothing has changed for it until then.
public protocol JournalShares: Sendable {
    /// The number of this watcher's registration.
    var writer: Int64 { get }

    /// The name of this watcher; see `RegisteredWatcher.name`.
    var name: String { get }

    /// The time from which its leases last for `Lease.term` at least, on the boot-time clock: when the last successful
    /// renewal, or the registration, was requested. Nil once others have taken over.
    var leasedFrom: BootTime? { get }

    /// Reads the registered watchers: this one, too, unless others have taken over from it; and those that are late, since
    /// nobody can take what they hold.
    func watchers() async throws(JournalError) -> [RegisteredWatcher]

    /// Records that this watcher has another configuration now, which is then the newest.
    func configure(_ digest: String) async throws(JournalError)

    /// Takes leases that nobody holds.
    /// - Returns: the leases among them that this watcher holds now.
    func take(_ leases: Set<Lease>) async throws(JournalError) -> Set<Lease>

    /// Gives leases back. Nothing of them may be under way.
    func release(_ leases: Set<Lease>) async throws(JournalError)

    /// Returns which of these deliveries are no longer pending: another watcher may have ended one, and pruning may have
    /// deleted it since.
    func ended(among deliveries: [Int64]) async throws(JournalError) -> Set<Int64>

    /// Reads what other watchers changed after a version, or everything that rules remember.
    /// - Parameter version: nil for everything.
    func ruleChanges(after version: Int64?) async throws(JournalError) -> RuleChanges

    /// Notes that this watcher has taken over what others changed up to a version. The journal may forget these changes
    /// once each watcher has them.
    func know(version: Int64)

    /// Yields when another watcher came, went, gave leases back or committed something, and every five seconds, since such
    /// a hint may be lost. The stream ends when its consumer is cancelled.
    func shareWakes() throws(JournalError) -> AsyncStream<Void>
}

extension JournalShares {
    /// Returns whether the watcher may begin to send: no other one can hold its sinks yet.
    public func maySend(at now: BootTime) -> Bool {
        leasedFrom.map { now.duration(since: $0) < Lease.sending } ?? false
    }
}
