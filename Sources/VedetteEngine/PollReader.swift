// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// What one poll brought.
enum PollResult: Sendable {
    /// The same body as last time: the items stand, absences are confirmed.
    case unchanged(Validators, freshFor: Duration?)
    case read(Difference, warnings: [String], freshFor: Duration?)
    case failed(Failure, detail: String, retryAfter: Duration?, timedOut: Bool)
    case cancelled
}

/// Reads one source once: every page, each fetched and read in turn, then the difference from the snapshot.
struct PollReader: Sendable {
    let source: Source
    let head: SnapshotHead?
    let fetcher: any Fetcher
    let clock: any Clock
    let lane: Lane
    let userAgent: String
    /// The snapshot's items, asked for only when the body changed.
    let storedItems: @Sendable () async throws(JournalError) -> [String: StoredItem]

    func read() async throws(JournalError) -> PollResult {
        let ask = source.kind.request(base: source.url, context: PollContext(newest: usableHead?.newest))
        var request = request(for: ask)
        if let head = usableHead {
            request.knownDigest = head.digest
            if head.digest != nil { request.validators = head.validators }
        }
        let response: Response
        do throws(FetchError) {
            response = try await fetcher.fetch(request)
        } catch {
            return PollReader.result(of: error)
        }
        if response.isUnchanged {
            guard usableHead != nil else {
                let detail = "the server answered 'not modified' to a request that set no condition"
                return .failed(.protocol, detail: detail, retryAfter: nil, timedOut: false)
            }
            return .unchanged(response.headers.validators, freshFor: response.headers.freshFor)
        }
        if let failed = failed(response) { return failed }
        return try await readPages(from: response, ask: ask)
    }

    /// The snapshot's head, unless the source reads other items now.
    private var usableHead: SnapshotHead? {
        // A field that is read with other options must be read anew, even from an unchanged body.
        guard let head, head.identity == source.identity, head.fingerprints == source.kind.fingerprints else {
            return nil
        }
        return head
    }

    private func request(for ask: Ask) -> Request {
        let server = source.server
        var headers = ask.headers.filter { asked in
            !server.headers.contains { $0.name.lowercased() == asked.name.lowercased() }
        }
        headers += server.headers
        if let agent = server.userAgent {
            headers.removeAll { $0.name.lowercased() == "user-agent" }
            headers.append(Header("User-Agent", agent))
        } else if !headers.contains(where: { $0.name.lowercased() == "user-agent" }) {
            headers.append(Header("User-Agent", userAgent))
        }
        return Request(
            method: ask.method, url: ask.url, headers: headers, body: ask.body, credentials: server.credentials,
            tls: server.tls, session: server.name.isEmpty ? "source " + source.name : server.name, lane: lane)
    }

    private func failed(_ response: Response) -> PollResult? {
        let retryAfter = response.headers.retryAfter(at: clock.now().wall)
        if let failure = Failure(status: response.status) {
            let detail = PollReader.sentence(status: response.status, failure)
            return .failed(failure, detail: detail, retryAfter: retryAfter, timedOut: false)
        }
        guard response.body.isEmpty else { return nil }
        let detail =
            "the answer was \(response.status) with an empty body; a server may do so for a User-Agent that it does not know"
        return .failed(.empty, detail: detail, retryAfter: retryAfter, timedOut: false)
    }

    private func readPages(from first: Response, ask: Ask) async throws(JournalError) -> PollResult {
        let stored = head?.identity == source.identity ? try await storedItems() : [:]
        let isBaseline = head?.identity != source.identity
        var walk = PageWalk(
            mode: source.kind.mode, url: first.url, known: isBaseline ? nil : stored,
            newest: isBaseline ? nil : head?.newest, oldest: isBaseline ? nil : head?.oldest,
            comparesDigests: head?.fingerprints == source.kind.fingerprints)
        var response = first
        var warnings: [String] = []
        var freshFor = first.headers.freshFor
        while true {
            let body = PageBody(
                bytes: response.body, headers: response.headers, url: response.url, number: walk.pages + 1)
            response.body = []
            let page: Page
            do throws(ReadError) {
                page = try await PollReader.read(body, with: source.kind)
            } catch {
                return .failed(error.failure, detail: error.detail, retryAfter: nil, timedOut: false)
            }
            warnings += page.warnings
            if walk.pages == 0 { freshFor = [freshFor, page.freshFor].compactMap { $0 }.max() }
            let step = walk.pageRead(page)
            if case .fetch(let page) = step {
                do throws(FetchError) {
                    response = try await fetcher.fetch(try self.request(for: ask, next: page))
                } catch {
                    return PollReader.result(of: error)
                }
                if let failed = failed(response) { return failed }
                continue
            }
            let gap = PollReader.problem(of: step)
            // An incomplete list would make absences of what was not read.
            if let gap, source.kind.mode == .list {
                return .failed(.pageGap, detail: gap.detail, retryAfter: nil, timedOut: false)
            }
            var difference = await PollReader.compare(
                source, head, stored: stored, observation(of: walk, first: first), at: clock.now().wall)
            // A window with a gap is said and taken: failing it would fail every later poll, each with a wider gap.
            if let gap { difference.events.append(EventSketch(.suspect, error: gap)) }
            return .read(difference, warnings: warnings, freshFor: freshFor)
        }
    }

    private static func problem(of step: PageWalk.Step) -> Event.Problem? {
        guard case .gap(let detail) = step else { return nil }
        return Event.Problem(failure: Failure.pageGap.rawValue, detail: "the reading has a gap: \(detail)")
    }

    /// A next page's address is the server's word: what was given for one origin goes to no other (I9).
    private func request(for ask: Ask, next page: NextPage) throws(FetchError) -> Request {
        var next = request(for: ask)
        next.url = page.url
        if let body = page.body { next.body = body }
        guard let from = WebURL(source.url), let to = WebURL(page.url), from.origin != to.origin else { return next }
        if from.scheme == "https", to.scheme != "https" {
            throw FetchError(.redirect, "the next page leads from https to http; it is not followed")
        }
        let own = source.server.headers.map { $0.name.lowercased() }
        next.headers.removeAll {
            $0.isSecret || (own.contains($0.name.lowercased()) && $0.name.lowercased() != "user-agent")
        }
        (next.credentials, next.session, next.tls) = (nil, nil, TLSPolicy())
        return next
    }

    /// A window's first page stands for the window; a list of several pages has no body of its own.
    private func observation(of walk: PageWalk, first: Response) -> Observation {
        let stands = source.kind.mode == .window || walk.pages == 1
        return Observation(
            items: walk.items, mode: source.kind.mode, validators: stands ? first.headers.validators : .init(),
            digest: stands ? first.digest : nil)
    }

    @concurrent
    private static func read(_ body: consuming PageBody, with kind: any SourceKind) async throws(ReadError) -> Page {
        try kind.read(&body)
    }

    @concurrent
    private static func compare(
        _ source: Source, _ head: SnapshotHead?, stored: [String: StoredItem], _ observation: Observation,
        at now: Timestamp
    ) async -> Difference {
        Differ(source: source, now: now).compare(head, stored: stored, with: observation)
    }

    private static func result(of error: FetchError) -> PollResult {
        error.failure == .cancelled
            ? .cancelled
            : .failed(error.failure, detail: error.detail, retryAfter: nil, timedOut: error.timedOut)
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
