// SPDX-License-Identifier: Apache-2.0

import CCurl
import Glibc
import VedetteCore

extension FetchError {
    /// What a CURLcode means (libcurl-errors(3)), told apart further by the certificate check's own verdict.
    static func of(_ code: CURLcode, _ transfer: Transfer, now: Int64) -> FetchError {
        let origin = transfer.hop?.origin ?? "the server"
        if transfer.metPrivate, code == CURLE_COULDNT_CONNECT { return .privateAddress(origin) }
        if transfer.hop?.proxy != nil, let error = proxy(code, transfer, origin) { return error }
        // RFC 9113 §7, in RST_STREAM and GOAWAY alike; libcurl says so in words only.
        if transfer.says("ENHANCE_YOUR_CALM") {
            return FetchError(.rateLimited, "\(origin) asks for fewer requests (ENHANCE_YOUR_CALM)")
        }
        switch code {
        case CURLE_COULDNT_RESOLVE_HOST: return FetchError(.resolve, "the name of \(origin) could not be resolved")
        case CURLE_COULDNT_CONNECT: return unconnected(transfer.easy, origin)
        case CURLE_OPERATION_TIMEDOUT: return timeout(transfer, origin, now: now)
        case CURLE_PARTIAL_FILE, CURLE_OK: return FetchError(.truncated, "the answer of \(origin) was cut short")
        case CURLE_GOT_NOTHING: return FetchError(.closed, "\(origin) closed the connection without an answer")
        case CURLE_RECV_ERROR, CURLE_SEND_ERROR, CURLE_HTTP2_STREAM: return broken(transfer, origin)
        case CURLE_HTTP2: return broken(transfer, origin)
        case CURLE_WEIRD_SERVER_REPLY, CURLE_UNSUPPORTED_PROTOCOL:
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

    /// Where there is no way to a host, nobody has refused us: that is silence (`Reachability`).
    static func unconnected(_ easy: UnsafeMutableRawPointer, _ origin: String) -> FetchError {
        var reason = 0
        cc_get_long(easy, CURLINFO_OS_ERRNO, &reason)
        switch Int32(truncatingIfNeeded: reason) {
        case ENETUNREACH, EHOSTUNREACH, ENETDOWN, EHOSTDOWN:
            return FetchError(.network, "there is no route to \(origin)")
        default: return FetchError(.refused, "\(origin) does not accept connections")
        }
    }

    private static func tls(_ code: CURLcode, _ transfer: Transfer, _ origin: String) -> FetchError? {
        switch code {
        case CURLE_PEER_FAILED_VERIFICATION:
            return certificate(transfer.easy, origin)
        case CURLE_SSL_PINNEDPUBKEYNOTMATCH:
            return FetchError(.tlsPin, "the key of \(origin) is not the pinned one; nothing was sent to it")
        case CURLE_SSL_CACERT_BADFILE: return FetchError(.configuration, "the file of tls.ca cannot be read")
        case CURLE_SSL_CONNECT_ERROR: return handshake(transfer, origin)
        case CURLE_SSL_CERTPROBLEM:
            return FetchError(
                .configuration, "the files of tls.certificate and tls.key are no certificate with its key in PEM")
        case CURLE_SSL_CLIENTCERT: return clientCertificate(transfer, origin)
        default: return nil
        }
    }

    private static func handshake(_ transfer: Transfer, _ origin: String) -> FetchError {
        let tls = transfer.hop?.tls ?? TLSPolicy()
        if isAboutOurCertificate(transfer) { return clientCertificate(transfer, origin) }
        let note = tls.minimum.isOld ? ", as far as this machine's OpenSSL still speaks it" : ""
        return FetchError(
            .tlsHandshake,
            "\(origin) and we found no common way to speak TLS (\(tls.minimum.rawValue) or later\(note))")
    }

    private static func clientCertificate(_ transfer: Transfer, _ origin: String) -> FetchError {
        transfer.hop?.tls.certificate == nil
            ? FetchError(
                .tlsClientCertificate, "\(origin) wants a client certificate; write tls: {certificate: FILE, key: FILE}"
            )
            : FetchError(.tlsClientCertificate, "\(origin) does not accept the client certificate of tls.certificate")
    }

    /// Where the connection is reset, the alert may be lost.
    private static func suspicion(_ transfer: Transfer) -> String {
        transfer.hop?.tls.certificate == nil ? "" : "; perhaps it does not accept the client certificate"
    }

    /// The alerts of a server that was shown one (RFC 8446 §6.2).
    private static func isAboutOurCertificate(_ transfer: Transfer) -> Bool {
        transfer.hop?.tls.certificate != nil
            && ["alert unknown ca", "alert bad certificate", "alert certificate"].contains(where: transfer.says)
    }

    private static func broken(_ transfer: Transfer, _ origin: String) -> FetchError {
        // With TLS 1.3 a server says so only after the handshake (RFC 8446 §6.2), and only libcurl's words tell it.
        if transfer.says("certificate required") || isAboutOurCertificate(transfer) {
            return clientCertificate(transfer, origin)
        }
        return transfer.hasAnswered
            ? FetchError(.truncated, "the answer of \(origin) was cut short")
            : FetchError(.closed, "\(origin) broke the connection without an answer" + suspicion(transfer))
    }

    /// What went wrong before the server was reached; nil when it was not the proxy.
    private static func proxy(_ code: CURLcode, _ transfer: Transfer, _ origin: String) -> FetchError? {
        var (status, detail, verdict) = (0, 0, 0)
        cc_get_long(transfer.easy, CURLINFO_HTTP_CONNECTCODE, &status)
        cc_get_long(transfer.easy, CURLINFO_PROXY_ERROR, &detail)
        cc_get_long(transfer.easy, CURLINFO_PROXY_SSL_VERIFYRESULT, &verdict)
        switch code {
        case CURLE_COULDNT_RESOLVE_PROXY: return FetchError(.resolve, "the proxy's name could not be resolved")
        case CURLE_COULDNT_CONNECT where status == 0:
            return FetchError(.refused, "the proxy does not accept connections")
        case _ where status == 407:
            return FetchError(.unauthorized, "the proxy wants a user and a password, or others (407)")
        case _ where status != 0 && !(200..<300).contains(status):
            return FetchError(.network, "the proxy did not connect us to \(origin): it answers with status \(status)")
        case CURLE_PROXY where rejections.contains(UInt32(truncatingIfNeeded: detail)):
            return FetchError(.unauthorized, "the proxy wants a user and a password, or others")
        case CURLE_PROXY: return FetchError(.network, "the proxy did not connect us to \(origin)")
        case CURLE_PEER_FAILED_VERIFICATION where verdict != 0:
            return FetchError(.tlsUntrusted, "the certificate of the proxy is not trusted")
        default: return nil
        }
    }

    /// SOCKS (RFC 1928, RFC 1929): our user was not accepted, or one is needed.
    private static let rejections = [
        CURLPX_USER_REJECTED.rawValue, CURLPX_NO_AUTH.rawValue, CURLPX_IDENTD_DIFFER.rawValue, CURLPX_IDENTD.rawValue,
    ]

    private static func timeout(_ transfer: Transfer, _ origin: String, now: Int64) -> FetchError {
        guard let limits = transfer.hop?.request.limits else { return FetchError(.timeout, "\(origin) is too slow") }
        if transfer.hasAnswered || now - transfer.startedAt >= limits.total.wholeMilliseconds {
            return FetchError(
                .timeout, "\(origin) was not done in \(limits.total)", timedOut: !transfer.hasAnswered)
        }
        return FetchError(.timeout, "\(origin) accepted no connection in \(limits.connect)", timedOut: true)
    }

    /// X509_V_ERR_…, see openssl-verification-options(1).
    static func certificate(_ easy: UnsafeMutableRawPointer, _ origin: String) -> FetchError {
        var verdict = 0
        cc_get_long(easy, CURLINFO_SSL_VERIFYRESULT, &verdict)
        return switch verdict {
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
