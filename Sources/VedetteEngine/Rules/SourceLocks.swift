// SPDX-License-Identifier: Apache-2.0

/// A lock for each source, granted in the order of the calls. It belongs to one actor.
final class SourceLocks {
    /// The callers that wait, by source; a source without an entry is not locked.
    private var waiters: [String: [CheckedContinuation<Void, Never>]] = [:]

    /// Locks a source, when its lock is free.
    func lock(_ source: String) async {
        guard waiters[source] != nil else { return waiters[source] = [] }
        // Whoever unlocks hands the lock over.
        await withCheckedContinuation { waiters[source, default: []].append($0) }
    }

    /// Unlocks a source, or hands its lock over to the first caller that waits.
    func unlock(_ source: String) {
        guard waiters[source]?.isEmpty == false else { return waiters[source] = nil }
        waiters[source]?.removeFirst().resume()
    }
}
