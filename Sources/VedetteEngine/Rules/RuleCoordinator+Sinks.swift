// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// What becomes of sinks that stop or resume.
extension RuleCoordinator {
    /// A change of a sink that is being stored, or that the journal refused.
    struct UnstoredChange {
        let change: SinkChange
        let number: Int
        var isRefused = false
    }

    /// Commits that a sink stopped or resumed. What the journal refuses is stored later, since a change is reported once.
    func sinkChanged(_ change: SinkChange) async {
        lastSinkChange += 1
        await store(UnstoredChange(change: change, number: lastSinkChange))
    }

    func store(_ change: UnstoredChange) async {
        let sink = change.change.sink
        sinkChanges[sink] = change
        let error =
            switch change.change {
            case .stopped(let stop) where stop.kind != .failing: await sinkStopped(stop)
            // No event tells it.
            case .stopped, .resumed: await storeAlone(change.change)
            }
        // A later change of the sink counts, whatever became of this one.
        guard sinkChanges[sink]?.number == change.number else { return }
        guard let error else { return sinkChanges[sink] = nil }
        dependencies.log.log(.error, "failed to store that the sink '\(sink)' \(change.change.verb): \(error.detail)")
        sinkChanges[sink]?.isRefused = true
        retryLater()
    }

    func storeAlone(_ change: SinkChange) async -> JournalError? {
        do throws(JournalError) {
            _ = try await commits.submit(PollRecord(record: nil, sinkChange: change)).committed()
            return nil
        } catch {
            return error
        }
    }

    /// Commits the event that a sink waits for a person, and what rules send about it.
    func sinkStopped(_ stop: StoppedSink) async -> JournalError? {
        let now = dependencies.clock.now().wall
        let event = stop.event(id: dependencies.random.identifier(at: now), at: now)
        return await commitOnce(event, .stopped(stop), stop.suppressing)
    }
}
