// SPDX-License-Identifier: Apache-2.0

import CCurl
import VedetteCore
import VedetteSystem

/// Moves requests and mail through the queue and the multi handle to their recipients, all on the loop's thread.
final class Transfers {
    typealias Recipient = (Result<RawResponse, FetchError>) -> Void

    /// What waits in the queue.
    enum Job {
        case request(RedirectHop, Recipient)
        /// Indirect: a mail is large, and each request would be copied with as many bytes.
        indirect case mail(Mail, MailTransfer.Recipient)

        fileprivate func fail(_ error: FetchError) {
            switch self {
            case .request(_, let recipient): recipient(.failure(error))
            case .mail(_, let recipient): recipient(.failure(error))
            }
        }
    }

    /// libcurl's multi handle.
    ///
    /// `@unchecked Sendable`: only the loop's thread uses it, for transfers until `shutDown`, and then to free it.
    struct MultiHandle: @unchecked Sendable {
        let multi: UnsafeMutableRawPointer
    }

    /// A request without an answer after this time, or a mail that has not ended, gives its slot in the lane to another. In
    /// milliseconds, as all times here.
    private static let slowAfter: Int64 = 1000
    private static let timeoutCheckInterval: Int64 = 250
    /// Idle easy handles kept for reuse.
    private static let maximumFree = 256

    private let loop: LoopExecutor
    private let handle: MultiHandle
    /// For mail, and for servers without TLS.
    private let common: ServerCache
    private var caches = ServerCaches()
    private let authorities = TrustedCertificateCache()
    private let cookies: SessionCookies
    private let isPrivate: @Sendable (IPAddress) -> Bool
    let memory: MemoryBudget
    private let streams = StreamActivity()
    private var queue = RequestQueue()
    private var lastID: RequestQueue.ID = 0
    private(set) var waiting: [RequestQueue.ID: Job] = [:]
    private(set) var running: [RequestQueue.ID: (transfer: Transfer, recipient: Recipient)] = [:]
    private(set) lazy var mails = MailTransfers(multi, common, authorities) { [unowned self] in queue.finish($0) }
    private var free: [Transfer] = []
    private var reuse = ConnectionReuse()
    private var keeping: KeptConnections<ServerCaches.Server>
    private var lastTimeoutCheck: Int64 = 0
    private(set) var isShutDown = false

    /// - Parameter connections: idle connections that are kept at most.
    init(
        _ loop: LoopExecutor, _ handle: MultiHandle, _ common: ServerCache, _ cookies: SessionCookies, memory: Int,
        connections: Int, isPrivate: @escaping @Sendable (IPAddress) -> Bool
    ) {
        (self.loop, self.handle, self.common) = (loop, handle, common)
        (self.cookies, self.isPrivate) = (cookies, isPrivate)
        self.memory = MemoryBudget(limit: memory)
        keeping = KeptConnections(places: connections)
    }

    private var multi: UnsafeMutableRawPointer { handle.multi }

    /// Cancels everything. What is added later ends as cancelled.
    /// - Returns: the handle, which nothing here uses any more; nil when it was shut down already.
    func shutDown() -> MultiHandle? {
        guard !isShutDown else { return nil }
        isShutDown = true
        for id in Array(waiting.keys) + Array(running.keys) + mails.ids { cancel(id) }
        free = []
        caches.removeAll()
        return handle
    }

    func nextID() -> RequestQueue.ID {
        lastID += 1
        return lastID
    }

    /// Adds a job to the queue, which the next turn of the loop starts.
    func add(_ job: Job, as id: RequestQueue.ID) {
        guard !isShutDown else { return job.fail(HTTPClient.cancelled) }
        waiting[id] = job
        let now = KernelClock.monotonic.milliseconds
        switch job {
        case .request(let hop, _):
            queue.add(
                id, lane: hop.request.lane, origin: hop.origin, group: hop.request.group,
                originLimits: hop.request.originLimits, now: now)
        case .mail(let mail, _):
            queue.add(id, lane: .deliveries, origin: mail.server.origin, group: mail.group, now: now)
        }
    }

    /// Starts each job that may start now.
    func startWaiting() {
        guard !waiting.isEmpty else { return }
        let now = KernelClock.monotonic.milliseconds
        while let id = queue.next(now: now) {
            switch waiting.removeValue(forKey: id) {
            case .mail(let mail, let recipient): mails.start(id, mail, recipient, now: now)
            case .request(let hop, let recipient): start(id, hop, recipient, now: now)
            case nil: continue
            }
        }
    }

    private func start(_ id: RequestQueue.ID, _ hop: RedirectHop, _ recipient: @escaping Recipient, now: Int64) {
        let transfer =
            free.popLast()
            ?? Transfer(
                common: common, authorities: authorities, budget: memory, streams: streams, isPrivate: isPrivate)
        guard let transfer, let cache = cache(for: hop) else {
            queue.finish(id)
            return recipient(.failure(FetchError(.memory, "there is no memory for another transfer")))
        }
        let isSet = transfer.begin(
            id, hop, cookies: cookies.header(for: hop), on: connection(for: hop, now: now), cache: cache, now: now)
        running[id] = (transfer, recipient)
        guard isSet, curl_multi_add_handle(multi, transfer.easy) == CURLM_OK else {
            let detail = "libcurl refused an option of the request to \(hop.origin); nothing was sent"
            return end(id, .failure(FetchError(.configuration, detail)))
        }
    }

    private func connection(for hop: RedirectHop, now: Int64) -> ConnectionUse {
        // One that is used once takes no place from those that are kept.
        guard !hop.request.inspectsConnection, !reuse.needsOwnConnection(to: hop.server, now: now) else { return .own }
        return keeping.began(hop.cacheName, now: now) ? .kept : .last
    }

    /// Notes the end of a transfer whose beginning `keeping` knows.
    private func leftConnection(_ transfer: Transfer) {
        guard transfer.connection != .own, let server = transfer.hop?.cacheName else { return }
        keeping.ended(
            server, keepAlive: transfer.keepAlive, closes: transfer.closes, now: KernelClock.monotonic.milliseconds)
    }

    /// - Returns: nil when there is no memory.
    private func cache(for hop: RedirectHop) -> ServerCache? {
        guard hop.url.scheme == "https" else { return common }
        return caches.cache(of: hop.cacheName, TLSFileVersions(of: hop.tls, authorities))
    }

    /// Cancels a request or mail; one that has finished is left alone.
    /// - Returns: false when there is none.
    @discardableResult
    func cancel(_ id: RequestQueue.ID) -> Bool {
        if let job = waiting.removeValue(forKey: id) {
            queue.cancel(id)
            job.fail(HTTPClient.cancelled)
            return true
        }
        guard running[id] != nil || mails.cancel(id) else { return false }
        end(id, .failure(HTTPClient.cancelled))
        startWaiting()
        return true
    }

    /// Ends a transfer. The caller of a stream that is open learns it from its records.
    private func end(_ id: RequestQueue.ID, _ result: Result<RawResponse, FetchError>) {
        guard let (transfer, recipient) = running.removeValue(forKey: id) else { return }
        curl_multi_remove_handle(multi, transfer.easy)
        queue.finish(id)
        leftConnection(transfer)
        let open = transfer.stream.flatMap { $0.isOpen ? $0 : nil }
        // It may have waited on a connection that leads nowhere any more. libcurl closes that for HTTP/1.1 alone; one with HTTP/2
        // would be used until TCP gives up, after a quarter of an hour.
        if case .failure(let error) = result, error.failure == .timeout, let server = transfer.hop?.cacheName {
            caches.remove(server, where: transfer.cache)
        }
        transfer.reset()
        if free.count < Self.maximumFree, !isShutDown { free.append(transfer) }
        if let open { open.buffer.finish(result.map { _ in }) } else { recipient(result) }
    }

    // MARK: One turn of the loop

    /// Drives all transfers as far as they can go without waiting.
    ///
    /// - Returns: how long the loop may sleep, in milliseconds.
    func drive(for client: HTTPClient) -> Int32 {
        var count: Int32 = 0
        curl_multi_perform(multi, &count)
        openStreams(of: client)
        while let message = curl_multi_info_read(multi, &count) {
            guard message.pointee.msg == CURLMSG_DONE, let easy = message.pointee.easy_handle else { continue }
            completed(easy, cc_result(message))
        }
        dropEvicted()
        let unused = keeping.sweep(now: KernelClock.monotonic.milliseconds)
        for server in unused.servers { caches.remove(server) }
        mails.advance()
        checkTimeouts()
        startWaiting()
        let isBusy = decodeStreams()
        loop.extraSockets = mails.pollEntries
        if isBusy || unused.hasMore { return 0 }
        let longest: Int64 = running.isEmpty && mails.isEmpty ? 60_000 : Self.timeoutCheckInterval
        // A request cancelled while its origin is rate-limited stays queued, but must not shorten the sleep.
        guard !waiting.isEmpty, let start = queue.nextStart else { return Int32(longest) }
        return Int32(min(longest, max(1, start - KernelClock.monotonic.milliseconds)))
    }

    /// Handles a transfer that libcurl has finished.
    private func completed(_ easy: UnsafeMutableRawPointer, _ code: CURLcode) {
        var user: UnsafeMutableRawPointer?
        cc_get_pointer(easy, CURLINFO_PRIVATE, &user)
        guard let user else { return mails.connected(easy, code) }
        let transfer = Unmanaged<Transfer>.fromOpaque(user).takeUnretainedValue()
        if let problem = transfer.problem {
            end(transfer.id, .failure(problem))
        } else if let stream = transfer.stream, code == CURLE_OK {
            stream.ended()
            end(transfer.id, .success(transfer.takeHead()))
        } else if (code == CURLE_OK && transfer.hasHead) || transfer.isSettled {
            end(transfer.id, .success(transfer.takeResponse()))
        } else {
            failed(transfer, code)
        }
    }

    /// Ends a transfer that failed, or sends its request once more.
    private func failed(_ transfer: Transfer, _ code: CURLcode) {
        let now = KernelClock.monotonic.milliseconds
        let error = FetchError.of(code, transfer, now: now)
        let mayRetry = transfer.mayRetry(after: code)
        if let hop = transfer.hop, transfer.isUnclean(after: code) { reuse.foundUnclean(hop.server, now: now) }
        if mayRetry, restart(transfer) { return }
        end(transfer.id, .failure(error))
    }

    /// - Returns: false when libcurl does not accept the handle again.
    private func restart(_ transfer: Transfer) -> Bool {
        curl_multi_remove_handle(multi, transfer.easy)
        leftConnection(transfer)
        let isSet = transfer.beginAgain(cookies: transfer.hop.flatMap(cookies.header))
        return isSet && curl_multi_add_handle(multi, transfer.easy) == CURLM_OK
    }

    /// Ends the transfers whose memory another body needed.
    private func dropEvicted() {
        let evicted = memory.takeEvicted()
        guard !evicted.isEmpty else { return }
        for (transfer, _) in running.values where transfer.memory.map({ evicted.contains($0.id) }) ?? false {
            cutShort(transfer, .memory(transfer.hop?.origin ?? "the server"))
        }
    }

    /// Marks requests and mails that are slow, and ends transfers whose time is over.
    private func checkTimeouts() {
        let now = KernelClock.monotonic.milliseconds
        guard now - lastTimeoutCheck >= Self.timeoutCheckInterval else { return }
        lastTimeoutCheck = now
        mails.checkTimeouts(now: now)
        for id in mails.ids(startedBy: now - Self.slowAfter) { queue.markSlow(id) }
        for (id, (transfer, _)) in running {
            if !transfer.hasAnswered, now - transfer.startedAt >= Self.slowAfter { queue.markSlow(id) }
            if let error = transfer.timeoutError(now: now, origin: transfer.hop?.origin ?? "the server") {
                cutShort(transfer, error)
            }
        }
    }

    /// Ends a transfer with what has arrived where that suffices, else with an error.
    private func cutShort(_ transfer: Transfer, _ error: FetchError) {
        end(transfer.id, transfer.isSettled ? .success(transfer.takeResponse()) : .failure(error))
    }

    // MARK: Streams

    /// Hands over the responses whose records began to arrive.
    private func openStreams(of client: HTTPClient) {
        guard !streams.opened.isEmpty else { return }
        let opened = streams.opened
        streams.opened = []
        for id in opened {
            guard let (transfer, recipient) = running[id], let stream = transfer.stream, !stream.isOpen else {
                continue
            }
            stream.isOpen = true
            var response = transfer.takeHead()
            response.records = HTTPRecordStream(stream.buffer, client, id)
            recipient(.success(response))
        }
    }

    /// Lets a stream go on whose reader has caught up.
    func goOn(_ id: RequestQueue.ID) {
        guard let (transfer, _) = running[id], transfer.stream != nil else { return }
        if let problem = transfer.goOn(now: KernelClock.monotonic.milliseconds) { end(id, .failure(problem)) }
    }

    /// Decompresses what waits in streams.
    /// - Returns: whether there is more to do at once.
    private func decodeStreams() -> Bool {
        guard !streams.undecoded.isEmpty else { return false }
        var isBusy = false
        for id in streams.undecoded {
            if running[id]?.transfer.stream?.hasWork == true { goOn(id) }
            let stream = running[id]?.transfer.stream
            if stream?.hasInput != true { streams.undecoded.remove(id) }
            isBusy = isBusy || stream?.hasWork == true
        }
        return isBusy
    }
}
