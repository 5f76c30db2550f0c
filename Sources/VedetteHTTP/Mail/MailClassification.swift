// SPDX-License-Identifier: Apache-2.0

import CCurl
import VedetteCore

/// How the connecting ended that libcurl does: the name, TLS, EHLO, STARTTLS, the login.
extension MailTransfer {
    /// Nil when we are connected and known.
    /// - Returns: what the server refused us with.
    func refusal(_ code: CURLcode, now: Int64) throws(FetchError) -> MailReply? {
        if let problem { throw problem }
        let origin = mail.server.origin
        switch code {
        case CURLE_OK:
            // Where a server offers no login, libcurl goes on without.
            guard mail.login == nil || lastHeard?.code == 235 else { throw noLogin }
            return nil
        case CURLE_LOGIN_DENIED, CURLE_AUTH_ERROR:
            guard let lastHeard, lastHeard.code >= 400 else { throw noLogin }
            return MailReply(stage: .login, code: lastHeard.code, text: lastHeard.text)
        case CURLE_USE_SSL_FAILED where (lastHeard?.code ?? 0) < 400:
            throw FetchError(
                .tlsHandshake, "\(origin) offers no STARTTLS; nothing was sent to it (starttls: never allows that)")
        case CURLE_USE_SSL_FAILED, CURLE_WEIRD_SERVER_REPLY, CURLE_REMOTE_ACCESS_DENIED, CURLE_RECV_ERROR,
            CURLE_SEND_ERROR, CURLE_GOT_NOTHING:
            guard let lastHeard, lastHeard.code >= 400 else { throw broken }
            return MailReply(stage: .greeting, code: lastHeard.code, text: lastHeard.text)
        case CURLE_OPERATION_TIMEDOUT: throw late
        default: throw unconnected(code)
        }
    }

    func overdue(now: Int64) -> FetchError? {
        let limit = isJudged ? max(mail.timeout, mail.patience) : mail.timeout
        return now - startedAt >= limit.wholeMilliseconds ? late : nil
    }

    private var late: FetchError {
        FetchError(
            .timeout, "\(mail.server.origin) was not done in \(mail.timeout)",
            timedOut: socket == nil && lastHeard == nil)
    }

    private var noLogin: FetchError {
        FetchError(
            .unauthorized, "\(mail.server.origin) offers no way to log in that we know; remove user and password")
    }

    private var broken: FetchError {
        lastHeard == nil
            ? FetchError(
                .closed, "\(mail.server.origin) closed the connection without a greeting, or speaks TLS at once (smtps)"
            )
            : FetchError(.closed, "\(mail.server.origin) broke the connection")
    }

    private func unconnected(_ code: CURLcode) -> FetchError {
        let origin = mail.server.origin
        return switch code {
        case CURLE_COULDNT_RESOLVE_HOST: FetchError(.resolve, "the name of \(origin) could not be resolved")
        case CURLE_COULDNT_CONNECT: FetchError.unconnected(easy, origin)
        case CURLE_PEER_FAILED_VERIFICATION: FetchError.certificate(easy, origin)
        case CURLE_SSL_PINNEDPUBKEYNOTMATCH:
            FetchError(.tlsPin, "the key of \(origin) is not the pinned one; nothing was sent to it")
        case CURLE_SSL_CACERT_BADFILE: FetchError(.configuration, "the file of tls.ca cannot be read")
        case CURLE_SSL_CERTPROBLEM:
            FetchError(
                .configuration, "the files of tls.certificate and tls.key are no certificate with its key in PEM")
        case CURLE_SSL_CONNECT_ERROR:
            FetchError(
                .tlsHandshake,
                "\(origin) and we found no common way to speak TLS (\(mail.tls.minimum.rawValue) or later; smtps:// speaks it "
                    + "from the first byte, smtp:// after STARTTLS)")
        default:
            FetchError(.network, "the connection to \(origin) failed: \(String(cString: curl_easy_strerror(code)))")
        }
    }
}

extension Mail {
    /// - Throws: `.configuration` for what must not be sent as it is.
    func check() throws(FetchError) {
        let words = [sender] + recipients + [hello].compactMap { $0 }
        guard !recipients.isEmpty, words.allSatisfy(Mail.isWord) else {
            throw FetchError(
                .configuration,
                "an address or the name for EHLO is empty, or has a space, a bracket or a character outside ASCII; nothing was sent"
            )
        }
        let isAlwaysTLS = server.isTLS || upgrade == .required
        guard login == nil || isAlwaysTLS || server.isLoopback else {
            throw FetchError(
                .configuration, "\(server.origin) would see the password in the clear; nothing was sent")
        }
    }

    private static func isWord(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy { (33...126).contains($0) && $0 != 60 && $0 != 62 }
    }
}
