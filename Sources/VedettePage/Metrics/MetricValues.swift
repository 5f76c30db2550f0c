// SPDX-License-Identifier: Apache-2.0

import CoreMetrics
import Synchronization
import VedetteCore

/// A counter.
final class CounterValue: CounterHandler {
    private let value = Atomic<Int64>(0)

    var count: Int64 { value.load(ordering: .relaxed) }

    func increment(by amount: Int64) { value.wrappingAdd(amount, ordering: .relaxed) }

    /// A counter of Prometheus starts at zero again only with its process.
    func reset() {}
}

/// A gauge.
final class GaugeValue: MeterHandler {
    private let value = Mutex(0.0)

    var number: Double { value.withLock { $0 } }

    func set(_ value: Int64) { set(Double(value)) }
    func set(_ value: Double) { self.value.withLock { $0 = value } }
    func increment(by amount: Double) { value.withLock { $0 += amount } }
    func decrement(by amount: Double) { value.withLock { $0 -= amount } }
}

/// A histogram. Its lock is held for a scan of the bounds.
final class HistogramValue: RecorderHandler {
    private let value: Mutex<Histogram>

    init(bounds: [Double]) { value = Mutex(Histogram(bounds: bounds)) }

    var histogram: Histogram { value.withLock { $0 } }

    func record(_ value: Int64) { record(Double(value)) }
    func record(_ value: Double) { self.value.withLock { $0.record(value) } }
}
