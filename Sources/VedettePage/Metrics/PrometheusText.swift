// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// Renders metrics in Prometheus' text format 0.0.4, by
/// https://prometheus.io/docs/instrumenting/exposition_formats/#text-based-format.
public enum PrometheusText {
    public static let contentType = "text/plain; version=0.0.4; charset=utf-8"

    /// A metric without numbers is left out.
    public static func render(_ families: [MetricFamily]) -> String {
        var text = ""
        for family in families where !family.samples.isEmpty {
            let metric = family.metric
            text += "# HELP \(metric.name) \(escaped(metric.help, quotes: false))\n"
            text += "# TYPE \(metric.name) \(type(of: metric.form))\n"
            for sample in family.samples { add(sample, of: metric, to: &text) }
        }
        return text
    }

    private static func type(of form: Metric.Form) -> String {
        switch form {
        case .counter: "counter"
        case .gauge: "gauge"
        case .histogram: "histogram"
        }
    }

    private static func add(_ sample: MetricFamily.Sample, of metric: Metric, to text: inout String) {
        let labels = zip(metric.labels, sample.labels).map { "\($0)=\"\(escaped($1, quotes: true))\"" }
        func add(_ suffix: String, _ labels: [String], _ value: String) {
            let set = labels.isEmpty ? "" : "{\(labels.joined(separator: ","))}"
            text += "\(metric.name)\(suffix)\(set) \(value)\n"
        }
        switch sample.value {
        case .number(let value): add("", labels, self.text(of: value))
        case .histogram(let histogram):
            var count = 0
            for (bound, own) in zip(histogram.bounds + [.infinity], histogram.counts) {
                count += own
                add("_bucket", labels + ["le=\"\(self.text(of: bound))\""], "\(count)")
            }
            add("_sum", labels, self.text(of: histogram.sum))
            add("_count", labels, "\(count)")
        }
    }

    private static func text(of value: Double) -> String {
        if value.isNaN { return "NaN" }
        if value.isInfinite { return value < 0 ? "-Inf" : "+Inf" }
        // Doubles hold integers exactly up to 2⁵³.
        return value == value.rounded() && abs(value) < 0x1p53 ? "\(Int64(value))" : "\(value)"
    }

    private static func escaped(_ text: String, quotes: Bool) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\\": result += "\\\\"
            case "\n": result += "\\n"
            case "\"" where quotes: result += "\\\""
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }
}
