// SPDX-License-Identifier: Apache-2.0

/// Both clocks and the way to wait; a test injects one that it advances by hand.
public protocol Clock: Sendable {
    func now() -> Moment
    /// Returns at `deadline`, or throws at once when the task is cancelled.
    func sleep(until deadline: BootTime) async throws(CancellationError)
}

/// Where randomness comes from; passed in so that every decision can be repeated.
public protocol RandomGenerator: Sendable {
    func next() -> UInt64
}

extension RandomGenerator {
    /// Uniform in 0..<1.
    public func fraction() -> Double { Double(next() >> 11) / Double(1 << 53) }

    public func identifier(at time: Timestamp) -> Identifier { Identifier(time: time, random: (next(), next())) }
}
