// SPDX-License-Identifier: Apache-2.0

/// Decides whether the wall clock may delete what is old. A machine without a battery-backed clock can start weeks ahead,
/// and everything would be too old at once.
public struct ClockTrust: Sendable {
    /// How far past the newest stored time an unsynchronized clock is believed.
    static let longestGap = Duration.seconds(86_400)
    /// How long a wrong clock may stay uncorrected before it is trusted: some machines are never synchronized.
    static let patience = Duration.seconds(86_400)

    private let newestStored: Timestamp?
    private let start: BootTime

    /// - Parameters:
    ///   - newestStored: the newest time in the journal when this run began; nil for an empty journal.
    ///   - start: when this run began.
    public init(newestStored: Timestamp?, start: BootTime) { (self.newestStored, self.start) = (newestStored, start) }

    /// Returns whether the wall clock is probably right.
    /// - Parameter isSynchronized: whether the kernel reports the clock as synchronized.
    public func isPlausible(_ now: Moment, isSynchronized: Bool) -> Bool {
        guard !isSynchronized, let newestStored else { return true }
        return now.wall <= newestStored.advanced(by: ClockTrust.longestGap)
            || now.boot.duration(since: start) >= ClockTrust.patience
    }
}
