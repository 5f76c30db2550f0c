// SPDX-License-Identifier: Apache-2.0

/// A metric as Prometheus names it: base units (seconds, bytes), and counters that end in `_total`, by
/// https://prometheus.io/docs/practices/naming/.
public struct Metric: Sendable, Hashable {
    /// What its numbers are.
    public enum Form: Sendable, Hashable {
        case counter
        case gauge
        /// - Parameter bounds: the upper bounds of the buckets, ascending, without the infinite one.
        case histogram(bounds: [Double])
    }

    public let name: String
    public let form: Form
    /// What it measures, in one sentence without a full stop.
    public let help: String
    /// The names of its labels.
    public let labels: [String]

    public init(_ name: String, _ form: Form, _ help: String, labels: [String] = []) {
        (self.name, self.form, self.help, self.labels) = (name, form, help, labels)
    }
}
