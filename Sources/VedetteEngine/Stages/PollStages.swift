// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// Holds a poll's request settings, its previous snapshot and its ports, and has the stages that change nothing:
/// `fetch`, `read` and `diff`. `PollPipeline` has the whole order.
struct PollStages: Sendable {
    /// In logs, `status` and events.
    var id = ""
    let source: Source
    /// The head of the last snapshot; nil before the first good poll.
    let snapshot: SnapshotHead?
    /// Consecutive failed or unconfirmed polls.
    var failures = 0
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

    /// Waits until the memory suffices for so much of a body and its items, beside the stored ones.
    /// - Returns: false when the poll was cancelled meanwhile.
    @discardableResult
    func reserve(body: Int, items: Int) async -> Bool {
        let charge = PollMemory.charge(body: body, items: items + (snapshot?.count ?? 0))
        return await memory?.grow(to: charge) ?? true
    }

    /// All three stages, for polls that are not stored.
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
    func readAndDiff(_ fetched: consuming FetchedSource) async throws(JournalError) -> PollResult {
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
    ) -> FetchedSource? {
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
    private func fetch(_ request: Request) async -> Result<Response, FetchError> {
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
    func read(_ fetched: consuming FetchedSource) async throws(JournalError) -> ReadSource {
        switch consume fetched {
        case .ended(let result): return .ended(result)
        case .observed(let result, let movedTo): return try await readObserved(result, movedTo)
        case .stream(let stream): return await readBriefly(stream)
        case .response(var first): return try await readPages(from: &first)
        }
    }

    /// The pages read so far.
    private struct PageReading: Sendable {
        var paginator: Paginator
        var step = Paginator.Step.done
        var warnings: [String] = []
        var freshFor: Duration?
        /// A response came from the internet: what it names must not lead into our own network.
        var isPublic = false
        var limits: PollLimits
        /// After this no further page is fetched.
        var deadline: BootTime
        /// Bytes of all pages, decoded.
        var bytes = 0

        mutating func take(_ page: Page) {
            warnings += page.warnings
            if paginator.pages == 0 { freshFor = [freshFor, page.freshFor].compactMap { $0 }.max() }
            step = paginator.pageRead(page)
        }

        /// Each page may be within every limit of a document, and all of them together too much.
        mutating func limit(at now: BootTime) {
            guard case .fetch = step else { return }
            if let pages = limits.pages, paginator.pages >= pages {
                step = .done
            } else if bytes >= limits.bytes {
                step = .gap("after page \(paginator.pages) there are \(bytes) bytes and no more are read")
            } else if now >= deadline {
                step = .gap("page \(paginator.pages) came after \(limits.time) and no more are read")
            }
        }
    }

    private func readPages(from first: inout FirstResponse) async throws(JournalError) -> ReadSource {
        if let failed = failure(of: first.response, method: first.template.method) { return .ended(failed) }
        let isBaseline = snapshot?.identity != source.identity
        guard await reserve(body: first.response.body.count, items: 0) else {
            return .ended(PollResult(.cancelled))
        }
        let stored = isBaseline ? [:] : try await storedItems()
        let paginator = Paginator(
            mode: source.kind.mode, url: first.response.url, known: isBaseline ? nil : stored,
            newest: isBaseline ? nil : snapshot?.newest, oldest: isBaseline ? nil : snapshot?.oldest,
            comparesDigests: snapshot?.fingerprints == source.kind.fingerprints)
        var reading = PageReading(
            paginator: paginator, freshFor: first.response.headers.freshFor, limits: limits,
            deadline: first.startedAt.advanced(by: limits.time))
        if let failed = await readAll(&reading, from: &first) { return .ended(failed) }
        let gap = PollStages.problem(of: reading.step)
        // In an incomplete list, items on unread pages would count as absent.
        if let gap, source.kind.mode == .list { return .ended(PollResult(.failed(.pageGap, detail: gap.detail))) }
        var observation = reading.paginator.observation
        let linked = await readLinks(of: &observation.items, first.template, isPublic: reading.isPublic)
        // What was read is known by now: many short rows take more than their bytes tell.
        guard await reserve(body: reading.bytes, items: observation.items.count) else {
            return .ended(PollResult(.cancelled))
        }
        // A window's first page stands for the window; a list of several pages has no body of its own.
        if source.kind.mode == .window || (reading.paginator.pages == 1 && !source.hasUnknownNextPage(first.response)) {
            observation.validators = source.validators(of: first.response, at: clock.now().wall)
            (observation.digest, observation.asked) = (first.response.digest, first.requestDigest)
        }
        var items = ReadItems(observation: observation, stored: stored, gap: gap, freshFor: reading.freshFor)
        (items.warnings, items.links) = (reading.warnings + linked.warnings, linked.cache)
        items.movedTo = first.movedTo
        // Over several pages items come twice because entries move while they are read.
        if reading.paginator.pages == 1, reading.paginator.repeats > 0 {
            let times = counted(reading.paginator.repeats, "item")
            items.warnings.append("\(times) with a key that was there already; the first of each counts")
        }
        return .items(items)
    }

    /// Reads pages until the paginator wants no more.
    /// - Returns: why the poll failed; nil when every page was read.
    private func readAll(_ reading: inout PageReading, from first: inout FirstResponse) async -> PollResult? {
        if let failed = await readPage(&first.response, &reading) { return failed }
        var last = first.response
        while case .fetch(let page) = reading.step {
            guard memory?.park() ?? true else {
                let pages = counted(reading.paginator.pages, "page")
                let detail = "the memory for what polls read is used up, after \(pages) of several"
                return PollResult(.failed(.memory, detail: detail))
            }
            switch await fetchNext(page, first.template, after: last) {
            case .failure(let error):
                var result = PollResult(error)
                result.wasAnswered = true
                return result
            case .success(var response):
                if let failed = failure(of: response, method: first.template.method) { return failed }
                if let failed = await readPage(&response, &reading) { return failed }
                last = response
            }
        }
        return nil
    }

    /// Reads a page and frees its body; the rest of the response stays.
    private func readPage(_ response: inout Response, _ reading: inout PageReading) async -> PollResult? {
        if !response.isFromPrivate { reading.isPublic = true }
        reading.bytes += response.body.count
        guard await reserve(body: reading.bytes, items: reading.paginator.items.count) else {
            return PollResult(.cancelled)
        }
        let body = PageBody(
            bytes: response.takeBody(), headers: response.headers, url: response.url,
            number: reading.paginator.pages + 1, receivedAt: clock.now().wall)
        let redactor = source.server.redactor(for: response)
        let page = await PollStages.read(consume body, with: source, transformer, redactor)
        // The body is gone; the next page has a share of the memory of its own.
        response.memory = nil
        switch page {
        case .failure(let error): return PollResult(error)
        case .success(let page): reading.take(page)
        }
        reading.limit(at: clock.now().boot)
        return nil
    }

    private func fetchNext(
        _ page: NextPage, _ template: RequestTemplate, after response: Response
    ) async -> Result<Response, FetchError> {
        do throws(FetchError) {
            return await fetch(try requests.next(page, template, after: response))
        } catch {
            return .failure(error)
        }
    }

    private static func problem(of step: Paginator.Step) -> Event.Problem? {
        guard case .gap(let detail) = step else { return nil }
        return Event.Problem(failure: Failure.pageGap.rawValue, detail: "the reading has a gap: \(detail)")
    }

    /// Runs beside the network thread: a document may be large, and a program runs for seconds.
    @concurrent
    static func read(
        _ body: consuming PageBody, with source: Source, _ transformer: (any BodyTransformer)?,
        _ redactor: SecretRedactor?
    ) async -> Result<Page, ReadError> {
        do throws(ReadError) {
            if let program = source.kind.jqProgram {
                guard let transformer else { throw ReadError(.configuration, "no program shapes documents here") }
                body.bytes = try await transformer.transform(body.bytes, with: program)
            }
            var page = try source.kind.read(&body)
            redactor?.redact(&page)
            page.boundKeys()
            // An item that is the whole document.
            if page.items.count == 1, page.items[0].key.isEmpty { page.items[0].key = source.name }
            return .success(page)
        } catch {
            return .failure(ReadError(error.failure, redactor?.redacted(error.detail) ?? error.detail))
        }
    }

    // MARK: Diff

    /// Compares what was read with the snapshot, beside the network thread: a list may have a hundred thousand items.
    @concurrent
    func diff(_ read: ReadSource) async -> PollResult {
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
