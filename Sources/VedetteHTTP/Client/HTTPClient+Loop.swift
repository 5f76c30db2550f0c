// SPDX-License-Identifier: Apache-2.0

import CCurl
import VedetteCore

/// Transfers: from the lanes into the multi handle and out again, all on the loop's thread.
extension HTTPClient {
    /// A poll that has brought no byte for so long gives its place in the lane to another.
    private static let silence: Int64 = 1000
    private static let watchInterval: Int64 = 250
    private static let mostFree = 256

    static var cancelled: FetchError { FetchError(.cancelled, "the request was cancelled") }

    func transfer(_ hop: RedirectHop) async throws(FetchError) -> RawResponse {
        lastID += 1
        let id = lastID
        let result = await withTaskExecutorPreference(loop) {
            await withTaskCancellationHandler {
                await withUnsafeContinuation { (continuation: Transfer.Continuation) in
                    // Asked here and not before: a cancellation that comes later finds the request in `waiting`.
                    guard !isShutDown, !Task.isCancelled else {
                        return continuation.resume(returning: .failure(HTTPClient.cancelled))
                    }
                    waiting[id] = (hop, continuation)
                    lanes.add(
                        id, lane: hop.request.lane, origin: hop.origin, group: hop.request.group,
                        originLimits: hop.request.originLimits, now: SystemTime.monotonic())
                    startWaiting()
                }
            } onCancel: {
                Task { await self.cancel(id) }
            }
        }
        return try result.get()
    }

    func startWaiting() {
        guard !waiting.isEmpty || !waitingMails.isEmpty else { return }
        let now = SystemTime.monotonic()
        while let id = lanes.next(now: now) {
            if startMail(id, now: now) { continue }
            guard let (hop, continuation) = waiting.removeValue(forKey: id) else { continue }
            guard let transfer = free.popLast() ?? Transfer(share: share, budget: memory, isPrivate: isPrivate) else {
                lanes.finished(id)
                continuation.resume(
                    returning: .failure(FetchError(.network, "there is no memory for another transfer")))
                continue
            }
            let cookies = hop.session.flatMap { jars[$0]?.header(for: hop.url, now: SystemTime.wall()) }
            let isFresh = pins.isAlone(hop.tls.pin, at: hop.origin)
            let isSet = transfer.begin(id, hop, cookies: cookies, isFresh: isFresh, now: now)
            running[id] = (transfer, continuation)
            guard isSet, curl_multi_add_handle(multi, transfer.easy) == CURLM_OK else {
                let detail = "libcurl does not take the request to \(hop.origin); nothing was sent"
                end(id, .failure(FetchError(.configuration, detail)))
                continue
            }
        }
    }

    /// Does nothing to what has finished.
    func cancel(_ id: RequestQueue.ID) {
        if let (_, continuation) = waiting.removeValue(forKey: id) {
            lanes.cancelled(id)
            continuation.resume(returning: .failure(HTTPClient.cancelled))
        } else if running[id] != nil {
            end(id, .failure(HTTPClient.cancelled))
            startWaiting()
        } else if cancelMail(id) {
            startWaiting()
        }
    }

    private func end(_ id: RequestQueue.ID, _ result: Result<RawResponse, FetchError>) {
        guard let (transfer, continuation) = running.removeValue(forKey: id) else { return }
        curl_multi_remove_handle(multi, transfer.easy)
        lanes.finished(id)
        transfer.clear()
        if free.count < HTTPClient.mostFree, !isShutDown { free.append(transfer) }
        continuation.resume(returning: result)
    }

    // MARK: The loop's turn

    /// - Returns: the longest sleep in milliseconds.
    func drive() -> Int32 {
        var count: Int32 = 0
        curl_multi_perform(multi, &count)
        while let message = curl_multi_info_read(multi, &count) {
            guard message.pointee.msg == CURLMSG_DONE, let easy = message.pointee.easy_handle else { continue }
            completed(easy, cc_result(message))
        }
        dropEvicted()
        moveMails()
        watch()
        startWaiting()
        loop.watched = mails.isEmpty ? [] : mails.values.compactMap(\.wish)
        let longest: Int64 = running.isEmpty && mails.isEmpty ? 60_000 : HTTPClient.watchInterval
        // Who was cancelled while his origin rests stays in the lanes, but wakes nobody.
        guard !waiting.isEmpty || !waitingMails.isEmpty, let start = lanes.nextStart else { return Int32(longest) }
        return Int32(min(longest, max(1, start - SystemTime.monotonic())))
    }

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
        } else if (code == CURLE_OK && transfer.hasHead) || transfer.isSettled {
            end(transfer.id, .success(transfer.finish()))
        } else if transfer.mayBeRepeated(after: code), isRepeated(transfer) {
            return
        } else {
            end(transfer.id, .failure(.of(code, transfer, now: SystemTime.monotonic())))
        }
    }

    /// Ends the transfers whose memory another body needed.
    private func dropEvicted() {
        let evicted = memory.takeEvicted()
        guard !evicted.isEmpty else { return }
        for (id, (transfer, _)) in running where transfer.memory.map({ evicted.contains($0.id) }) ?? false {
            let error = FetchError.memory(transfer.hop?.origin ?? "the server")
            end(id, transfer.isSettled ? .success(transfer.finish()) : .failure(error))
        }
    }

    private func isRepeated(_ transfer: Transfer) -> Bool {
        curl_multi_remove_handle(multi, transfer.easy)
        return curl_multi_add_handle(multi, transfer.easy) == CURLM_OK
    }

    /// Silent polls first give their place to others; what is overdue ends.
    private func watch() {
        let now = SystemTime.monotonic()
        guard now - watchedAt >= HTTPClient.watchInterval else { return }
        watchedAt = now
        watchMails(now: now)
        for (id, (transfer, _)) in running {
            if !transfer.hasAnswered, now - transfer.startedAt >= HTTPClient.silence { lanes.silent(id) }
            if let error = transfer.overdue(now: now, origin: transfer.hop?.origin ?? "the server") {
                end(id, transfer.isSettled ? .success(transfer.finish()) : .failure(error))
            }
        }
    }
}
