// SPDX-License-Identifier: Apache-2.0

import CCurl
import Glibc
import Synchronization
public import VedetteCore
import VedetteSystem

/// The fetcher over one libcurl multi handle on one thread. It lives until `shutdown` is called.
public actor HTTPClient: Fetcher, MailCarrier {
    /// Idle connections kept for reuse (I8): one with TLS takes 39 KB, so all of them 80 MB.
    private static let maximumConnections: rlim_t = 2048
    /// Of connections without TLS, libcurl counts those under way towards the most that it keeps. Where there are more it closes the
    /// one that was used longest ago, which is needed next. So its bound is higher than ours by this.
    private static let maximumUnderWay = 1024
    /// Parsed URLs kept with their origins.
    private static let maximumTargets = 16_384
    /// Up to so many URLs their last hops are kept too (I8).
    private static let maximumHops = 4096
    /// A body of at most this many bytes is decoded on the loop's thread: a thread switch costs more.
    private static let maximumDecodedOnLoop = 16 << 10

    nonisolated let loop: LoopExecutor
    let transfers: Transfers
    let cookies: SessionCookies
    let tokens = OAuthTokens()
    private let handshakes = HandshakeSessions()
    private let logins: LoginSessions
    private let tokenSessions = TokenSessions()
    /// Answers to requests without a task that need one after all.
    private var followed: [RequestQueue.ID: FetchTask] = [:]
    private let environment: ProxyEnvironment
    private let isPrivate: @Sendable (IPAddress) -> Bool
    private var targets: [String: KnownTarget] = [:]

    public nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    /// The client's thread. Actors and tasks that share it fetch without a thread switch. It runs jobs until the client is
    /// deallocated, also after `shutdown`.
    public nonisolated var executor: any SerialExecutor & TaskExecutor { loop }

    /// - Parameters:
    ///   - cookies: stores the cookies of `CookiePolicy.journal`; without it they are kept in memory.
    ///   - pages: finds what a login form fills in itself; without it, forms are sent without that.
    /// - Throws: `.configuration` when libcurl or a thread cannot be started.
    public init(cookies: (any CookieStore)? = nil, pages: (any LoginPageReader)? = nil) throws(FetchError) {
        try self.init(cookies: cookies, pages: pages, environment: .own)
    }

    /// - Parameters:
    ///   - environment: the proxies of `Proxy.environment`.
    ///   - memory: bytes for response bodies, over all transfers.
    ///   - connections: how many idle ones are kept at most.
    ///   - isPrivate: which addresses count as private. Tests make public hosts of loopback addresses.
    init(
        cookies: (any CookieStore)? = nil, pages: (any LoginPageReader)? = nil, environment: ProxyEnvironment = .own,
        memory: Int = MemoryBudget.standard, connections: Int = HTTPClient.connections(),
        isPrivate: @escaping @Sendable (IPAddress) -> Bool = { $0.isPrivate }
    ) throws(FetchError) {
        (self.environment, self.isPrivate) = (environment, isPrivate)
        self.cookies = SessionCookies(cookies)
        logins = LoginSessions(self.cookies, pages)
        guard curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK, let multi = curl_multi_init(),
            let sessions = ServerCache.ofSessions()
        else { throw FetchError(.configuration, "failed to start libcurl") }
        cc_multi_set_long(multi, CURLMOPT_MAXCONNECTS, connections + HTTPClient.maximumUnderWay)
        loop = LoopExecutor(multi: multi)
        transfers = Transfers(
            loop, Transfers.MultiHandle(multi: multi), sessions, self.cookies, memory: memory,
            connections: connections, isPrivate: isPrivate)
        guard cc_resolves_in_threads() != 0 else {
            throw FetchError(
                .configuration, "this libcurl resolves names without a thread, so one slow name would stop all requests"
            )
        }
        let started = loop.start { self.assumeIsolated { $0.transfers.drive(for: self) } }
        guard started else { throw FetchError(.configuration, "failed to start the network thread") }
    }

    deinit { loop.end() }

    /// Stores pending cookies, cancels every transfer and closes the connections. A later fetch ends as cancelled.
    ///
    /// It is not isolated, since the actor's thread itself frees the libcurl handles.
    public nonisolated func shutdown() async {
        guard let handle = await endTransfers() else { return }
        await withCheckedContinuation { continuation in
            loop.stop {
                curl_multi_cleanup(handle.multi)
                continuation.resume()
            }
        }
    }

    /// - Returns: nil when the client is shut down already.
    private func endTransfers() async -> Transfers.MultiHandle? {
        await cookies.finishWrites(by: self)
        return transfers.shutDown()
    }

    /// Sleeps until the deadline on the client's thread; throws at once when the task is cancelled.
    /// - Returns: false, at once, where the caller runs on another thread: a sleep would wake both.
    public nonisolated func sleep(until deadline: BootTime) async throws(CancellationError) -> Bool {
        guard loop.isOnLoop else { return false }
        try await loop.sleep(until: deadline)
        return true
    }

    /// Returns how many idle connections are kept: at most a quarter of the descriptors that this process may have.
    static func connections() -> Int {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(UInt32(RLIMIT_NOFILE.rawValue)), &limit) == 0 else { return 64 }
        return Int(min(maximumConnections, max(64, limit.rlim_cur / 4)))
    }

    // MARK: A fetch

    public nonisolated func start(
        _ request: Request, ended: @escaping @Sendable (Result<Response, FetchError>) -> Void
    ) -> any FetchHandle {
        // On the loop's own thread most requests need no task.
        if loop.isOnLoop, let id = assumeIsolated({ $0.enqueue(request, ended) }) { return QueuedRequest(self, id) }
        return FetchTask(on: loop, ended: ended) { await self.result(of: request) }
    }

    /// Adds a request without a task to the queue; nil for a request that another one comes before, such as a login.
    private func enqueue(
        _ request: Request, _ ended: @escaping @Sendable (Result<Response, FetchError>) -> Void
    ) -> RequestQueue.ID? {
        guard !transfers.isShutDown, request.login == nil, request.handshake == nil, request.tokenLogin == nil
        else { return nil }
        if case .grant = request.credentials { return nil }
        if let session = request.session, request.cookies != .none {
            // Stored cookies must be read first.
            guard request.cookies != .journal else { return nil }
            cookies.markUsed(session)
        }
        let hop: RedirectHop
        do throws(FetchError) {
            hop = try firstHop(of: request, as: nil)
            try hop.checkReach(isPrivate)
        } catch {
            // The task finds the same error.
            return nil
        }
        // The loop starts it when the jobs of this turn have run, so `ended` is never called from here.
        let id = transfers.nextID()
        transfers.add(.request(hop) { self.deliver($0, of: hop, id, ended) }, as: id)
        return id
    }

    private func deliver(
        _ result: Result<RawResponse, FetchError>, of hop: RedirectHop, _ id: RequestQueue.ID,
        _ ended: @escaping @Sendable (Result<Response, FetchError>) -> Void
    ) {
        switch result {
        case .failure(let error): ended(.failure(error))
        case .success(let raw):
            if let response = HTTPClient.immediateResponse(raw, hop) {
                if raw.setsCookies { cookies.add(raw.headers, from: hop, by: self) }
                return ended(response)
            }
            // It needs another request or another thread, so a task.
            let answer = AnsweredHop(raw)
            followed[id] = FetchTask(on: loop, ended: ended) { await self.followed(hop, answer, id) }
        }
    }

    private func result(of request: Request) async -> Result<Response, FetchError> {
        await Result(of: { () throws(FetchError) in
            try await fetch(request) { () throws(FetchError) in try await fetchOnce(request) }
        })
    }

    /// Sends a request with the secrets as they are, after those that must come before it, such as a login.
    func fetchOnce(_ request: Request) async throws(FetchError) -> Response {
        if request.cookies != .none, let session = request.session {
            cookies.markUsed(session)
            if request.cookies == .journal { await cookies.load(of: session, by: self) }
        }
        if let login = request.login { return try await logins.fetch(request, after: login, by: self) }
        if let login = request.tokenLogin {
            return try await tokenSessions.fetch(request, after: login, by: self)
        }
        if let handshake = request.handshake {
            return try await handshakes.fetch(request, after: handshake, by: self)
        }
        // Most polls: each asynchronous call costs them a switch of their task.
        guard request.credentials != nil else { return try await followRedirects(of: request, as: nil) }
        return try await authenticated(request)
    }

    public func send(_ mail: Mail) async throws(FetchError) -> MailReply {
        try mail.validate()
        return try await result { transfers.add(.mail(mail, $1), as: $0) }
    }

    /// Sends one request, without following its redirect.
    private func transfer(_ hop: RedirectHop) async throws(FetchError) -> RawResponse {
        try await result { transfers.add(.request(hop, $1), as: $0) }
    }

    /// Waits for the result of what is added to the queue. Cancelling the task cancels that.
    private func result<Value: Sendable>(
        _ add: (RequestQueue.ID, @escaping (Result<Value, FetchError>) -> Void) -> Void
    ) async throws(FetchError) -> Value {
        let id = transfers.nextID()
        let result = await withTaskExecutorPreference(loop) {
            await withTaskCancellationHandler {
                await withUnsafeContinuation { (continuation: UnsafeContinuation<Result<Value, FetchError>, Never>) in
                    // Checked here and not earlier: a later cancellation finds it in the queue.
                    guard !Task.isCancelled else {
                        return continuation.resume(returning: .failure(HTTPClient.cancelled))
                    }
                    add(id) { continuation.resume(returning: $0) }
                    transfers.startWaiting()
                }
            } onCancel: {
                onLoop { $0.cancel(id) }
            }
        }
        return try result.get()
    }

    static var cancelled: FetchError { FetchError(.cancelled, "the request was cancelled") }

    /// Cancels a request or mail; one that has finished is left alone.
    func cancel(_ id: RequestQueue.ID) { if !transfers.cancel(id) { followed[id]?.cancel() } }

    /// Runs something on the client's thread, from any thread. It waits for none of the cooperative pool, all of which may be
    /// busy: what ends a poll may not depend on them (I7, I10).
    nonisolated func onLoop(_ work: @escaping @Sendable (isolated HTTPClient) -> Void) {
        Task(executorPreference: loop) { await work(self) }
    }

    /// Sends a request with its credentials.
    func authenticated(_ request: Request) async throws(FetchError) -> Response {
        guard case .grant(let grant) = request.credentials else {
            return try await followRedirects(of: request, as: nil)
        }
        return try await tokens.fetch(request, with: grant, by: self)
    }

    /// Sends a request and follows its redirects.
    ///
    /// - Parameter credentials: used instead of the request's own; nil uses those.
    func followRedirects(of request: Request, as credentials: Credentials?) async throws(FetchError) -> Response {
        let hop = try firstHop(of: request, as: credentials)
        try hop.checkReach(isPrivate)
        return try await follow(hop, try await transfer(hop))
    }

    private func followed(_ hop: RedirectHop, _ answer: AnsweredHop, _ id: RequestQueue.ID) async
        -> Result<Response, FetchError>
    {
        defer { followed[id] = nil }
        return await Result(of: { () throws(FetchError) in
            try await fetch(hop.request) { () throws(FetchError) in
                guard let raw = answer.take() else { throw HTTPClient.cancelled }
                return try await follow(hop, raw)
            }
        })
    }

    /// Follows the redirects of the response to a first request.
    private func follow(_ first: RedirectHop, _ response: consuming RawResponse) async throws(FetchError) -> Response {
        let request = first.request
        var hop = first
        // The body of a redirect is freed before the next request.
        var raw = response
        var movedTo: String?
        var isPermanent = true
        var left = request.redirects
        var microseconds: Int64 = 0
        while true {
            microseconds += raw.microseconds
            // A new value may replace the one that was sent.
            let sent = raw.status >= 400 ? cookies.values(for: hop) : []
            if raw.setsCookies { cookies.add(raw.headers, from: hop, by: self) }
            guard request.redirects > 0, let next = try hop.redirect(raw) else {
                var response = try await HTTPClient.response(raw, hop)
                response.movedTo = movedTo
                response.cookies = raw.status >= 400 ? sent + cookies.values(for: hop) : []
                response.elapsed = .microseconds(microseconds)
                return response
            }
            guard left > 0 else {
                throw FetchError(
                    .redirect, "\(hop.origin) redirects in a circle, or more than \(request.redirects) times")
            }
            left -= 1
            isPermanent = isPermanent && (raw.status == 301 || raw.status == 308)
            movedTo = isPermanent ? next.text : nil
            hop = try hop.redirected(status: raw.status, to: Target(next), fromPrivate: raw.isFromPrivate)
            try hop.checkReach(isPrivate)
            raw = try await transfer(hop)
        }
    }

    /// Returns the hop of the last request to the URL when this one is the same, as it is for most polls.
    private func firstHop(of request: Request, as credentials: Credentials?) throws(FetchError) -> RedirectHop {
        let known = targets[request.url]
        if let hop = known?.hop, credentials == nil, request.repeats(hop.request) { return hop }
        let target: Target
        if let known { target = known.target } else { target = try HTTPClient.target(request.url) }
        let hop = try RedirectHop(request, target, credentials ?? request.credentials, environment: environment)
        if targets.count >= HTTPClient.maximumTargets, known == nil { targets.removeAll(keepingCapacity: true) }
        // Many URLs are requested once, such as the URLs of pages.
        let isKept = known != nil && hop.isRepeatable && targets.count <= HTTPClient.maximumHops
        targets[request.url] = KnownTarget(target: target, hop: isKept ? hop : nil)
        return hop
    }

    private static func target(_ address: String) throws(FetchError) -> Target {
        guard let url = WebURL(address) else {
            throw FetchError(
                .configuration,
                "the URL is not http or https, or it contains a user or password; write those as user and password")
        }
        return Target(url)
    }

    /// Returns the final response of an answer that needs no further request and no other thread; nil for any other.
    private static func immediateResponse(_ raw: RawResponse, _ hop: RedirectHop) -> Result<Response, FetchError>? {
        let mayRedirect = hop.request.redirects > 0 && (300..<400).contains(raw.status) && raw.status != 304
        guard !mayRedirect, raw.encoding == nil || raw.body.count <= maximumDecodedOnLoop else { return nil }
        // A refusal may repeat the cookies of its session, and is followed by a request with other secrets.
        guard raw.status < 400 || (hop.session == nil && !hop.request.hasSecrets) else { return nil }
        return Result { () throws(FetchError) in try response(raw, hop, decoded: nil) }
    }

    private static func response(_ raw: RawResponse, _ hop: RedirectHop) async throws(FetchError) -> Response {
        guard let encoding = raw.encoding, raw.body.count > maximumDecodedOnLoop else {
            return try response(raw, hop, decoded: nil)
        }
        let decoded = await decodedOffLoop(raw.body, encoding, hop.request.limits.inflated, raw.memory)
        return try response(raw, hop, decoded: decoded)
    }

    /// - Parameter decoded: the body, where that was decoded already.
    private static func response(
        _ raw: RawResponse, _ hop: RedirectHop, decoded: Result<[UInt8], FetchError>?
    ) throws(FetchError) -> Response {
        if raw.status == 407, hop.proxy != nil {
            throw FetchError(.unauthorized, "the proxy requires a user and password, or other ones (407)")
        }
        let isUnchanged = raw.isKnown || (raw.status == 304 && !hop.validators.isEmpty)
        let hasBody = !isUnchanged && raw.records == nil
        var response = Response(
            status: raw.status, headers: raw.headers, body: hasBody ? try body(of: raw, hop, decoded) : [],
            digest: raw.digest, isUnchanged: isUnchanged, url: hop.url.text, received: raw.received,
            elapsed: .microseconds(raw.microseconds))
        (response.isFromPrivate, response.certificateExpires) = (raw.isFromPrivate, raw.certificateExpires)
        (response.records, response.secretsVersion) = (raw.records, raw.secretsVersion)
        response.endsWithConnection = raw.endsWithConnection
        guard hasBody else { return response }
        guard raw.memory?.complete() ?? true || raw.isBodyOptional else { throw .memory(hop.origin) }
        response.memory = raw.memory
        return response
    }

    private static func body(
        of raw: RawResponse, _ hop: RedirectHop, _ decoded: Result<[UInt8], FetchError>?
    ) throws(FetchError) -> [UInt8] {
        guard let encoding = raw.encoding, !raw.body.isEmpty else { return raw.body }
        do throws(FetchError) {
            if let decoded { return try decoded.get() }
            let limit = hop.request.limits.inflated
            return try ContentDecoder.decode(raw.body, encoding: encoding, limit: limit, memory: raw.memory)
        } catch {
            guard raw.isBodyOptional else { throw error }
            return []
        }
    }

    /// Decodes a large body on another thread, whichever executor the task prefers.
    @concurrent
    private static func decodedOffLoop(
        _ body: [UInt8], _ encoding: String, _ limit: Int, _ memory: MemoryShare?
    ) async -> Result<[UInt8], FetchError> {
        await withTaskExecutorPreference(globalConcurrentExecutor) {
            Result { () throws(FetchError) in
                try ContentDecoder.decode(body, encoding: encoding, limit: limit, memory: memory)
            }
        }
    }
}

/// The target of a URL, and the hop of the last request to it that is repeatable.
private struct KnownTarget {
    let target: Target
    let hop: RedirectHop?
}

/// An answer on its way to a task, which takes it out, so that a body has one holder.
private final class AnsweredHop: Sendable {
    private let raw: Mutex<RawResponse?>

    init(_ raw: RawResponse) { self.raw = Mutex(raw) }

    func take() -> RawResponse? { raw.withLock { $0.take() } }
}

/// A request without a task.
private struct QueuedRequest: FetchHandle {
    private let client: HTTPClient
    private let id: RequestQueue.ID

    init(_ client: HTTPClient, _ id: RequestQueue.ID) { (self.client, self.id) = (client, id) }

    func cancel() { client.onLoop { [id] in $0.cancel(id) } }
}
