// SPDX-License-Identifier: Apache-2.0

import CCurl
import VedetteCore

/// Classifies how libcurl's part of a mail ended: name, TLS, EHLO, STARTTLS and login.
extension MailTransfer {
    /// Returns the reply with which the server refused us; nil when we are connected and logged in.
    func refusal(_ code: CURLcode) throws(FetchError) -> MailReply? {
        if let problem { throw problem }
        let origin = mail.server.origin
        switch code {
        case CURLE_OK:
            // libcurl goes on without a login where the server offers none.
            guard mail.login == nil || lastReply?.code == 235 else { throw noLogin }
            return nil
        case CURLE_LOGIN_DENIED, CURLE_AUTH_ERROR:
            guard let lastReply, lastReply.code >= 400 else { throw noLogin }
            return MailReply(stage: .login, code: lastReply.code, text: lastReply.text)
        case CURLE_USE_SSL_FAILED where (lastReply?.code ?? 0) < 400:
            throw FetchError(
                .tlsHandshake, "\(origin) offers no STARTTLS; nothing was sent to it (starttls: never allows that)")
        case CURLE_USE_SSL_FAILED, CURLE_WEIRD_SERVER_REPLY, CURLE_REMOTE_ACCESS_DENIED, CURLE_RECV_ERROR,
            CURLE_SEND_ERROR, CURLE_GOT_NOTHING:
            if let alert = FetchError.lateAlert(mail.tls, origin, message) { throw alert }
            guard let lastReply, lastReply.code >= 400 else { throw broken }
            return MailReply(stage: .greeting, code: lastReply.code, text: lastReply.text)
        case CURLE_OPERATION_TIMEDOUT: throw late
        case CURLE_SSL_CONNECT_ERROR:
            throw .handshake(
                mail.tls, origin, message, plain: "smtp://",
                note: "; smtps:// speaks TLS from the first byte, smtp:// after STARTTLS")
        case CURLE_SSL_CLIENTCERT: throw .clientCertificate(mail.tls, origin)
        default: throw .connection(code, easy, origin, mail.tls)
        }
    }

    /// Returns an error when the time for the mail is over.
    func timeoutError(now: Int64) -> FetchError? {
        let limit = awaitsFinalReply ? max(mail.timeout, mail.replyTimeout) : mail.timeout
        return now - startedAt >= limit.wholeMilliseconds ? late : nil
    }

    private var late: FetchError {
        .notDone(mail.server.origin, in: mail.timeout, timedOut: socket == nil && lastReply == nil)
    }

    private var noLogin: FetchError {
        FetchError(
            .unauthorized, "\(mail.server.origin) offers no login method that is supported; remove user and password")
    }

    private var broken: FetchError {
        let cause =
            lastReply == nil
            ? "closed the connection without a greeting, or speaks TLS from the first byte (smtps)"
            : "broke the connection"
        return FetchError(.closed, "\(mail.server.origin) \(cause)")
    }
}
