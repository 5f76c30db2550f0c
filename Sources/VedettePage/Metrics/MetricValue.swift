// SPDX-License-Identifier: Apache-2.0

import Synchronization
import VedetteCore

/// A counter, a gauge or a histogram. Its lock is held for a scan of the bounds at most.
final class MetricValue: MetricCounter, MetricGauge, MetricHistogram {
    private let value: Mutex<(number: Double, histogram: Histogram?)>

    init(_ form: Metric.Form) {
        var histogram: Histogram?
        if case .histogram(let bounds) = form { histogram = Histogram(bounds: bounds) }
        value = Mutex((0, histogram))
    }

    /// The number, or the histogram, of now.
    var current: MetricFamily.Value { value.withLock { $0.histogram.map { .histogram($0) } ?? .number($0.number) } }

    func add(_ count: Int) { value.withLock { $0.number += Double(count) } }

    func record(_ value: Double) { self.value.withLock { $0.histogram?.record(value) } }
}
