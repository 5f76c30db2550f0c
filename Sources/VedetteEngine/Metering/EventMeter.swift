// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// Counts events that were stored.
struct EventMeter: Sendable {
    /// By kind: those that a journal can have.
    private let counters: [Event.Kind: any MetricCounter]

    init(_ meter: any Meter) {
        let kinds = Event.Kind.allCases.filter { !$0.isMadeForMessage }
        counters = Dictionary(uniqueKeysWithValues: kinds.map { ($0, meter.counter(.events, $0.rawValue)) })
    }

    func count(_ events: [Event]) {
        for event in events { counters[event.kind]?.add(1) }
    }
}
