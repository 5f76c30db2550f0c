// SPDX-License-Identifier: Apache-2.0

import VedetteCore

extension StoppedSink {
    /// Returns the event that reports that the sink stopped.
    func event(id: Identifier, at now: Timestamp) -> Event {
        Event(
            id: id, kind: kind, time: now, source: sink, sourceKind: Event.sink, poll: "",
            error: Event.Problem(failure: kind.word, detail: reason))
    }

    /// Suppresses a message about the sink to the sink itself: it would only wait behind what it is about.
    func suppressing(_ delivery: Delivery) -> Delivery {
        guard delivery.message.sink == sink, delivery.state.isPending else { return delivery }
        var delivery = delivery
        (delivery.state, delivery.reason) = (.suppressed, "it is about this sink itself")
        return delivery
    }
}
