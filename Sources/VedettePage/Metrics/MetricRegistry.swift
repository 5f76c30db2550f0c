// SPDX-License-Identifier: Apache-2.0

public import CoreMetrics
import Synchronization
public import VedetteCore

/// The backend of swift-metrics: it keeps a number for each metric and its labels. A metric that is not in its table is
/// not kept.
public final class MetricRegistry: MetricsFactory {

    private struct State {
        var limit: LabelLimit
        /// By name of the metric, then by the values of its labels.
        var counters: [String: [[String]: CounterValue]] = [:]
        var gauges: [String: [[String]: GaugeValue]] = [:]
        var histograms: [String: [[String]: HistogramValue]] = [:]
    }

    private let metrics: [String: Metric]
    private let order: [Metric]
    private let state: Mutex<State>

    public init(_ metrics: [Metric] = Metric.ofWatcher, labelLimit: Int? = nil) {
        order = metrics
        self.metrics = Dictionary(metrics.map { ($0.name, $0) }) { first, _ in first }
        state = Mutex(State(limit: LabelLimit(labelLimit ?? LabelLimit.usual)))
    }

    /// The numbers of now, in the order of the table.
    var families: [MetricFamily] {
        state.withLock { state in
            order.map { metric in
                let name = metric.name
                var samples: [MetricFamily.Sample] = []
                samples += (state.counters[name] ?? [:]).map { .init($0.key, .number(Double($0.value.count))) }
                samples += (state.gauges[name] ?? [:]).map { .init($0.key, .number($0.value.number)) }
                samples += (state.histograms[name] ?? [:]).map { .init($0.key, .histogram($0.value.histogram)) }
                return MetricFamily(metric, samples.sorted { $0.labels.lexicographicallyPrecedes($1.labels) })
            }
        }
    }

    /// The number of a gauge now; nil before it was first set.
    public func gauge(_ metric: Metric, _ labels: String...) -> Double? {
        state.withLock { $0.gauges[metric.name]?[labels]?.number }
    }

    /// The numbers of now together with those that were read, in the order of the table.
    public func families(with read: [MetricFamily]) -> [MetricFamily] {
        let byMetric = Dictionary(read.map { ($0.metric, limited($0)) }) { first, _ in first }
        return families.map { byMetric[$0.metric] ?? $0 }
    }

    /// Adds up the samples whose labels are beyond the limit, with the same labels as the registry's own numbers.
    func limited(_ family: MetricFamily) -> MetricFamily {
        var sums: [[String]: Double] = [:]
        state.withLock { state in
            for sample in family.samples {
                guard case .number(let number) = sample.value else { continue }
                let labels = zip(family.metric.labels, sample.labels).map { state.limit.value($1, of: $0) }
                sums[labels, default: 0] += number
            }
        }
        let samples = sums.map { MetricFamily.Sample($0.key, .number($0.value)) }
        return MetricFamily(family.metric, samples.sorted { $0.labels.lexicographicallyPrecedes($1.labels) })
    }

    private func values(
        _ name: String, _ dimensions: [(String, String)], _ state: inout State
    ) -> [String]? {
        guard let metric = metrics[name], metric.labels == dimensions.map(\.0) else { return nil }
        return dimensions.map { state.limit.value($0.1, of: $0.0) }
    }

    // MARK: MetricsFactory

    public func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
        state.withLock { state -> any CounterHandler in
            guard let values = values(label, dimensions, &state) else { return NOOPMetricsHandler.instance }
            let counter = state.counters[label]?[values] ?? CounterValue()
            state.counters[label, default: [:]][values] = counter
            return counter
        }
    }

    public func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler {
        state.withLock { state -> any MeterHandler in
            guard let values = values(label, dimensions, &state) else { return NOOPMetricsHandler.instance }
            let gauge = state.gauges[label]?[values] ?? GaugeValue()
            state.gauges[label, default: [:]][values] = gauge
            return gauge
        }
    }

    /// - Parameter aggregate: false for a gauge.
    public func makeRecorder(
        label: String, dimensions: [(String, String)], aggregate: Bool
    ) -> any RecorderHandler {
        state.withLock { state -> any RecorderHandler in
            guard aggregate, case .histogram(let bounds) = metrics[label]?.form,
                let values = values(label, dimensions, &state)
            else { return NOOPMetricsHandler.instance }
            let histogram = state.histograms[label]?[values] ?? HistogramValue(bounds: bounds)
            state.histograms[label, default: [:]][values] = histogram
            return histogram
        }
    }

    /// No metric is a timer: times are recorded in seconds, as the values of a recorder.
    public func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
        NOOPMetricsHandler.instance
    }

    // Counters must not go down, and the limit bounds what is kept.
    public func destroyCounter(_ handler: any CounterHandler) {}
    public func destroyMeter(_ handler: any MeterHandler) {}
    public func destroyRecorder(_ handler: any RecorderHandler) {}
    public func destroyTimer(_ handler: any TimerHandler) {}
}
