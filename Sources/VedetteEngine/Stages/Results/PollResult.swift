// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// The result of the stages of one poll.
struct PollResult: Sendable {
    enum Outcome: Sendable {
        /// The same body as last time: the items stand, absences are confirmed.
        case unchanged(Validators)
        case read(Difference)
        /// A bad state that too few polls in a row have shown yet.
        case unconfirmed(String)
        case failed(Failure, detail: String)
        case cancelled
        /// The connection of a stream is open. `evidence` tells what that proves by now.
        case opened
        /// The server no longer has what followed the resume id of a stream.
        case expired
    }

    /// A result that ends the reading of records.
    struct Stop: Error {
        let result: PollResult

        init(_ result: PollResult) { self.result = result }
    }

    var outcome: Outcome
    var warnings: [String] = []
    var freshFor: Duration?
    var retryAfter: Duration?
    /// Why no response came; nil when one did.
    var unanswered: FetchError?
    /// An earlier page was answered.
    var wasAnswered = false
    /// The answers of its items' links, for the next poll; nil when no link was followed.
    var links: LinkCache?
    /// Further records have arrived that are not part of it, or none yet, so it confirms nothing about other items.
    var isPartial = false
    /// What it proves about the source.
    var evidence = PollEvidence.content
    /// Where permanent redirects led, of a good poll; nil for none.
    var movedTo: String?
    /// It failed since the server sent something that cannot be read.
    var isUnreadable = false

    init(_ outcome: Outcome, freshFor: Duration? = nil, retryAfter: Duration? = nil) {
        (self.outcome, self.freshFor, self.retryAfter) = (outcome, freshFor, retryAfter)
    }

    init(_ error: FetchError) {
        self.init(
            error.failure == .cancelled ? .cancelled : .failed(error.failure, detail: error.detail),
            retryAfter: error.retryAfter)
        unanswered = error
        isUnreadable = error.failure == .tooLarge || error.failure == .encoding
    }

    init(_ error: ReadError) {
        self.init(error.failure == .cancelled ? .cancelled : .failed(error.failure, detail: error.detail))
        isUnreadable = error.failure != .cancelled && error.failure != .memory && error.failure != .configuration
    }

    /// Returns the same result of a connection.
    func with(_ evidence: PollEvidence, movedTo: String?) -> PollResult {
        var result = self
        (result.evidence, result.movedTo) = (evidence, movedTo)
        return result
    }

    /// Returns the same result of a response that permanent redirects led to.
    func with(movedTo: String?) -> PollResult { with(evidence, movedTo: movedTo) }

    /// The source was seen as it is: what waits for that is confirmed.
    var isGood: Bool {
        switch outcome {
        case .unchanged: true
        case .read(let difference): !difference.isSuspect && !isPartial
        case .unconfirmed, .failed, .cancelled, .opened, .expired: false
        }
    }

    /// Whether the host answered anything at all; nil when the poll does not tell.
    var isAnswered: Bool? {
        guard let unanswered, !wasAnswered else { return true }
        return unanswered.failure.isOwn ? nil : !OfflineDetector.isSilence(unanswered.failure)
    }
}
