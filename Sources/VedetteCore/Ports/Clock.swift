// SPDX-License-Identifier: Apache-2.0

/// Reads both clocks, and waits. A test injects a clock that it advances by hand.
public protocol Clock: Sendable {
    /// Returns the current time on both clocks.
    func now() -> Moment
    /// How long the machine has been suspended since it was started. It grows only while nothing can run.
    var suspended: Duration { get }
    /// The time for which the calling thread has had a processor. It stands still while other programs have it, so that a busy
    /// machine uses up no limit on work.
    var processorTime: Duration { get }
    /// Returns at `deadline`, or throws at once when the task is cancelled.
    func sleep(until deadline: BootTime) async throws(CancellationError)
}

extension Clock {
    /// Zero, for a machine that is never suspended.
    public var suspended: Duration { .zero }
    /// The boot time, for a clock that is set by hand.
    public var processorTime: Duration { .milliseconds(now().boot.milliseconds) }
}
