// SPDX-License-Identifier: Apache-2.0

import CCurl
import VedetteCore
import VedetteSystem

/// The mails under way, by the loop's thread alone.
final class MailTransfers {
    private let multi: UnsafeMutableRawPointer
    private let cache: ServerCache
    private let authorities: TrustedCertificateCache
    /// Takes the id of a mail that has ended.
    private let ended: (RequestQueue.ID) -> Void
    private var mails: [RequestQueue.ID: MailTransfer] = [:]

    init(
        _ multi: UnsafeMutableRawPointer, _ cache: ServerCache, _ authorities: TrustedCertificateCache,
        ended: @escaping (RequestQueue.ID) -> Void
    ) {
        (self.multi, self.cache, self.authorities, self.ended) = (multi, cache, authorities, ended)
    }

    var isEmpty: Bool { mails.isEmpty }
    var ids: [RequestQueue.ID] { Array(mails.keys) }

    /// The mails that are under way since then or longer.
    func ids(startedBy time: Int64) -> [RequestQueue.ID] { mails.values.filter { $0.startedAt <= time }.map(\.id) }

    /// What wakes the loop besides libcurl's own sockets.
    var pollEntries: [curl_waitfd] { mails.isEmpty ? [] : mails.values.compactMap(\.pollEntry) }

    func start(_ id: RequestQueue.ID, _ mail: Mail, _ recipient: @escaping MailTransfer.Recipient, now: Int64) {
        let trusted = authorities.trusted(by: mail.tls)
        guard let transfer = MailTransfer(id, mail, trusted, recipient, now: now) else {
            ended(id)
            return recipient(.failure(FetchError(.network, "there is no memory for another transfer")))
        }
        mails[id] = transfer
        if !transfer.configure(share: cache.share) || curl_multi_add_handle(multi, transfer.easy) != CURLM_OK {
            let detail = "libcurl refused an option of the mail to \(mail.server.origin); nothing was sent"
            drop(transfer, .failure(FetchError(.configuration, detail)))
        }
    }

    /// - Returns: false when no such mail is under way.
    func cancel(_ id: RequestQueue.ID) -> Bool {
        guard let transfer = mails[id] else { return false }
        drop(transfer, .failure(HTTPClient.cancelled))
        return true
    }

    /// Continues a mail that libcurl has connected, or ends it when it could not.
    func connected(_ easy: UnsafeMutableRawPointer, _ code: CURLcode) {
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
    func advance() {
        for transfer in mails.values where transfer.socket != nil { advance(transfer) }
    }

    private func advance(_ transfer: MailTransfer) {
        do throws(FetchError) {
            switch try transfer.advance() {
            case .waiting: return
            case .closed: drop(transfer, nil)
            case .finalReply(let reply):
                transfer.deliver(.success(reply))
                transfer.awaitQuit(now: KernelClock.monotonic.milliseconds)
                advance(transfer)
            }
        } catch {
            drop(transfer, .failure(error))
        }
    }

    /// Ends the mails whose time is over.
    func checkTimeouts(now: Int64) {
        for transfer in mails.values {
            if let quitDeadline = transfer.quitDeadline {
                if now >= quitDeadline { drop(transfer, nil) }
            } else if let error = transfer.timeoutError(now: now) {
                drop(transfer, .failure(error))
            }
        }
    }

    /// Ends a mail. Removing the handle closes its connection: libcurl keeps none that was used with CURLOPT_CONNECT_ONLY.
    private func drop(_ transfer: MailTransfer, _ result: Result<MailReply, FetchError>?) {
        mails[transfer.id] = nil
        // Only here: a connection that waits for the reply to QUIT counts.
        ended(transfer.id)
        curl_multi_remove_handle(multi, transfer.easy)
        if let result { transfer.deliver(result) }
    }
}
