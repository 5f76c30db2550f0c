// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// What follows a transition of a poll.
enum TransitionResult {
    /// The result changes nothing.
    case discarded
    /// Its record is written later.
    /// - Parameter isGood: whether the poll confirms what is still so.
    case deferred(isGood: Bool)
    case commit(PollTransition, PollFacts)
}
