// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// A random generator with the same numbers for the same seed, on every machine (Steele, Lea and Flood: Fast splittable
/// pseudorandom number generators, 2014).
public struct SplitMix64: RandomNumberGenerator, Sendable {
    private var state: UInt64

    /// Creates a generator.
    public init(_ seed: UInt64) { state = seed }

    /// Returns the next number.
    public mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        return StableHash.mixed(state)
    }

    /// Returns a number from 0 up to, not including, `limit`.
    public mutating func below(_ limit: Int) -> Int { Int(next() % UInt64(limit)) }
}
