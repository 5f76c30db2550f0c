// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// Measures attempts to deliver messages. It belongs to the dispatcher.
final class DeliveryMeter {
    private struct Key: Hashable {
        var sink: String
        var state: DeliveryState
    }

    private let meter: any Meter
    private let inFlight: any MetricGauge
    private let rules: RuleMeter
    private var counters: [Key: any MetricCounter] = [:]
    /// How many messages were sent since the start.
    private(set) var sent = 0
    /// How many messages died since the start, or could not be read.
    private(set) var unsent = 0

    init(_ meter: any Meter) {
        self.meter = meter
        inFlight = meter.gauge(.deliveriesInFlight)
        rules = RuleMeter(meter)
    }

    func started() { inFlight.add(1) }

    func ended() { inFlight.add(-1) }

    /// Counts an attempt.
    /// - Parameter state: of the delivery after it.
    func count(_ state: DeliveryState, of message: Message) {
        let key = Key(sink: message.sink, state: state)
        if counters[key] == nil { counters[key] = meter.counter(.deliveryAttempts, message.sink, state.rawValue) }
        counters[key]?.add(1)
        // What a fallback tells is a message of its own.
        guard state == .sent else { return }
        rules.count(state, of: message.rule)
        sent += 1
    }

    func countUnsent(_ count: Int) { unsent += count }
}
