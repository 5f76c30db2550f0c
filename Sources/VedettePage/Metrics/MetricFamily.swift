// SPDX-License-Identifier: Apache-2.0

public import VedetteCore

/// A metric with the numbers of all its labels, at one time.
public struct MetricFamily: Sendable, Hashable {
    public enum Value: Sendable, Hashable {
        case number(Double)
        case histogram(Histogram)
    }

    public struct Sample: Sendable, Hashable {
        /// The values of `Metric.labels`, in order.
        public var labels: [String]
        public var value: Value

        public init(_ labels: [String], _ value: Value) { (self.labels, self.value) = (labels, value) }
    }

    public let metric: Metric
    public var samples: [Sample]

    public init(_ metric: Metric, _ samples: [Sample]) { (self.metric, self.samples) = (metric, samples) }

    /// A metric without labels.
    public init(_ metric: Metric, _ value: Double) { self.init(metric, [Sample([], .number(value))]) }

    /// A metric with one label.
    public init(_ metric: Metric, byLabel values: [(label: String, value: Int)]) {
        self.init(metric, values.map { Sample([$0.label], .number(Double($0.value))) })
    }
}
