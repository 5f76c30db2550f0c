// SPDX-License-Identifier: Apache-2.0

/// A position in the order of time: events that must stay are skipped once, not once per batch.
public struct PruningPosition: Sendable, Hashable {
    public var time: Int64
    public var seq: Int64

    /// Creates one; without arguments, that before all events.
    public init(time: Int64 = .min, seq: Int64 = .min) { (self.time, self.seq) = (time, seq) }
}

/// The steps of pruning, each one transaction of few rows, so that a commit waits for one of them at most.
public protocol PruningSteps: Sendable {
    /// How the store names a source.
    associatedtype Source: Sendable

    /// Reads the end of the oldest delivery beyond `Retention.endedDeliveries`; nil when there are no more than that.
    func endBeyond(_ retention: Retention) async throws(JournalError) -> Timestamp?

    /// Deletes a batch of deliveries that ended before a time, the oldest first.
    /// - Parameter start: the end of the batch before: a store may still hold what was deleted, and would skip it each time.
    /// - Returns: the end of the last one that was deleted; nil when there are no more.
    func deleteDeliveries(
        endedBefore time: Timestamp, from start: Timestamp
    ) async throws(JournalError) -> Timestamp?

    /// Deletes, of a batch of events older than a time, those that no delivery names. A delivery that ended lately keeps its
    /// event, so that `explain` and `outbox retry` still find it.
    /// - Returns: the position after the batch; nil at the end.
    func deleteEvents(
        before time: Timestamp, from position: PruningPosition
    ) async throws(JournalError) -> PruningPosition?

    /// Forgets the stops of sinks that are not configured, and deletes reports of how late polls start, where they are old.
    func deleteOutdated(_ retention: Retention) async throws(JournalError)

    /// Finds the sources that are not configured and were last polled long ago.
    func abandonedSources(_ retention: Retention) async throws(JournalError) -> [Source]

    /// Takes an abandoned source out of use before its items go, which needs several transactions: a source that comes back
    /// meanwhile, or after a crash, begins again and not with a part of its items.
    /// - Returns: false when it was polled since it was found.
    func retire(_ source: Source, _ retention: Retention) async throws(JournalError) -> Bool

    /// Deletes a batch of a source's items, and with the last of them the source.
    /// - Returns: whether the source is gone, or in use again.
    func delete(_ source: Source) async throws(JournalError) -> Bool
}

extension PruningSteps {
    /// Deletes what is kept no longer. Returns early when its task is cancelled.
    public func prune(_ retention: Retention) async throws(JournalError) {
        let beyond = try await endBeyond(retention) ?? retention.eventsBefore
        let ended = max(retention.eventsBefore, beyond)
        var start: Timestamp? = Timestamp(milliseconds: .min)
        while let from = start, !Task.isCancelled {
            start = try await deleteDeliveries(endedBefore: ended, from: from)
        }
        var position: PruningPosition? = PruningPosition()
        while let from = position, !Task.isCancelled {
            position = try await deleteEvents(before: retention.eventsBefore, from: from)
        }
        if !Task.isCancelled { try await deleteOutdated(retention) }
        for source in try await abandonedSources(retention) where !Task.isCancelled {
            guard try await retire(source, retention) else { continue }
            while !Task.isCancelled { if try await delete(source) { break } }
        }
    }
}
