// SPDX-License-Identifier: Apache-2.0

/// Values counted by size in buckets of fixed bounds, in bounded memory.
public struct Histogram: Sendable, Hashable {
    /// The upper bounds of the buckets, ascending; one more bucket holds what is larger.
    public let bounds: [Double]
    /// The number of values in each bucket, not cumulative; one more than `bounds`.
    public private(set) var counts: [Int]
    /// The sum of all values.
    public private(set) var sum = 0.0

    public init(bounds: [Double]) {
        self.bounds = bounds
        counts = Array(repeating: 0, count: bounds.count + 1)
    }

    /// The number of values.
    public var count: Int { counts.reduce(0, +) }

    public mutating func record(_ value: Double) {
        // Most values are small, so a scan finds their bucket sooner than a binary search.
        var bucket = 0
        while bucket < bounds.count, value > bounds[bucket] { bucket += 1 }
        counts[bucket] += 1
        sum += value
    }

    /// Adds the values of another histogram with the same bounds.
    public mutating func add(_ other: Histogram) {
        for bucket in counts.indices { counts[bucket] += other.counts[bucket] }
        sum += other.sum
    }

    /// Returns the bound that at least this share of the values does not exceed: the highest one when a value beyond it
    /// is needed, nil for no values.
    public func quantile(_ share: Double) -> Double? {
        let wanted = Int((Double(count) * share).rounded(.up))
        guard count > 0 else { return nil }
        var seen = 0
        for (bucket, bound) in bounds.enumerated() {
            seen += counts[bucket]
            if seen >= wanted { return bound }
        }
        return bounds.last
    }
}
