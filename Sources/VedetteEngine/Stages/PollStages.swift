// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// Holds a poll's request settings, its previous snapshot and its ports, and has the stages that change nothing: `fetch`
/// and `read`, one file each, and `diff`. `PollPipeline` has the whole order.
struct PollStages: Sendable {
    /// In logs, `status` and events.
    var id = ""
    let source: Source
    /// The head of the last snapshot; nil before the first good poll.
    let snapshot: SnapshotHead?
    /// Consecutive failed or unconfirmed polls.
    var failures = 0
    var lane = Lane.polls
    let fetcher: any Fetcher
    let clock: any Clock
    let userAgent: String
    /// Runs the programs of kinds that have one.
    var transformer: (any BodyTransformer)?
    /// What measures are compared with.
    var thresholds: Thresholds = [:]
    /// What linked resources answered in earlier polls.
    var links = LinkCache()
    /// The snapshot's items, read only when the body changed.
    let storedItems: @Sendable () async throws(JournalError) -> [String: StoredItem]
    var limits = PollLimits()
    /// The poll's share of the memory for what polls read; nil for a poll on demand.
    var memory: PollMemoryShare?

    var requests: RequestBuilder { RequestBuilder(source: source, lane: lane, userAgent: userAgent) }

    /// The snapshot's head, unless the source reads other items now.
    var comparableSnapshot: SnapshotHead? {
        // A field that is read with other options must be read again, even from an unchanged body.
        guard let snapshot, snapshot.identity == source.identity, snapshot.fingerprints == source.kind.fingerprints
        else { return nil }
        return snapshot
    }

    /// Waits until the memory suffices for so much of a body and its items, beside the stored ones.
    /// - Returns: false when the poll was cancelled meanwhile.
    @discardableResult
    func reserve(body: Int, items: Int) async -> Bool {
        let charge = PollMemory.charge(body: body, items: items + (snapshot?.count ?? 0))
        return await memory?.grow(to: charge) ?? true
    }

    /// All three stages, for polls that are not stored.
    func result() async throws(JournalError) -> PollResult {
        await diff(try await read(await fetch()))
    }
}

extension PollStages {
    /// Compares what was read with the snapshot.
    func diff(_ read: ReadSource) async -> PollResult {
        switch read {
        case .ended(let result): return result
        case .items(let items):
            var difference = await difference(items)
            // A window with a gap is announced and taken: failing it would fail every later poll, each with a wider gap.
            if let gap = items.gap { difference.events.append(DraftEvent(.suspect, error: gap)) }
            var result = PollResult(.read(difference), freshFor: items.freshFor, retryAfter: items.retryAfter)
            (result.warnings, result.links, result.silence) = (items.warnings, items.links, items.silence)
            return result
        }
    }

    var differ: Differ { Differ(source: source, now: clock.now().wall, thresholds: thresholds) }

    /// Runs beside the network thread: a list may have a hundred thousand items.
    @concurrent
    private func difference(_ items: ReadItems) async -> Difference {
        differ.compare(snapshot, stored: items.stored, with: items.observation)
    }

    /// Applies records to the snapshot, beside the network thread.
    @concurrent
    func merge(
        _ snapshot: SnapshotHead, _ stored: [String: StoredItem], _ changes: RecordChanges
    ) async -> Difference {
        differ.merge(snapshot, stored: stored, with: changes)
    }
}

/// Limits over all pages of one poll; beyond them the poll has a gap.
struct PollLimits: Sendable {
    /// Bytes of bodies, decoded.
    var bytes = 256 << 20
    var time = Duration.seconds(600)
    /// The number of pages that exist, for `replay`; reading stops there without a gap. Nil when the server decides.
    var pages: Int?
}

/// What the fetch stage hands on.
enum FetchedSource: Sendable {
    /// A body to read.
    case response(FirstResponse)
    /// What an `ObservingKind` reads: any response, or the reason why there is none.
    case observed(Result<Response, FetchError>)
    /// Records that go on arriving.
    case stream(OpenStream)
    /// The poll ends here: unchanged, failed or cancelled.
    case ended(PollResult)

    /// The records that go on arriving; nil for what ends.
    var stream: OpenStream? { if case .stream(let stream) = self { stream } else { nil } }
}

/// The response to the first request of a poll.
struct FirstResponse: Sendable {
    var response: Response
    var template: RequestTemplate
    /// Identifies the request, so that its validators are sent with no other.
    var requestDigest: UInt64
    var startedAt: BootTime
}

/// What the read stage hands on.
enum ReadSource: Sendable {
    case items(ReadItems)
    case ended(PollResult)
}

/// Every item of a poll's pages, and what is to be compared with them.
struct ReadItems: Sendable {
    var observation: Observation
    var stored: [String: StoredItem]
    /// Why the reading of a window stopped before it reached known entries; nil when it did reach them.
    var gap: Event.Problem?
    var warnings: [String] = []
    var freshFor: Duration?
    var retryAfter: Duration?
    var silence: FetchError?
    var links: LinkCache?
}

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
        /// A stream was opened: its server answers, and has shown nothing yet.
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
    var silence: FetchError?
    /// An earlier page was answered.
    var wasAnswered = false
    /// The answers of its items' links, for the next poll; nil when no link was followed.
    var links: LinkCache?
    /// Further records have arrived that are not part of it, so it confirms nothing about other items.
    var isPartial = false

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
        case .read(let difference): !difference.isSuspect && !isPartial
        case .unconfirmed, .failed, .cancelled, .opened, .expired: false
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
