// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// Sinks that rest until a person acts are events, as sources that fail are.
extension Watcher {
    /// - Parameter reason: why, without a secret.
    func sinkRests(_ sink: String, _ kind: Event.Kind, _ reason: String) async {
        let now = dependencies.clock.now()
        let random = dependencies.random
        let event = Event(
            id: random.identifier(at: now.wall), kind: kind, time: now.wall, source: sink, sourceKind: Event.sink,
            poll: "", error: Event.Problem(failure: kind.word, detail: reason))
        let step = rules.happened(event, at: ruleTime(now)) { random.identifier(at: now.wall) }
        var record = PollRecord(record: nil, events: [event])
        record.deliveries = step.deliveries.map { Watcher.spared($0, sink) }
        (record.memories, record.endedSilences) = (step.changes, step.endedSilences)
        do throws(JournalError) {
            let pending = try await commitBatcher.commit(record).deliveries.filter(\.state.isPending)
            if !pending.isEmpty { await dispatcher.enqueue(pending) }
        } catch {
            rules.undo(step)
            dependencies.log.log(.error, "that the sink '\(sink)' rests was not written: \(error.detail)")
        }
    }

    /// A message to the sink that it speaks of would only wait behind what it speaks of.
    private static func spared(_ delivery: Delivery, _ sink: String) -> Delivery {
        guard delivery.message.sink == sink, delivery.state.isPending else { return delivery }
        var delivery = delivery
        (delivery.state, delivery.reason) = (.suppressed, "it is about this sink itself")
        return delivery
    }
}
