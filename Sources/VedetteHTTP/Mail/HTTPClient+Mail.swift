// SPDX-License-Identifier: Apache-2.0

import CCurl
public import VedetteCore
import VedetteSystem

/// Mail, in the same queue and the same loop as requests.
extension HTTPClient: MailCarrier {
    public func send(_ mail: Mail) async throws(FetchError) -> MailReply {
        try mail.validate()
        lastID += 1
        let id = lastID
        let result = await withTaskExecutorPreference(loop) {
            await withTaskCancellationHandler {
                await withUnsafeContinuation { (continuation: MailTransfer.Continuation) in
                    guard !isShutDown, !Task.isCancelled else {
                        return continuation.resume(returning: .failure(HTTPClient.cancelled))
                    }
                    waitingMails[id] = (mail, continuation)
                    queue.add(
                        id, lane: .deliveries, origin: mail.server.origin, group: mail.group,
                        now: KernelClock.monotonic.milliseconds)
                    startWaiting()
                }
            } onCancel: {
                onLoop { $0.cancel(id) }
            }
        }
        return try result.get()
    }

    /// - Returns: false when the id is not that of a mail.
    func startMail(_ id: RequestQueue.ID, now: Int64) -> Bool {
        guard let (mail, continuation) = waitingMails.removeValue(forKey: id) else { return false }
        guard let transfer = MailTransfer(id, mail, continuation, now: now) else {
            queue.finish(id)
            continuation.resume(returning: .failure(FetchError(.network, "there is no memory for another transfer")))
            return true
        }
        mails[id] = transfer
        if !transfer.configure(share: share) || curl_multi_add_handle(multi, transfer.easy) != CURLM_OK {
            let detail = "libcurl refused an option of the mail to \(mail.server.origin); nothing was sent"
            drop(transfer, .failure(FetchError(.configuration, detail)))
        }
        return true
    }

    /// - Returns: false when the id is not that of a mail.
    func cancelMail(_ id: RequestQueue.ID) -> Bool {
        if let (_, continuation) = waitingMails.removeValue(forKey: id) {
            queue.cancel(id)
            continuation.resume(returning: .failure(HTTPClient.cancelled))
            return true
        }
        guard let transfer = mails[id] else { return false }
        drop(transfer, .failure(HTTPClient.cancelled))
        return true
    }

    /// Continues a mail that libcurl has connected, or ends it when it could not.
    func mailConnected(_ easy: UnsafeMutableRawPointer, _ code: CURLcode) {
        guard let transfer = mails.values.first(where: { $0.easy == easy }) else { return }
        do throws(FetchError) {
            if let reply = try transfer.refusal(code) {
                drop(transfer, .success(reply))
            } else {
                try transfer.open()
            }
        } catch {
            drop(transfer, .failure(error))
        }
    }

    /// Drives every connected mail as far as it can go without waiting.
    func advanceMails() {
        for transfer in mails.values where transfer.socket != nil { advance(transfer) }
    }

    private func advance(_ transfer: MailTransfer) {
        do throws(FetchError) {
            switch try transfer.advance() {
            case .waiting: return
            case .closed: drop(transfer, nil)
            case .finalReply(let reply):
                resume(transfer, .success(reply))
                transfer.awaitQuit(now: KernelClock.monotonic.milliseconds)
                advance(transfer)
            }
        } catch {
            drop(transfer, .failure(error))
        }
    }

    /// Ends the mails whose time is over.
    func checkMailTimeouts(now: Int64) {
        for transfer in mails.values {
            if let quitDeadline = transfer.quitDeadline {
                if now >= quitDeadline { drop(transfer, nil) }
            } else if let error = transfer.timeoutError(now: now) {
                drop(transfer, .failure(error))
            }
        }
    }

    private func resume(_ transfer: MailTransfer, _ result: Result<MailReply, FetchError>) {
        transfer.continuation.take()?.resume(returning: result)
    }

    /// Ends a mail. Removing the handle closes its connection: libcurl keeps none that was used with CURLOPT_CONNECT_ONLY.
    private func drop(_ transfer: MailTransfer, _ result: Result<MailReply, FetchError>?) {
        mails[transfer.id] = nil
        // Released only here: a connection that waits for the reply to QUIT counts.
        queue.finish(transfer.id)
        curl_multi_remove_handle(multi, transfer.easy)
        if let result { resume(transfer, result) }
    }
}
