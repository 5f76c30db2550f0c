// SPDX-License-Identifier: Apache-2.0

import CoreMetrics
import VedetteCore

/// Binds the engine's port to swift-metrics.
struct SwiftMetricsMeter: VedetteCore.Meter {
    private final class CounterHandle: MetricCounter {
        private let counter: CoreMetrics.Counter

        init(_ counter: CoreMetrics.Counter) { self.counter = counter }

        func add(_ count: Int) { counter.increment(by: count) }
    }

    private final class GaugeHandle: MetricGauge {
        private let meter: CoreMetrics.Meter

        init(_ meter: CoreMetrics.Meter) { self.meter = meter }

        func add(_ change: Int) { meter.increment(by: Double(change)) }
    }

    private final class HistogramHandle: MetricHistogram {
        private let recorder: Recorder

        init(_ recorder: Recorder) { self.recorder = recorder }

        func record(_ value: Double) { recorder.record(value) }
    }

    let factory: any MetricsFactory

    func counter(_ metric: Metric, _ labels: [String]) -> any MetricCounter {
        CounterHandle(Counter(label: metric.name, dimensions: dimensions(metric, labels), factory: factory))
    }

    func gauge(_ metric: Metric, _ labels: [String]) -> any MetricGauge {
        GaugeHandle(
            CoreMetrics.Meter(label: metric.name, dimensions: dimensions(metric, labels), factory: factory))
    }

    func histogram(_ metric: Metric, _ labels: [String]) -> any MetricHistogram {
        HistogramHandle(Recorder(label: metric.name, dimensions: dimensions(metric, labels), factory: factory))
    }

    private func dimensions(_ metric: Metric, _ labels: [String]) -> [(String, String)] {
        Array(zip(metric.labels, labels))
    }
}
