// SPDX-License-Identifier: Apache-2.0

import CCurl
import Glibc
public import VedetteCore

/// Carries requests through one libcurl multi handle on one thread. Call `shutdown` at the end: until then it lives.
public actor HTTPClient: Fetcher {
    /// Idle connections kept for reuse (I8).
    private static let mostConnections = 256
    private static let mostFree = 256
    /// A poll that has brought no byte for so long gives its place in the lane to another.
    private static let silence: Int64 = 1000
    private static let watchInterval: Int64 = 250

    private nonisolated let loop: LoopExecutor
    private let multi: UnsafeMutableRawPointer
    private let share: UnsafeMutableRawPointer
    private var lanes = Lanes()
    private var lastID: Lanes.ID = 0
    private var waiting: [Lanes.ID: (hop: Hop, continuation: Transfer.Continuation)] = [:]
    private var running: [Lanes.ID: (transfer: Transfer, continuation: Transfer.Continuation)] = [:]
    private var free: [Transfer] = []
    private var jars: [String: CookieJar] = [:]
    private var watchedAt: Int64 = 0
    private var isShutDown = false
    /// The TLS policy that each origin was met with.
    private var policies: [String: TLSPolicy] = [:]
    /// Origins met with several policies: their connections are shared with nobody, since libcurl would hand a
    /// connection that was made under one pin to a transfer with another.
    private var mixed = Set<String>()

    public nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    /// The client's thread, for actors that want to share it.
    public nonisolated var executor: any SerialExecutor { loop }

    public init() throws(FetchError) {
        guard curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK, let multi = curl_multi_init(),
            let share = curl_share_init()
        else { throw FetchError(.configuration, "libcurl could not start") }
        (self.multi, self.share) = (multi, share)
        cc_share_data(share, CURL_LOCK_DATA_DNS)
        cc_share_data(share, CURL_LOCK_DATA_SSL_SESSION)
        cc_multi_set_long(multi, CURLMOPT_MAXCONNECTS, HTTPClient.mostConnections)
        loop = LoopExecutor(multi: multi)
        let started = loop.start { self.assumeIsolated { $0.drive() } }
        guard started else { throw FetchError(.configuration, "no thread could be started for the network") }
    }

    /// Ends every transfer as cancelled, closes the connections and ends the thread. Off the actor, whose jobs run on the
    /// very thread that ends here.
    public nonisolated func shutdown() async {
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
        for id in Array(waiting.keys) + Array(running.keys) { cancel(id) }
        free = []
        return Handles(multi: multi, share: share)
    }

    // MARK: A fetch

    public func fetch(_ request: Request) async throws(FetchError) -> Response {
        var hop = try firstHop(request)
        var movedTo: String?
        var isPermanent = true
        var left = request.redirects
        while true {
            let raw = try await transfer(hop)
            store(raw.headers, hop)
            guard left > 0, let target = try redirect(raw, from: hop.url) else {
                return try await HTTPClient.response(raw, hop, movedTo: movedTo)
            }
            left -= 1
            isPermanent = isPermanent && (raw.status == 301 || raw.status == 308)
            movedTo = isPermanent ? target.text : nil
            hop = hop.redirected(status: raw.status, to: target)
            if left == 0 { hop.request.redirects = 0 }
        }
    }

    private func firstHop(_ request: Request) throws(FetchError) -> Hop {
        guard let url = WebURL(request.url) else {
            throw FetchError(
                .configuration,
                "the address is no http or https URL, or it holds a user or password; write those as user and password")
        }
        for header in request.headers {
            let isToken = !header.name.isEmpty && header.name.utf8.allSatisfy { $0 > 32 && $0 < 127 && $0 != 58 }
            guard isToken, !header.value.utf8.contains(where: { $0 == 13 || $0 == 10 || $0 == 0 }) else {
                throw FetchError(
                    .configuration,
                    "the header '\(header.name.filter(\.isLetter))' has a line break or a bad name; nothing was sent")
            }
        }
        guard !request.method.isEmpty, request.method.utf8.allSatisfy({ $0 > 64 && $0 < 91 || $0 == 45 }) else {
            throw FetchError(.configuration, "the method is no HTTP method; it is written in capital letters")
        }
        return Hop(request, url)
    }

    /// Where a redirect leads; nil when the response is none.
    private func redirect(_ raw: RawResponse, from url: WebURL) throws(FetchError) -> WebURL? {
        guard [301, 302, 303, 307, 308].contains(raw.status), let location = raw.headers["Location"] else { return nil }
        guard let target = url.resolving(location) else {
            throw FetchError(.redirect, "\(url.origin) redirects to what is no http or https address")
        }
        if url.scheme == "https", target.scheme == "http" {
            throw FetchError(.redirect, "\(url.origin) redirects from https to http, which is refused")
        }
        return target
    }

    private static func response(
        _ raw: RawResponse, _ hop: Hop, movedTo: String?
    ) async throws(FetchError) -> Response {
        let isRedirect = [301, 302, 303, 307, 308].contains(raw.status) && raw.headers["Location"] != nil
        if isRedirect, movedTo != nil || hop.request.url != hop.url.text {
            throw FetchError(.redirect, "\(hop.url.origin) redirects further than allowed, or in a circle")
        }
        var response = Response(
            status: raw.status, headers: raw.headers, digest: raw.digest, url: hop.url.text, movedTo: movedTo,
            received: raw.received, elapsed: .milliseconds(raw.milliseconds))
        response.isUnchanged = raw.isKnown || (raw.status == 304 && !hop.validators.isEmpty)
        guard !response.isUnchanged else { return response }
        response.body = raw.body
        let encoding = raw.headers["Content-Encoding"]?.lowercased().trimmed() ?? ""
        if !encoding.isEmpty, encoding != "identity", !raw.body.isEmpty {
            response.body = try await inflate(raw.body, encoding: encoding, limit: hop.request.limits.inflated)
        }
        return response
    }

    /// Off the loop's thread: a large body takes long.
    @concurrent
    private static func inflate(
        _ body: [UInt8], encoding: String, limit: Int
    ) async throws(FetchError) -> [UInt8] {
        try Inflate.decode(body, encoding: encoding, limit: limit)
    }

    private func store(_ headers: ResponseHeaders, _ hop: Hop) {
        guard let session = hop.request.session, headers["Set-Cookie"] != nil else { return }
        jars[session, default: CookieJar()].store(headers, from: hop.url, now: HTTPClient.wallNow())
    }

    // MARK: A transfer

    private func transfer(_ hop: Hop) async throws(FetchError) -> RawResponse {
        if isShutDown || Task.isCancelled { throw FetchError(.cancelled, "the request was cancelled") }
        lastID += 1
        let id = lastID
        let result = await withTaskCancellationHandler {
            await withUnsafeContinuation { (continuation: Transfer.Continuation) in
                waiting[id] = (hop, continuation)
                lanes.add(id, lane: hop.request.lane, origin: hop.url.origin, group: hop.request.group)
                startWaiting()
            }
        } onCancel: {
            Task { await self.cancel(id) }
        }
        return try result.get()
    }

    private func startWaiting() {
        while let id = lanes.next() {
            guard let (hop, continuation) = waiting.removeValue(forKey: id) else { continue }
            guard let transfer = free.popLast() ?? Transfer(share: share) else {
                lanes.finished(id)
                continuation.resume(
                    returning: .failure(FetchError(.configuration, "libcurl has no memory for a transfer")))
                continue
            }
            let cookies = hop.request.session.flatMap { jars[$0]?.header(for: hop.url, now: HTTPClient.wallNow()) }
            transfer.begin(id, hop, cookies: cookies, isFresh: isMixed(hop), now: HTTPClient.now())
            running[id] = (transfer, continuation)
            curl_multi_add_handle(multi, transfer.easy)
        }
    }

    private func isMixed(_ hop: Hop) -> Bool {
        guard hop.url.scheme == "https" else { return false }
        let origin = hop.url.origin
        if let policy = policies[origin] {
            if policy != hop.request.tls { mixed.insert(origin) }
        } else {
            policies[origin] = hop.request.tls
        }
        return mixed.contains(origin)
    }

    private func cancel(_ id: Lanes.ID) {
        let error = FetchError(.cancelled, "the request was cancelled")
        if let (_, continuation) = waiting.removeValue(forKey: id) {
            _ = lanes.cancelled(id)
            continuation.resume(returning: .failure(error))
        } else if let (transfer, continuation) = running.removeValue(forKey: id) {
            release(transfer, id)
            continuation.resume(returning: .failure(error))
            startWaiting()
        }
    }

    private func release(_ transfer: Transfer, _ id: Lanes.ID) {
        curl_multi_remove_handle(multi, transfer.easy)
        lanes.finished(id)
        transfer.clear()
        if free.count < HTTPClient.mostFree, !isShutDown { free.append(transfer) }
    }

    // MARK: The loop's turn

    private func drive() -> Int32 {
        var count: Int32 = 0
        curl_multi_perform(multi, &count)
        while let message = curl_multi_info_read(multi, &count) {
            guard message.pointee.msg == CURLMSG_DONE, let easy = message.pointee.easy_handle else { continue }
            completed(easy, cc_result(message))
        }
        watch()
        startWaiting()
        return running.isEmpty ? 60_000 : Int32(HTTPClient.watchInterval)
    }

    private func completed(_ easy: UnsafeMutableRawPointer, _ code: CURLcode) {
        var user: UnsafeMutableRawPointer?
        cc_get_pointer(easy, CURLINFO_PRIVATE, &user)
        guard let user else { return }
        let transfer = Unmanaged<Transfer>.fromOpaque(user).takeUnretainedValue()
        guard let (_, continuation) = running.removeValue(forKey: transfer.id) else { return }
        let result: Result<RawResponse, FetchError> =
            if let problem = transfer.problem {
                .failure(problem)
            } else if code == CURLE_OK {
                .success(transfer.finish(now: HTTPClient.now()))
            } else {
                .failure(.of(code, easy: easy, hop: transfer.hop, hasAnswered: transfer.hasAnswered))
            }
        release(transfer, transfer.id)
        continuation.resume(returning: result)
    }

    /// Silent transfers: first they give their place to others, at the first-byte deadline they end.
    private func watch() {
        let now = HTTPClient.now()
        guard now - watchedAt >= HTTPClient.watchInterval else { return }
        watchedAt = now
        for (id, (transfer, continuation)) in running where !transfer.hasAnswered {
            let silent = now - transfer.startedAt
            guard let hop = transfer.hop, silent >= HTTPClient.silence else { continue }
            lanes.silent(id)
            guard silent >= hop.request.limits.firstByte.wholeMilliseconds else { continue }
            running[id] = nil
            release(transfer, id)
            let detail = "\(hop.url.origin) accepted the connection and did not answer in time"
            continuation.resume(returning: .failure(FetchError(.timeout, detail, timedOut: true)))
        }
    }

    private static func now() -> Int64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
    }

    /// For the expiry of cookies alone.
    private static func wallNow() -> Timestamp {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Timestamp(milliseconds: Int64(time.tv_sec) * 1000)
    }
}

/// The handles on their way to the closure that frees them, after which nobody has them.
///
/// `@unchecked Sendable`: they are used once, by the loop's thread, when no transfer is left.
private struct Handles: @unchecked Sendable {
    let multi: UnsafeMutableRawPointer
    let share: UnsafeMutableRawPointer
}
