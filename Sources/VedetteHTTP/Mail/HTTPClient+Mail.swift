// SPDX-License-Identifier: Apache-2.0

import CCurl
public import VedetteCore

/// Mail in the same lanes and the same loop as everything else.
extension HTTPClient: MailCarrier {
    /// A server that has given its verdict has so long to say goodbye.
    private static let goodbye: Int64 = 2000

    public func send(_ mail: Mail) async throws(FetchError) -> MailReply {
        try mail.check()
        lastID += 1
        let id = lastID
        let result = await withTaskExecutorPreference(loop) {
            await withTaskCancellationHandler {
                await withUnsafeContinuation { (continuation: MailTransfer.Continuation) in
                    guard !isShutDown, !Task.isCancelled else {
                        return continuation.resume(returning: .failure(HTTPClient.cancelled))
                    }
                    waitingMails[id] = (mail, continuation)
                    lanes.add(
                        id, lane: .deliveries, origin: mail.server.origin, group: mail.group,
                        now: SystemTime.monotonic())
                    startWaiting()
                }
            } onCancel: {
                Task { await self.cancel(id) }
            }
        }
        return try result.get()
    }

    /// - Returns: false when the id is no mail's.
    func startMail(_ id: RequestQueue.ID, now: Int64) -> Bool {
        guard let (mail, continuation) = waitingMails.removeValue(forKey: id) else { return false }
        guard let transfer = MailTransfer(id, mail, continuation, now: now) else {
            lanes.finished(id)
            continuation.resume(returning: .failure(FetchError(.network, "there is no memory for another transfer")))
            return true
        }
        mails[id] = transfer
        if !transfer.configure(share: share) || curl_multi_add_handle(multi, transfer.easy) != CURLM_OK {
            let detail = "libcurl does not take the mail for \(mail.server.origin); nothing was sent"
            drop(transfer, .failure(FetchError(.configuration, detail)))
        }
        return true
    }

    /// - Returns: false when the id is no mail's.
    func cancelMail(_ id: RequestQueue.ID) -> Bool {
        if let (_, continuation) = waitingMails.removeValue(forKey: id) {
            lanes.cancelled(id)
            continuation.resume(returning: .failure(HTTPClient.cancelled))
            return true
        }
        guard let transfer = mails[id] else { return false }
        drop(transfer, .failure(HTTPClient.cancelled))
        return true
    }

    /// libcurl has connected a mail, or could not.
    func mailConnected(_ easy: UnsafeMutableRawPointer, _ code: CURLcode) {
        guard let transfer = mails.values.first(where: { $0.easy == easy }) else { return }
        do throws(FetchError) {
            if let reply = try transfer.refusal(code, now: SystemTime.monotonic()) {
                drop(transfer, .success(reply))
            } else {
                try transfer.open()
            }
        } catch {
            drop(transfer, .failure(error))
        }
    }

    /// Moves every mail on as far as it can go.
    func moveMails() {
        for transfer in mails.values where transfer.socket != nil { move(transfer) }
    }

    private func move(_ transfer: MailTransfer) {
        do throws(FetchError) {
            switch try transfer.goOn() {
            case .waits: return
            case .over: drop(transfer, nil)
            case .verdict(let reply):
                tell(transfer, .success(reply))
                transfer.leavesBy = SystemTime.monotonic() + HTTPClient.goodbye
                move(transfer)
            }
        } catch {
            drop(transfer, .failure(error))
        }
    }

    func watchMails(now: Int64) {
        for transfer in mails.values {
            if let leavesBy = transfer.leavesBy {
                if now >= leavesBy { drop(transfer, nil) }
            } else if let error = transfer.overdue(now: now) {
                drop(transfer, .failure(error))
            }
        }
    }

    private func tell(_ transfer: MailTransfer, _ result: Result<MailReply, FetchError>) {
        transfer.continuation.take()?.resume(returning: result)
    }

    /// Removing the handle closes the connection at once: libcurl keeps none that we have spoken on.
    private func drop(_ transfer: MailTransfer, _ result: Result<MailReply, FetchError>?) {
        mails[transfer.id] = nil
        // Only now: a connection that still says goodbye counts.
        lanes.finished(transfer.id)
        curl_multi_remove_handle(multi, transfer.easy)
        if let result { tell(transfer, result) }
    }
}
