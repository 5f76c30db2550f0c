// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// Reads one source once: every page, each fetched and read in turn, then the difference from the snapshot.
struct PollReader: Sendable {
    let source: Source
    let head: SnapshotHead?
    /// Polls in a row that brought nothing that was believed.
    var failures = 0
    let fetcher: any Fetcher
    let clock: any Clock
    let lane: Lane
    let userAgent: String
    /// Runs the programs of kinds that have one.
    var transformer: (any BodyTransformer)?
    var thresholds: Thresholds = [:]
    /// What links said in earlier polls.
    var links = LinkCache()
    /// The snapshot's items, asked for only when the body changed.
    let storedItems: @Sendable () async throws(JournalError) -> [String: StoredItem]
    var limits = PollLimits()

    var requestBuilder: RequestBuilder { RequestBuilder(source: source, lane: lane, userAgent: userAgent) }

    func read() async throws(JournalError) -> PollResult {
        let context = PollContext(newest: usableHead?.newest, now: clock.now().wall)
        let ask = source.kind.request(base: source.url, context: context)
        if let kind = source.kind as? any ObservingKind { return try await observe(ask, with: kind) }
        let asked = RequestBuilder.digest(of: ask)
        var request = requestBuilder.first(ask)
        // What was learned of another address says nothing about this one.
        if let head = usableHead, head.asked == asked, let digest = head.digest {
            request.knownDigest = digest
            // Other methods have no such conditions (RFC 9110 §13.2.1).
            if ask.method == "GET" || ask.method == "HEAD" { request.validators = head.validators }
        }
        let start = clock.now().boot
        var result = await fetchFirst(request)
        // The page is as before, but another follows it now: only the whole response lets its kind say which.
        if case .success(let response) = result, response.isUnchanged, hasUnknownNext(response) {
            request = requestBuilder.first(ask)
            result = await fetchFirst(request)
        }
        switch result {
        case .failure(let error): return PollResult(error)
        case .success(let response):
            if let early = early(response, to: request) { return early }
            return try await readPages(from: response, ask: ask, asked: asked, since: start)
        }
    }

    /// A list's first page says in a header that it is not the last. Where that is so neither validators nor digest are
    /// kept, so what they stand for is a page without it.
    private func hasUnknownNext(_ response: Response) -> Bool {
        source.kind.mode == .list && response.headers.nameNextPage
    }

    /// A result for which no body needs to be read.
    private func early(_ response: Response, to request: Request) -> PollResult? {
        let isAsked = response.status == 304 ? !request.validators.isEmpty : request.knownDigest != nil
        if response.isUnchanged, isAsked {
            return PollResult(.unchanged(response.headers.validators), freshFor: response.headers.freshFor)
        }
        return failed(response)
    }

    /// The snapshot's head, unless the source reads other items now.
    private var usableHead: SnapshotHead? {
        // A field that is read with other options must be read anew, even from an unchanged body.
        guard let head, head.identity == source.identity, head.fingerprints == source.kind.fingerprints else {
            return nil
        }
        return head
    }

    func fetched(_ request: Request) async -> Result<Response, FetchError> {
        do throws(FetchError) {
            return .success(try await fetcher.fetch(request))
        } catch {
            return .failure(source.server.redactor?.redacted(error) ?? error)
        }
    }

    /// A 304 that nobody asked for comes from a confused cache: one more request, past all of them.
    private func fetchFirst(_ request: Request) async -> Result<Response, FetchError> {
        let result = await fetched(request)
        guard case .success(let response) = result, response.status == 304, request.validators.isEmpty else {
            return result
        }
        var again = request
        again.knownDigest = nil
        again.headers.append(Header("Cache-Control", "no-cache"))
        return await fetched(again)
    }

    private func failed(_ response: Response) -> PollResult? {
        let retryAfter = response.headers.retryAfter(at: clock.now().wall)
        if response.status == 304 {
            let detail = "the server answered 'not modified' to a request that set no condition"
            return PollResult(.failed(.protocol, detail: detail), retryAfter: retryAfter)
        }
        if let failure = Failure(status: response.status) {
            let detail = PollReader.sentence(status: response.status, failure)
            return PollResult(.failed(failure, detail: detail), retryAfter: retryAfter)
        }
        guard response.body.isEmpty else { return nil }
        let detail =
            "the answer was \(response.status) with an empty body; a server may do so for a User-Agent that it does "
            + "not know"
        return PollResult(.failed(.empty, detail: detail), retryAfter: retryAfter)
    }

    static func sentence(status: Int, _ failure: Failure) -> String {
        let remedy =
            switch failure {
            case .unauthorized: "; check user and password"
            case .forbidden: "; these credentials may not read it"
            case .notFound: "; check the path"
            case .redirect: "; write the new address as the source's url"
            default: ""
            }
        return "the server answered \(status)\(remedy)"
    }
}

// MARK: Pages

extension PollReader {
    /// What was read so far.
    private struct Reading: Sendable {
        var walk: Paginator
        var step = Paginator.Step.done
        var warnings: [String] = []
        var freshFor: Duration?
        /// A response came from the internet: what it names is not to be on our own network.
        var isPublic = false
        var limits: PollLimits
        /// After this no further page is asked for.
        var deadline: BootTime
        /// Of all pages.
        var bytes = 0

        mutating func take(_ page: Page) {
            warnings += page.warnings
            if walk.pages == 0 { freshFor = [freshFor, page.freshFor].compactMap { $0 }.max() }
            step = walk.pageRead(page)
        }

        /// Each page may be within every limit of a document, and all of them together are too much.
        mutating func bound(at now: BootTime) {
            guard case .fetch = step else { return }
            if bytes >= limits.bytes {
                step = .gap("after page \(walk.pages) there are \(bytes) bytes and no more are read")
            } else if now >= deadline {
                step = .gap("page \(walk.pages) came after \(limits.time) and no more are read")
            }
        }
    }

    private func readPages(
        from first: Response, ask: RequestTemplate, asked: UInt64, since start: BootTime
    ) async throws(JournalError) -> PollResult {
        let isBaseline = head?.identity != source.identity
        let stored = isBaseline ? [:] : try await storedItems()
        let walk = Paginator(
            mode: source.kind.mode, url: first.url, known: isBaseline ? nil : stored,
            newest: isBaseline ? nil : head?.newest, oldest: isBaseline ? nil : head?.oldest,
            comparesDigests: head?.fingerprints == source.kind.fingerprints)
        var reading = Reading(
            walk: walk, freshFor: first.headers.freshFor, limits: limits, deadline: start.advanced(by: limits.time))
        if let failed = await readAll(&reading, from: first, ask) { return failed }
        let gap = PollReader.problem(of: reading.step)
        // An incomplete list would make absences of what was not read.
        if let gap, source.kind.mode == .list { return PollResult(.failed(.pageGap, detail: gap.detail)) }
        var items = reading.walk.items
        let followed = await follow(of: &items, ask, isPublic: reading.isPublic)
        var observation = reading.walk.observation
        observation.items = items
        // A window's first page stands for the window; a list of several pages has no body of its own.
        if source.kind.mode == .window || (reading.walk.pages == 1 && !hasUnknownNext(first)) {
            (observation.validators, observation.digest) = (first.headers.validators, first.digest)
            observation.asked = asked
        }
        var difference = await compare(observation, stored: stored)
        // A window with a gap is said and taken: failing it would fail every later poll, each with a wider gap.
        if let gap { difference.events.append(DraftEvent(.suspect, error: gap)) }
        var result = PollResult(.read(difference), freshFor: reading.freshFor)
        (result.warnings, result.links) = (reading.warnings + followed.warnings, followed.cache)
        // Over several pages items come twice because entries move while they are read.
        if reading.walk.pages == 1, reading.walk.repeats > 0 {
            let times = counted(reading.walk.repeats, "item")
            result.warnings.append("\(times) with a key that was there already; the first of each counts")
        }
        return result
    }

    /// Nil when every page was read that the walk asked for.
    private func readAll(_ reading: inout Reading, from first: Response, _ ask: RequestTemplate) async -> PollResult? {
        var response = first
        while true {
            if !response.isFromPrivate { reading.isPublic = true }
            reading.bytes += response.body.count
            let body = PageBody(
                bytes: response.body, headers: response.headers, url: response.url, number: reading.walk.pages + 1,
                receivedAt: clock.now().wall)
            response.body = []
            switch await PollReader.read(body, with: source, transformer) {
            case .failure(let error): return PollResult(error)
            case .success(let page): reading.take(page)
            }
            reading.bound(at: clock.now().boot)
            guard case .fetch(let page) = reading.step else { return nil }
            switch await fetchNext(page, ask, after: response) {
            case .failure(let error):
                var result = PollResult(error)
                result.wasAnswered = true
                return result
            case .success(let next): response = next
            }
            if let failed = failed(response) { return failed }
        }
    }

    private func fetchNext(
        _ page: NextPage, _ ask: RequestTemplate, after response: Response
    ) async -> Result<Response, FetchError> {
        do throws(FetchError) {
            let request = try requestBuilder.next(page, ask, isPublic: !response.isFromPrivate)
            return await fetched(request)
        } catch {
            return .failure(error)
        }
    }

    private static func problem(of step: Paginator.Step) -> Event.Problem? {
        guard case .gap(let detail) = step else { return nil }
        return Event.Problem(failure: Failure.pageGap.rawValue, detail: "the reading has a gap: \(detail)")
    }

    /// Off the loop: a document may be large, and a program runs for seconds.
    @concurrent
    private static func read(
        _ body: consuming PageBody, with source: Source, _ transformer: (any BodyTransformer)?
    ) async -> Result<Page, ReadError> {
        let redactor = source.server.redactor
        do throws(ReadError) {
            if let program = source.kind.shaping {
                guard let transformer else { throw ReadError(.configuration, "no program shapes documents here") }
                body.bytes = try await transformer.shape(body.bytes, with: program)
            }
            var page = try source.kind.read(&body)
            redactor?.redact(&page)
            return .success(page)
        } catch {
            return .failure(ReadError(error.failure, redactor?.redacted(error.detail) ?? error.detail))
        }
    }

    @concurrent
    func compare(_ observation: Observation, stored: [String: StoredItem]) async -> Difference {
        Differ(source: source, now: clock.now().wall, thresholds: thresholds).compare(
            head, stored: stored, with: observation)
    }
}
