// SPDX-License-Identifier: Apache-2.0

import Synchronization
public import VedetteCore

/// Keeps the numbers that the engine counts: one for each metric and its labels. A metric that is not in its table is not
/// kept.
public final class MetricRegistry: Meter {
    private struct State {
        var limit: LabelLimit
        /// By metric, then by the values of its labels. They stay: counters must not go down, and the limit bounds them.
        var values: [Metric: [[String]: MetricValue]] = [:]
    }

    private let metrics: [Metric]
    private let state: Mutex<State>

    public init(_ metrics: [Metric] = Metric.ofWatcher, labelLimit: Int? = nil) {
        self.metrics = metrics
        state = Mutex(State(limit: LabelLimit(labelLimit ?? LabelLimit.usual)))
    }

    public func counter(_ metric: Metric, _ labels: [String]) -> any MetricCounter { value(metric, labels) }
    public func gauge(_ metric: Metric, _ labels: [String]) -> any MetricGauge { value(metric, labels) }
    public func histogram(_ metric: Metric, _ labels: [String]) -> any MetricHistogram { value(metric, labels) }

    private func value(_ metric: Metric, _ labels: [String]) -> MetricValue {
        let fresh = MetricValue(metric.form)
        guard metrics.contains(metric), metric.labels.count == labels.count else { return fresh }
        return state.withLock { state in
            let labels = zip(metric.labels, labels).map { state.limit.value($1, of: $0) }
            if let known = state.values[metric]?[labels] { return known }
            state.values[metric, default: [:]][labels] = fresh
            return fresh
        }
    }

    /// The number of a counter or a gauge now; nil before it was first asked for.
    public func number(_ metric: Metric, _ labels: String...) -> Double? {
        guard case .number(let number)? = state.withLock({ $0.values[metric]?[labels]?.current }) else { return nil }
        return number
    }

    /// The numbers of now, in the order of the table.
    var families: [MetricFamily] {
        let values = state.withLock { $0.values }
        return metrics.map { metric in
            let samples = (values[metric] ?? [:]).map { MetricFamily.Sample($0.key, $0.value.current) }
            return MetricFamily(metric, samples.sorted { $0.labels.lexicographicallyPrecedes($1.labels) })
        }
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
}
