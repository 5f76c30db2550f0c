// SPDX-License-Identifier: Apache-2.0

/// Bounds the values of each label: each costs a time series in Prometheus, and memory here. Values beyond the limit share
/// one. A value keeps its place as long as the process runs, so that counters never go down.
struct LabelLimit: Sendable {
    /// Values of one label.
    static let usual = 500
    /// The label value of everything beyond the limit. No source and no sink has this name.
    static let other = "(other)"

    private let limit: Int
    private var known: [String: Set<String>] = [:]

    init(_ limit: Int) { self.limit = limit }

    /// Returns the value to use.
    mutating func value(_ value: String, of label: String) -> String {
        if known[label]?.contains(value) == true { return value }
        guard known[label, default: []].count < limit else { return Self.other }
        known[label, default: []].insert(value)
        return value
    }
}
