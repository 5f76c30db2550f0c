// SPDX-License-Identifier: Apache-2.0

/// Creates the handles with which the engine measures what happens. A handle is made once and kept, so that an event costs
/// one call; handles for the same metric and labels change the same number.
public protocol Meter: Sendable {
    /// - Parameter labels: the values of `Metric.labels`, in order. No value is a secret or a URL (I9).
    func counter(_ metric: Metric, _ labels: [String]) -> any MetricCounter
    /// - Parameter labels: see `counter`.
    func gauge(_ metric: Metric, _ labels: [String]) -> any MetricGauge
    /// - Parameter labels: see `counter`.
    func histogram(_ metric: Metric, _ labels: [String]) -> any MetricHistogram
}

extension Meter {
    public func counter(_ metric: Metric, _ labels: String...) -> any MetricCounter { counter(metric, labels) }
    public func gauge(_ metric: Metric, _ labels: String...) -> any MetricGauge { gauge(metric, labels) }
    public func histogram(_ metric: Metric, _ labels: String...) -> any MetricHistogram { histogram(metric, labels) }
}

/// A number that only grows.
public protocol MetricCounter: AnyObject, Sendable {
    func add(_ count: Int)
}

/// A number that goes up and down.
public protocol MetricGauge: AnyObject, Sendable {
    /// - Parameter change: may be negative.
    func add(_ change: Int)
}

/// Values counted by size.
public protocol MetricHistogram: AnyObject, Sendable {
    func record(_ value: Double)
}

/// Measures nothing.
public final class NoMeter: Meter, MetricCounter, MetricGauge, MetricHistogram {
    public init() {}

    public func counter(_ metric: Metric, _ labels: [String]) -> any MetricCounter { self }
    public func gauge(_ metric: Metric, _ labels: [String]) -> any MetricGauge { self }
    public func histogram(_ metric: Metric, _ labels: [String]) -> any MetricHistogram { self }
    public func add(_ count: Int) {}
    public func record(_ value: Double) {}
}
