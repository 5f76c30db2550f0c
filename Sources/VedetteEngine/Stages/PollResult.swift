// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// What the stages of one poll found.
struct PollResult: Sendable {
    enum Outcome: Sendable {
        /// The same body as last time: the items stand, absences are confirmed.
        case unchanged(Validators)
        case read(Difference)
        /// A bad state that too few polls in a row have shown yet.
        case unconfirmed(String)
        case failed(Failure, detail: String)
        case cancelled
    }

    var outcome: Outcome
    var warnings: [String] = []
    var freshFor: Duration?
    var retryAfter: Duration?
    /// Why no response came; nil when one did.
    var silence: FetchError?
    /// An earlier page was answered.
    var wasAnswered = false
    /// The answers of its items' links, for the next poll; nil when no link was followed.
    var links: LinkCache?

    init(_ outcome: Outcome, freshFor: Duration? = nil, retryAfter: Duration? = nil) {
        (self.outcome, self.freshFor, self.retryAfter) = (outcome, freshFor, retryAfter)
    }

    init(_ error: FetchError) {
        self.init(error.failure == .cancelled ? .cancelled : .failed(error.failure, detail: error.detail))
        silence = error
    }

    init(_ error: ReadError) {
        self.init(error.failure == .cancelled ? .cancelled : .failed(error.failure, detail: error.detail))
    }

    /// The source was seen as it is: what waits for that is confirmed.
    var isGood: Bool {
        switch outcome {
        case .unchanged: true
        case .read(let difference): !difference.isSuspect
        case .unconfirmed, .failed, .cancelled: false
        }
    }

    /// Whether the host answered anything at all; nil when the poll does not tell.
    var isAnswered: Bool? {
        guard let silence, !wasAnswered else { return true }
        switch silence.failure {
        case .cancelled, .configuration, .memory: return nil
        default: return !OfflineDetector.isSilence(silence.failure)
        }
    }
}
