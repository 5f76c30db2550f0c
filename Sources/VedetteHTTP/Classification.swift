// SPDX-License-Identifier: Apache-2.0

import CCurl
import VedetteCore

extension FetchError {
    /// What a CURLcode means (libcurl-errors(3)), told apart further by the certificate check's own verdict.
    static func of(_ code: CURLcode, _ transfer: Transfer, now: Int64) -> FetchError {
        let origin = transfer.hop?.origin ?? "the server"
        switch code {
        case CURLE_COULDNT_RESOLVE_HOST: return FetchError(.resolve, "the name of \(origin) could not be resolved")
        case CURLE_COULDNT_RESOLVE_PROXY: return FetchError(.resolve, "the proxy's name could not be resolved")
        case CURLE_COULDNT_CONNECT: return FetchError(.refused, "\(origin) does not accept connections")
        case CURLE_OPERATION_TIMEDOUT: return timeout(transfer, origin, now: now)
        case CURLE_PARTIAL_FILE, CURLE_HTTP2_STREAM:
            return FetchError(.truncated, "the answer of \(origin) was cut short")
        case CURLE_GOT_NOTHING: return FetchError(.closed, "\(origin) closed the connection without an answer")
        case CURLE_RECV_ERROR: return broken(transfer, origin)
        case CURLE_WEIRD_SERVER_REPLY, CURLE_UNSUPPORTED_PROTOCOL, CURLE_HTTP2:
            return FetchError(.protocol, "\(origin) does not answer in HTTP")
        // libcurl has its own bound for one line, and this is how it says so.
        case CURLE_OUT_OF_MEMORY where transfer.isReadingHead, CURLcode(100) where transfer.isReadingHead:
            return FetchError(.tooLarge, "a header of the answer of \(origin) is too long")
        case CURLE_URL_MALFORMAT: return FetchError(.configuration, "the address has no host that could be asked")
        default:
            return tls(code, transfer, origin)
                ?? FetchError(
                    .network, "the connection to \(origin) failed: \(String(cString: curl_easy_strerror(code)))")
        }
    }

    private static func tls(_ code: CURLcode, _ transfer: Transfer, _ origin: String) -> FetchError? {
        switch code {
        case CURLE_PEER_FAILED_VERIFICATION:
            var verdict = 0
            cc_get_long(transfer.easy, CURLINFO_SSL_VERIFYRESULT, &verdict)
            return certificate(verdict, origin)
        case CURLE_SSL_PINNEDPUBKEYNOTMATCH:
            return FetchError(.tlsPin, "the key of \(origin) is not the pinned one; nothing was sent to it")
        case CURLE_SSL_CACERT_BADFILE: return FetchError(.configuration, "the file of tls.ca cannot be read")
        case CURLE_SSL_CONNECT_ERROR:
            return FetchError(.tlsHandshake, "\(origin) and we found no common way to speak TLS (1.2 or later)")
        case CURLE_SSL_CERTPROBLEM: return clientCertificate(origin)
        default: return nil
        }
    }

    private static func clientCertificate(_ origin: String) -> FetchError {
        FetchError(.tlsClientCertificate, "\(origin) wants a client certificate, which Vedette has none of")
    }

    private static func broken(_ transfer: Transfer, _ origin: String) -> FetchError {
        // With TLS 1.3 a server says so only after the handshake (RFC 8446 §6.2), and only libcurl's words tell it.
        if transfer.trouble.contains("certificate required") { return clientCertificate(origin) }
        return transfer.hasAnswered
            ? FetchError(.truncated, "the answer of \(origin) was cut short")
            : FetchError(.closed, "\(origin) broke the connection without an answer")
    }

    private static func timeout(_ transfer: Transfer, _ origin: String, now: Int64) -> FetchError {
        guard let limits = transfer.hop?.request.limits else { return FetchError(.timeout, "\(origin) is too slow") }
        if transfer.hasAnswered || now - transfer.startedAt >= limits.total.wholeMilliseconds {
            return FetchError(
                .timeout, "\(origin) was not done in \(limits.total)", timedOut: !transfer.hasAnswered)
        }
        return FetchError(.timeout, "\(origin) accepted no connection in \(limits.connect)", timedOut: true)
    }

    /// X509_V_ERR_…, see openssl-verification-options(1).
    private static func certificate(_ verdict: Int, _ origin: String) -> FetchError {
        switch verdict {
        case 10: FetchError(.tlsExpired, "the certificate of \(origin) has expired")
        case 9: FetchError(.tlsExpired, "the certificate of \(origin) is not valid yet")
        case 0, 1: FetchError(.tlsName, "the certificate of \(origin) is for another name")
        default:
            FetchError(
                .tlsUntrusted,
                "the certificate of \(origin) is not trusted; for a self-signed one write tls: {pin: …} or tls: {ca: FILE}"
            )
        }
    }
}
