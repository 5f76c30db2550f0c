// SPDX-License-Identifier: Apache-2.0

import Synchronization
public import VedetteCore

/// The random bits of a watcher in a test: different at each call, the same in every run.
public final class SeededRandom: RandomGenerator {
    private let numbers: Mutex<SplitMix64>

    /// Creates a generator. Watchers that share a journal need seeds of their own, since all of them give ids.
    public init(_ seed: UInt64 = 7) { numbers = Mutex(SplitMix64(seed)) }

    /// Returns the next number.
    public func next() -> UInt64 { numbers.withLock { $0.next() } }
}
