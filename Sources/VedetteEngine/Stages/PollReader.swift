// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// Reads a source for one poll: what the answer to its request means, what its bodies hold, and what of that is new. It changes
/// nothing; `PollPipeline` has the whole order.
struct PollReader: Sendable {
    /// In logs, `status` and events.
    var id = ""
    let source: Source
    /// The head of the last snapshot; nil before the first good poll.
    let snapshot: SnapshotHead?
    /// Consecutive failed or unconfirmed polls.
    var failures = 0
    /// The first unconfirmed one among them.
    var doubtedSince: Timestamp?
    var lane = Lane.polls
    /// The first request, without the conditions of the last response.
    let prepared: PreparedRequest
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
        snapshot.flatMap { $0.isComparable(with: source, prepared.identity) ? $0 : nil }
    }

    /// Raises the poll's reservation to so much of its bodies and their items, beside the stored ones, and waits for it.
    /// - Parameter stored: the rows that were loaded. A window has more than it shows: what left it, with whole items.
    /// - Returns: false when the poll was cancelled meanwhile.
    @discardableResult
    func reserve(body: Int, items: Int, stored: Int = 0) async -> Bool {
        let charge = PollMemory.charge(body: body, items: items + max(stored, snapshot?.count ?? 0))
        return await memory?.grow(to: charge) ?? true
    }

    /// Reads and compares, for polls that are not stored.
    func result() async throws(JournalError) -> PollResult {
        var first = firstRequest()
        let startedAt = clock.now().boot
        while true {
            guard let fetched = interpret(await answer(to: first.request), to: &first, startedAt) else { continue }
            return try await readAndDiff(consume fetched)
        }
    }

    /// Reads what was fetched and compares it with the snapshot, without a return to the network thread between the two.
    @concurrent
    func readAndDiff(_ fetched: consuming FetchResult) async throws(JournalError) -> PollResult {
        let items = try await read(consume fetched)
        return await diff(items)
    }

    // MARK: Fetch

    /// Returns the first request, with the conditions of the last good response.
    func firstRequest() -> FirstRequest {
        if prepared.isObserved { return FirstRequest(prepared.request) }
        let plain = source.stream.map { request(streaming: prepared.template, $0) } ?? prepared.request
        return FirstRequest(prepared.conditional(plain, on: comparableSnapshot))
    }

    /// Interprets the answer to the first request. It reads no body, since it runs on the network thread.
    /// - Returns: nil when the request must be sent again, as it is now.
    func interpret(
        _ answer: consuming Result<Response, FetchError>, to first: inout FirstRequest, _ startedAt: BootTime
    ) -> FetchResult? {
        if prepared.isObserved { return observed(answer.mapError(redacted), first.request) }
        switch consume answer {
        case .failure(let error): return .ended(PollResult(redacted(error)))
        case .success(let response):
            if first.repeatWhole(after: response, prepared, of: source) || first.repeatPastCaches(after: response) {
                return nil
            }
            if let records = response.records {
                return .stream(
                    OpenStream(
                        records, response, movedTo: movedTo(response, from: first.request), isResumed: resume != nil,
                        source.server.redactor(for: response)))
            }
            if response.status == 410, source.stream != nil, resume != nil { return .ended(PollResult(.expired)) }
            if let end = end(of: response, to: first.request) { return .ended(end) }
            return .response(
                FirstResponse(
                    response: response, template: prepared.template, requestDigest: prepared.digest,
                    startedAt: startedAt, movedTo: movedTo(response, from: first.request)))
        }
    }

    /// Where permanent redirects led, as it is stored and shown; nil for none.
    func movedTo(_ response: Response, from request: Request) -> String? {
        guard let target = response.movedTo else { return nil }
        let address = MovedAddress.text(target, asked: request.url, configured: source.url)
        return address.map { source.server.redactor(for: response)?.redacted($0) ?? $0 }
    }

    /// Sends a request and waits.
    private func answer(to request: Request) async -> Result<Response, FetchError> {
        await Result(of: { () throws(FetchError) in try await fetcher.fetch(request) })
    }

    private func redacted(_ error: FetchError) -> FetchError { source.server.redactor?.redacted(error) ?? error }

    /// Requests a page after the first.
    func fetch(_ request: Request) async -> Result<Response, FetchError> {
        await answer(to: request).mapError(redacted)
    }

    /// Returns the result for which no body needs to be read; nil for a body, also one that says why the server refuses.
    private func end(of response: Response, to request: Request) -> PollResult? {
        let isExpected = response.status == 304 ? !request.validators.isEmpty : request.knownDigest != nil
        if response.isUnchanged, isExpected {
            return PollResult(
                .unchanged(source.validators(of: response, at: clock.now().wall)), freshFor: response.headers.freshFor
            ).with(movedTo: movedTo(response, from: request))
        }
        return response.body.isEmpty ? failure(of: response, method: request.method) : nil
    }

    /// Returns the failure for a response without a usable body; nil for a body.
    func failure(of response: Response, method: String) -> PollResult? {
        // A command that prints nothing has succeeded; whether that is a document its kind decides.
        let mayBeEmpty = CommandURL.arguments(source.url) != nil
        let error = ReadError(
            response, method: method, server: source.server, words: source.refusal(in: response),
            mayBeEmpty: mayBeEmpty)
        return error.map { error in
            PollResult(
                .failed(error.failure, detail: error.detail),
                retryAfter: response.headers.retryAfter(at: clock.now().wall))
        }
    }

    // MARK: Read

    /// Reads the first body and every page that the paginator asks for, then what the items link to.
    func read(_ fetched: consuming FetchResult) async throws(JournalError) -> ReadResult {
        switch consume fetched {
        case .ended(let result): return .ended(result)
        case .observed(let result, let movedTo): return try await readObserved(result, movedTo)
        case .stream(let stream): return await readBriefly(stream)
        case .response(var first): return try await readPages(from: &first)
        }
    }

    // MARK: Diff

    /// Compares what was read with the snapshot, beside the network thread: a list may have a hundred thousand items.
    @concurrent
    func diff(_ read: ReadResult) async -> PollResult {
        switch read {
        case .ended(let result): return result
        case .items(let items):
            var difference = differ.compare(snapshot, stored: items.stored, with: items.observation)
            // A window with a gap is announced and taken: failing it would fail every later poll, each with a wider gap.
            if let gap = items.gap { difference.events.append(DraftEvent(.suspect, error: gap)) }
            var result = PollResult(.read(difference), freshFor: items.freshFor, retryAfter: items.retryAfter)
            (result.warnings, result.links, result.unanswered) = (items.warnings, items.links, items.unanswered)
            return result.with(movedTo: items.movedTo)
        }
    }

    var differ: Differ { Differ(source: source, now: clock.now().wall, thresholds: thresholds) }

    /// Applies records to the snapshot, beside the network thread.
    @concurrent
    func merge(
        _ snapshot: SnapshotHead, _ stored: [String: StoredItem], _ changes: RecordChanges
    ) async -> Difference {
        differ.merge(snapshot, stored: stored, with: changes)
    }
}
