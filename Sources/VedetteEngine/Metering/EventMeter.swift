// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// Counts events that were stored.
struct EventMeter: Sendable {
    /// By kind: those that a journal can have.
    private let counters: [Event.Kind: any MetricCounter]

    init(_ meter: any Meter) {
        counters = Dictionary(
            uniqueKeysWithValues: Event.Kind.stored.map { ($0, meter.counter(.events, $0.rawValue)) })
    }

    func count(_ events: [Event]) {
        for event in events { counters[event.kind]?.add(1) }
    }
}
