// SPDX-License-Identifier: Apache-2.0

import Synchronization
import VedetteCore

/// Counts the messages of each rule that were sent or suppressed. Commits and attempts count from different threads.
final class RuleMeter: Sendable {
    private struct Key: Hashable {
        var rule: String
        var state: DeliveryState
    }

    private let meter: any Meter
    private let counters = Mutex([Key: any MetricCounter]())

    init(_ meter: any Meter) { self.meter = meter }

    /// Counts the delivery of a message.
    /// - Parameter state: of the delivery now; other states than sent and suppressed count nothing.
    func count(_ state: DeliveryState, of rule: String) {
        guard state == .sent || state == .suppressed else { return }
        let key = Key(rule: rule, state: state)
        let counter = counters.withLock { counters in
            let counter = counters[key] ?? meter.counter(.ruleMessages, rule, state.rawValue)
            counters[key] = counter
            return counter
        }
        counter.add(1)
    }
}
