// SPDX-License-Identifier: Apache-2.0

import Synchronization
import VedetteCore

/// Random numbers for jitter and ids, not for secrets. Seeded by the system once: asking it each time would cost two
/// system calls per poll.
struct SystemRandomGenerator: RandomGenerator {
    private static let state = Mutex(UInt64.random(in: .min ... .max))

    /// SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014).
    func next() -> UInt64 {
        SystemRandomGenerator.state.withLock { state in
            state &+= 0x9E37_79B9_7F4A_7C15
            return StableHash.mixed(state)
        }
    }
}
