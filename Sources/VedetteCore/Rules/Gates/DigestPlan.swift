// SPDX-License-Identifier: Apache-2.0

/// How several events are gathered into one message.
public struct DigestPlan: Sendable, Hashable {
    /// When a digest is sent.
    public enum Release: Sendable, Hashable {
        /// This long after its first event.
        case every(Duration)
        /// At this time of day, on these days, 1 for Monday to 7 for Sunday; empty for all.
        case at(CivilTimeOfDay, days: Set<Int> = [])
    }

    /// When a digest is sent.
    public var release: Release
    /// Which events go into the same digest.
    public var by: Grouping

    /// Creates a plan.
    public init(release: Release, by: Grouping = .rule) { (self.release, self.by) = (release, by) }
}
