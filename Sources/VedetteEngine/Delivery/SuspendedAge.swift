// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// The time in which the machine was suspended, as far as it still counts in the age of pending deliveries. Nothing could be
/// sent in it, so it must let none expire. Of several watchers another one may have run.
struct SuspendedAge {
    /// A pause of the watcher, off or asleep, that is shorter counts towards `give_up`.
    static let shortest = Duration.seconds(600)

    private let clock: any Clock
    private let isShared: Bool
    /// `Clock.suspended` up to which the deliveries of the journal are younger by suspends.
    private(set) var excluded: Duration
    private var isExcluding = false

    init(_ clock: any Clock, isShared: Bool) {
        (self.clock, self.isShared, excluded) = (clock, isShared, clock.suspended)
    }

    /// Returns the suspends since that mark that do not count; zero when they were too short.
    func length(since mark: Duration) -> Duration {
        let length = clock.suspended - mark
        return isShared || length < SuspendedAge.shortest ? .zero : length
    }

    /// Whether the age of a delivery in the journal is right.
    var isExcluded: Bool { length(since: excluded) == .zero }

    /// Begins an exclusion; nil when there is nothing to exclude, or one is under way.
    mutating func begin() -> Duration? {
        guard !isExcluding, !isExcluded else { return nil }
        isExcluding = true
        return length(since: excluded)
    }

    /// - Parameter length: what was excluded; zero when the journal refused it.
    mutating func ended(_ length: Duration) {
        isExcluding = false
        excluded += length
    }
}
