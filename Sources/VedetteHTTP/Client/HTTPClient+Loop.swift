// SPDX-License-Identifier: Apache-2.0

import CCurl
import VedetteCore
import VedetteSystem

/// Moves requests through the queue and the multi handle to their recipients, all on the loop's thread. One without a task
/// costs least: the thread calls back when its response is there.
extension HTTPClient {
    /// The recipient of a request's result.
    enum Recipient {
        case task(Transfer.Continuation)
        case callback(RedirectHop, @Sendable (Result<Response, FetchError>) -> Void)
    }

    /// A poll without an answer after this time gives its slot in the lane to another. In milliseconds, as all times here.
    private static let slowAfter: Int64 = 1000
    private static let timeoutCheckInterval: Int64 = 250
    /// Idle easy handles kept for reuse.
    private static let maximumFree = 256

    static var cancelled: FetchError { FetchError(.cancelled, "the request was cancelled") }

    /// Sends one request, without following its redirect.
    func transfer(_ hop: RedirectHop) async throws(FetchError) -> RawResponse {
        lastID += 1
        let id = lastID
        let result = await withTaskExecutorPreference(loop) {
            await withTaskCancellationHandler {
                await withUnsafeContinuation { (continuation: Transfer.Continuation) in
                    // Checked here and not earlier: a later cancellation finds the request in `waiting`.
                    guard !isShutDown, !Task.isCancelled else {
                        return continuation.resume(returning: .failure(HTTPClient.cancelled))
                    }
                    add(hop, .task(continuation), as: id)
                    startWaiting()
                }
            } onCancel: {
                onLoop { $0.cancel(id) }
            }
        }
        return try result.get()
    }

    /// Adds a request without a task to the queue; nil for a request that another one comes before, such as a login.
    func enqueue(
        _ request: Request, _ ended: @escaping @Sendable (Result<Response, FetchError>) -> Void
    ) -> RequestQueue.ID? {
        guard !isShutDown, request.login == nil, request.handshake == nil else { return nil }
        if case .grant = request.credentials { return nil }
        if let session = request.session, request.cookies != .none {
            // Stored cookies must be read first.
            guard request.cookies != .journal else { return nil }
            markUsed(session, now: KernelClock.monotonic.milliseconds)
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
        lastID += 1
        add(hop, .callback(hop, ended), as: lastID)
        return lastID
    }

    /// Adds a request to the queue.
    func add(_ hop: RedirectHop, _ recipient: Recipient, as id: RequestQueue.ID) {
        waiting[id] = (hop, recipient)
        queue.add(
            id, lane: hop.request.lane, origin: hop.origin, group: hop.request.group,
            originLimits: hop.request.originLimits, now: KernelClock.monotonic.milliseconds)
    }

    /// Starts each waiting request that may start now.
    func startWaiting() {
        guard !waiting.isEmpty || !waitingMails.isEmpty else { return }
        let now = KernelClock.monotonic.milliseconds
        while let id = queue.next(now: now) {
            if startMail(id, now: now) { continue }
            guard let (hop, recipient) = waiting.removeValue(forKey: id) else { continue }
            guard let transfer = free.popLast() ?? makeTransfer() else {
                queue.finish(id)
                deliver(.failure(FetchError(.memory, "there is no memory for another transfer")), of: id, to: recipient)
                continue
            }
            let isFresh = reuse.needsOwnConnection(hop.tls.pin, at: hop.origin, over: hop.server, now: now)
            let isSet = transfer.begin(id, hop, cookies: cookies(for: hop), isFresh: isFresh, now: now)
            running[id] = (transfer, recipient)
            guard isSet, curl_multi_add_handle(multi, transfer.easy) == CURLM_OK else {
                let detail = "libcurl refused an option of the request to \(hop.origin); nothing was sent"
                end(id, .failure(FetchError(.configuration, detail)))
                continue
            }
        }
    }

    private func cookies(for hop: RedirectHop) -> String? {
        hop.session.flatMap {
            jars[$0]?.header(for: hop.url, now: Timestamp(milliseconds: KernelClock.wall.milliseconds))
        }
    }

    private func makeTransfer() -> Transfer? {
        Transfer(share: share, budget: memory, streams: streams, isPrivate: isPrivate)
    }

    /// Cancels a request or mail; one that has finished is left alone.
    func cancel(_ id: RequestQueue.ID) {
        if let (_, recipient) = waiting.removeValue(forKey: id) {
            queue.cancel(id)
            deliver(.failure(HTTPClient.cancelled), of: id, to: recipient)
        } else if running[id] != nil {
            end(id, .failure(HTTPClient.cancelled))
            startWaiting()
        } else if cancelMail(id) {
            startWaiting()
        } else {
            cancelFollowed(id)
        }
    }

    /// Ends a transfer. The caller of a stream that is open learns it from its records.
    func end(_ id: RequestQueue.ID, _ result: Result<RawResponse, FetchError>) {
        guard let (transfer, recipient) = running.removeValue(forKey: id) else { return }
        curl_multi_remove_handle(multi, transfer.easy)
        queue.finish(id)
        let open = transfer.stream.flatMap { $0.isOpen ? $0 : nil }
        transfer.reset()
        if free.count < HTTPClient.maximumFree, !isShutDown { free.append(transfer) }
        if let open { open.buffer.finish(result.map { _ in }) } else { deliver(result, of: id, to: recipient) }
    }

    /// Delivers a result to its recipient.
    func deliver(_ result: Result<RawResponse, FetchError>, of id: RequestQueue.ID, to recipient: Recipient) {
        switch (recipient, result) {
        case (.task(let continuation), _): continuation.resume(returning: result)
        case (.callback(_, let ended), .failure(let error)): ended(.failure(error))
        case (.callback(let hop, let ended), .success(let raw)):
            guard let response = HTTPClient.immediateResponse(raw, hop) else { return follow(hop, raw, id, ended) }
            if raw.setsCookies, let session = hop.session { store(raw.headers, from: hop, in: session) }
            ended(response)
        }
    }

    /// Runs something on the client's thread, from any thread. It waits for none of the cooperative pool, all of which may be
    /// busy: what ends a poll may not depend on them (I7, I10).
    nonisolated func onLoop(_ work: @escaping @Sendable (isolated HTTPClient) -> Void) {
        Task(executorPreference: loop) { await work(self) }
    }

    // MARK: One turn of the loop

    /// Drives all transfers as far as they can go without waiting.
    ///
    /// - Returns: how long the loop may sleep, in milliseconds.
    func drive() -> Int32 {
        var count: Int32 = 0
        curl_multi_perform(multi, &count)
        openStreams()
        while let message = curl_multi_info_read(multi, &count) {
            guard message.pointee.msg == CURLMSG_DONE, let easy = message.pointee.easy_handle else { continue }
            completed(easy, cc_result(message))
        }
        dropEvicted()
        advanceMails()
        checkTimeouts()
        startWaiting()
        let isBusy = decodeStreams()
        loop.extraSockets = mails.isEmpty ? [] : mails.values.compactMap(\.pollEntry)
        if isBusy { return 0 }
        let longest: Int64 = running.isEmpty && mails.isEmpty ? 60_000 : HTTPClient.timeoutCheckInterval
        // A request cancelled while its origin is rate-limited stays queued, but must not shorten the sleep.
        guard !waiting.isEmpty || !waitingMails.isEmpty, let start = queue.nextStart else { return Int32(longest) }
        return Int32(min(longest, max(1, start - KernelClock.monotonic.milliseconds)))
    }

    /// Handles a transfer that libcurl has finished.
    private func completed(_ easy: UnsafeMutableRawPointer, _ code: CURLcode) {
        var user: UnsafeMutableRawPointer?
        cc_get_pointer(easy, CURLINFO_PRIVATE, &user)
        guard let user else {
            mailConnected(easy, code)
            return
        }
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

    /// Ends the transfers whose memory another body needed.
    private func dropEvicted() {
        let evicted = memory.takeEvicted()
        guard !evicted.isEmpty else { return }
        for (id, (transfer, _)) in running where transfer.memory.map({ evicted.contains($0.id) }) ?? false {
            let error = FetchError.memory(transfer.hop?.origin ?? "the server")
            end(id, transfer.isSettled ? .success(transfer.takeResponse()) : .failure(error))
        }
    }

    /// - Returns: false when libcurl does not accept the handle again.
    private func restart(_ transfer: Transfer) -> Bool {
        curl_multi_remove_handle(multi, transfer.easy)
        let isSet = transfer.beginAgain(cookies: transfer.hop.flatMap(cookies(for:)))
        return isSet && curl_multi_add_handle(multi, transfer.easy) == CURLM_OK
    }

    /// Marks polls that are slow to answer, and ends transfers whose time is over.
    private func checkTimeouts() {
        let now = KernelClock.monotonic.milliseconds
        guard now - lastTimeoutCheck >= HTTPClient.timeoutCheckInterval else { return }
        lastTimeoutCheck = now
        checkMailTimeouts(now: now)
        for (id, (transfer, _)) in running {
            if !transfer.hasAnswered, now - transfer.startedAt >= HTTPClient.slowAfter { queue.markSlow(id) }
            if let error = transfer.timeoutError(now: now, origin: transfer.hop?.origin ?? "the server") {
                end(id, transfer.isSettled ? .success(transfer.takeResponse()) : .failure(error))
            }
        }
    }
}

/// A request without a task.
struct QueuedRequest: FetchHandle {
    private let client: HTTPClient
    private let id: RequestQueue.ID

    init(_ client: HTTPClient, _ id: RequestQueue.ID) { (self.client, self.id) = (client, id) }

    func cancel() { client.onLoop { [id] in $0.cancel(id) } }
}
