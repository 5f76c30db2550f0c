// SPDX-License-Identifier: Apache-2.0

/// The upper bounds of the buckets of the metrics' histograms, in seconds.
enum HistogramBounds {
    /// Of polls: from an answer on loopback to the longest time-outs.
    static let durations = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300]
    /// Of how late polls start. Due times within 10 ms of each other share one wake-up.
    static let lateness = [0.001] + durations
}
