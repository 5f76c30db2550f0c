// SPDX-License-Identifier: Apache-2.0

import CCurl
public import VedetteCore

/// Carries requests through one libcurl multi handle on one thread. Call `shutdown` at the end: until then it lives.
public actor HTTPClient: Fetcher {
    /// Idle connections kept for reuse (I8).
    private static let mostConnections = 256
    /// Addresses remembered with their origins.
    private static let mostTargets = 16_384
    /// A body that is not longer inflates on the loop's thread: that is cheaper than to leave it.
    private static let inflatedHere = 16 << 10

    nonisolated let loop: LoopExecutor
    let multi: UnsafeMutableRawPointer
    let share: UnsafeMutableRawPointer
    var lanes = RequestQueue()
    var lastID: RequestQueue.ID = 0
    var waiting: [RequestQueue.ID: (hop: RedirectHop, continuation: Transfer.Continuation)] = [:]
    var running: [RequestQueue.ID: (transfer: Transfer, continuation: Transfer.Continuation)] = [:]
    var free: [Transfer] = []
    var waitingMails: [RequestQueue.ID: (mail: Mail, continuation: MailTransfer.Continuation)] = [:]
    var mails: [RequestQueue.ID: MailTransfer] = [:]
    var jars: [String: CookieJar] = [:]
    var sessions = SessionCache()
    var watchedAt: Int64 = 0
    var isShutDown = false
    var pins = PinRegistry()
    var tokens = OAuthTokenCache()
    var tokenRequests: [GrantKey: TokenRequest] = [:]
    /// Sessions whose cookies are kept: what was kept is in `jars` once its task has ended.
    var kept: [String: Task<Void, Never>] = [:]
    /// Jars that are being written.
    var writers: [String: Task<Void, Never>] = [:]
    let cookieStore: (any CookieStore)?
    let memory: MemoryBudget
    private let environment: ProxyEnvironment
    nonisolated let isPrivate: @Sendable (IPAddress) -> Bool
    private var targets: [String: Target] = [:]

    public nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    /// The client's thread, for actors and tasks that want to share it: they fetch without a thread switch. It runs
    /// jobs until the client is gone, also after `shutdown`.
    public nonisolated var executor: any SerialExecutor & TaskExecutor { loop }

    /// - Parameter cookies: where the cookies of `CookiePolicy.journal` are kept; without it they live in memory.
    /// - Throws: `.configuration` when libcurl or a thread cannot be had.
    public init(cookies: (any CookieStore)? = nil) throws(FetchError) {
        try self.init(cookies: cookies, isPrivate: { $0.isPrivate })
    }

    /// - Parameter isPrivate: which addresses a stranger must not lead to; another answer makes a public host of
    ///   loopback.
    init(
        cookies: (any CookieStore)? = nil, environment: ProxyEnvironment = .own, memory: Int = MemoryBudget.standard,
        isPrivate: @escaping @Sendable (IPAddress) -> Bool = { $0.isPrivate }
    ) throws(FetchError) {
        (cookieStore, self.environment, self.isPrivate) = (cookies, environment, isPrivate)
        self.memory = MemoryBudget(limit: memory)
        guard curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK, let multi = curl_multi_init(),
            let share = curl_share_init()
        else { throw FetchError(.configuration, "libcurl could not start") }
        (self.multi, self.share) = (multi, share)
        cc_share_data(share, CURL_LOCK_DATA_DNS)
        cc_share_data(share, CURL_LOCK_DATA_SSL_SESSION)
        cc_multi_set_long(multi, CURLMOPT_MAXCONNECTS, HTTPClient.mostConnections)
        loop = LoopExecutor(multi: multi)
        guard cc_resolves_in_threads() != 0 else {
            throw FetchError(
                .configuration, "this libcurl resolves names in the foreground; one slow name would stop all")
        }
        let started = loop.start { self.assumeIsolated { $0.drive() } }
        guard started else { throw FetchError(.configuration, "no thread could be started for the network") }
    }

    deinit { loop.end() }

    /// Ends every transfer as cancelled and closes the connections; a fetch that comes later is cancelled too. Cookies
    /// that are kept are written first. Off the actor, whose jobs run on the very thread that lets go of libcurl here.
    public nonisolated func shutdown() async {
        await finishWriting()
        guard let handles = await endTransfers() else { return }
        await withCheckedContinuation { continuation in
            loop.stop {
                curl_multi_cleanup(handles.multi)
                curl_share_cleanup(handles.share)
                continuation.resume()
            }
        }
    }

    private func endTransfers() -> Handles? {
        guard !isShutDown else { return nil }
        isShutDown = true
        let mailIDs = Array(waitingMails.keys) + Array(mails.keys)
        for id in Array(waiting.keys) + Array(running.keys) + mailIDs { cancel(id) }
        free = []
        return Handles(multi: multi, share: share)
    }

    // MARK: A fetch

    public func fetch(_ request: Request) async throws(FetchError) -> Response {
        if request.cookies != .none, let session = request.session {
            use(session, now: SystemTime.monotonic())
            if request.cookies == .journal { await takeUp(session) }
        }
        guard case .grant(let grant) = request.credentials else { return try await walk(request, as: nil) }
        return try await fetch(request, with: grant)
    }

    /// Asks, and follows redirects.
    ///
    /// - Parameter credentials: instead of the request's own.
    func walk(_ request: Request, as credentials: Credentials?) async throws(FetchError) -> Response {
        var hop = try RedirectHop(
            request, target(request.url), credentials ?? request.credentials, environment: environment)
        var movedTo: String?
        var isPermanent = true
        var left = request.redirects
        var microseconds: Int64 = 0
        while true {
            try hop.checkReach(isPrivate)
            let raw = try await transfer(hop)
            microseconds += raw.microseconds
            if raw.setsCookies, let session = hop.session { store(raw.headers, from: hop, in: session) }
            guard request.redirects > 0, let next = try hop.redirect(raw) else {
                var response = try await HTTPClient.response(raw, hop, limit: request.limits.inflated)
                response.movedTo = movedTo
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
        }
    }

    private func target(_ address: String) throws(FetchError) -> Target {
        if let known = targets[address] { return known }
        guard let url = WebURL(address) else {
            throw FetchError(
                .configuration,
                "the address is no http or https URL, or it holds a user or password; write those as user and password")
        }
        if targets.count >= HTTPClient.mostTargets { targets.removeAll(keepingCapacity: true) }
        let target = Target(url)
        targets[address] = target
        return target
    }

    private static func response(_ raw: RawResponse, _ hop: RedirectHop, limit: Int) async throws(FetchError)
        -> Response
    {
        var response = Response(
            status: raw.status, headers: raw.headers, digest: raw.digest, url: hop.url.text, received: raw.received)
        (response.isFromPrivate, response.certificateExpires) = (raw.isFromPrivate, raw.certificateExpires)
        if raw.status == 407, hop.proxy != nil {
            throw FetchError(.unauthorized, "the proxy wants a user and a password, or others (407)")
        }
        response.isUnchanged = raw.isKnown || (raw.status == 304 && !hop.validators.isEmpty)
        guard !response.isUnchanged else { return response }
        response.body = raw.body
        if let encoding = raw.encoding, !raw.body.isEmpty {
            do throws(FetchError) {
                response.body = try await inflated(raw.body, encoding, limit, raw.memory)
            } catch {
                guard raw.isBodyOptional else { throw error }
                response.body = []
            }
        }
        guard raw.memory?.complete() ?? true || raw.isBodyOptional else { throw .memory(hop.origin) }
        response.memory = raw.memory
        return response
    }

    /// A large body inflates off the loop's thread, whatever the task prefers.
    private static func inflated(
        _ body: [UInt8], _ encoding: String, _ limit: Int, _ memory: MemoryShare?
    ) async throws(FetchError) -> [UInt8] {
        guard body.count > inflatedHere else {
            return try ContentDecoder.decode(body, encoding: encoding, limit: limit, memory: memory)
        }
        let result = await withTaskExecutorPreference(globalConcurrentExecutor) {
            await inflateElsewhere(body, encoding, limit, memory)
        }
        return try result.get()
    }

    @concurrent
    private static func inflateElsewhere(
        _ body: [UInt8], _ encoding: String, _ limit: Int, _ memory: MemoryShare?
    ) async -> Result<[UInt8], FetchError> {
        Result { () throws(FetchError) in
            try ContentDecoder.decode(body, encoding: encoding, limit: limit, memory: memory)
        }
    }
}

/// The handles on their way to the closure that frees them, after which nobody has them.
///
/// `@unchecked Sendable`: they are used once, by the loop's thread, when no transfer is left.
private struct Handles: @unchecked Sendable {
    let multi: UnsafeMutableRawPointer
    let share: UnsafeMutableRawPointer
}
