// SPDX-License-Identifier: Apache-2.0

/// A source of random bits, passed in so that every decision can be repeated.
public protocol RandomGenerator: Sendable {
    /// Returns 64 random bits.
    func next() -> UInt64
}

extension RandomGenerator {
    /// Returns a number that is uniform in 0..<1.
    public func fraction() -> Double { Double(next() >> 11) / Double(1 << 53) }

    /// Makes an id.
    public func identifier(at time: Timestamp) -> Identifier { Identifier(time: time, random: (next(), next())) }
}
