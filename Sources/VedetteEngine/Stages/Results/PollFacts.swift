// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// The facts about a poll that its commit needs beside the transition.
struct PollFacts: Sendable {
    /// The poll's id; empty for a health check, which is no poll.
    var id: String
    var now: Moment
    /// What the poll counts as once it is committed; nil for a health check.
    var outcome: PollMeter.Outcome?
    /// Whether it confirms what is still so.
    var isGood: Bool
    /// Whether the source had no snapshot before it.
    var isFirst: Bool
    /// The announcement about the network that the commit carries; nil for none.
    var announcement: Event.Kind?
    /// Whether a deferred write was dropped, since this commit is newer.
    var hadDeferredWrite = false

    var isHealthCheck: Bool { id.isEmpty }
}
