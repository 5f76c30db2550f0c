// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// The stages of one poll that change nothing: what it asks with, what it compares with, and the edges that it reaches
/// through. `PollPipeline` has the whole order.
///
/// They are `fetch`, `read` and `diff`, one file each.
struct PollStages: Sendable {
    /// In logs, `status` and events.
    var id = ""
    let source: Source
    /// The head of the last snapshot; nil before the first good poll.
    let snapshot: SnapshotHead?
    /// Polls in a row that brought nothing that was believed.
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

    var requests: RequestBuilder { RequestBuilder(source: source, lane: lane, userAgent: userAgent) }

    /// The snapshot's head, unless the source reads other items now.
    var comparableSnapshot: SnapshotHead? {
        // A field that is read with other options must be read again, even from an unchanged body.
        guard let snapshot, snapshot.identity == source.identity, snapshot.fingerprints == source.kind.fingerprints
        else { return nil }
        return snapshot
    }

    /// All three stages, for polls that are not stored.
    func result() async throws(JournalError) -> PollResult {
        await diff(try await read(await fetch()))
    }
}

/// What the fetch stage hands on.
enum FetchedSource: Sendable {
    /// A body to read.
    case response(FirstResponse)
    /// What an `ObservingKind` reads: any response, or the reason why there is none.
    case observed(Result<Response, FetchError>)
    /// The poll ends here: unchanged, failed or cancelled.
    case ended(PollResult)
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
