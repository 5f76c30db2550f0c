// SPDX-License-Identifier: Apache-2.0

import CCurl
import Glibc
import VedetteCore

extension FetchError {
    /// Maps a CURLcode (libcurl-errors(3)) to an error, with the result of the certificate check and what was received.
    static func of(_ code: CURLcode, _ transfer: Transfer, now: Int64) -> FetchError {
        let (origin, tls) = (transfer.hop?.origin ?? "the server", transfer.hop?.tls ?? TLSPolicy())
        if transfer.refusedPrivate, code == CURLE_COULDNT_CONNECT { return .privateAddress(origin) }
        if transfer.hop?.proxy != nil, let error = proxy(code, transfer, origin) { return error }
        // RFC 9113 §7, in RST_STREAM and GOAWAY alike; only libcurl's message tells.
        if transfer.message.contains("ENHANCE_YOUR_CALM") {
            return FetchError(.rateLimited, "\(origin) asks for fewer requests (ENHANCE_YOUR_CALM)")
        }
        switch code {
        case CURLE_OPERATION_TIMEDOUT: return timeout(transfer, origin, now: now)
        case CURLE_PARTIAL_FILE, CURLE_OK: return FetchError(.truncated, "the answer of \(origin) was cut short")
        case CURLE_GOT_NOTHING: return FetchError(.closed, "\(origin) closed the connection without an answer")
        case CURLE_RECV_ERROR, CURLE_SEND_ERROR, CURLE_HTTP2_STREAM, CURLE_HTTP2: return broken(transfer, origin)
        case CURLE_WEIRD_SERVER_REPLY, CURLE_UNSUPPORTED_PROTOCOL:
            let isLeft = transfer.isUnclean(after: code)
            let rest =
                "\(origin) sent more than its last answer has, so that the next one on the connection is unreadable"
            return FetchError(.protocol, isLeft ? rest : "\(origin) does not answer in HTTP")
        // libcurl limits the length of one line, and reports a longer one so.
        case CURLE_OUT_OF_MEMORY where transfer.isReadingHead, CURLcode(100) where transfer.isReadingHead:
            return FetchError(.tooLarge, "a header of the answer of \(origin) is too long")
        case CURLE_URL_MALFORMAT: return FetchError(.configuration, "the URL's host or port is not valid")
        case CURLE_SSL_CONNECT_ERROR: return handshake(tls, origin, transfer.message, plain: "http://")
        case CURLE_SSL_CLIENTCERT: return clientCertificate(tls, origin)
        default: return connection(code, transfer.easy, origin, tls)
        }
    }

    /// Maps the failures to connect that HTTP and SMTP share.
    static func connection(
        _ code: CURLcode, _ easy: UnsafeMutableRawPointer, _ origin: String, _ tls: TLSPolicy
    ) -> FetchError {
        switch code {
        case CURLE_COULDNT_RESOLVE_HOST: FetchError(.resolve, "the name of \(origin) could not be resolved")
        case CURLE_COULDNT_CONNECT: unconnected(easy, origin)
        case CURLE_PEER_FAILED_VERIFICATION: certificate(easy, origin)
        case CURLE_SSL_PINNEDPUBKEYNOTMATCH:
            FetchError(.tlsPin, "the key of \(origin) is not the pinned one; nothing was sent to it")
        case CURLE_SSL_CACERT_BADFILE where tls.ca == nil:
            FetchError(
                .configuration,
                "this system has no certificate authorities; install ca-certificates, or write tls: {ca: FILE}")
        case CURLE_SSL_CACERT_BADFILE: FetchError(.configuration, "failed to read the file of tls.ca")
        case CURLE_SSL_CERTPROBLEM:
            FetchError(
                .configuration, "the files of tls.certificate and tls.key are not a certificate with its key in PEM")
        default:
            FetchError(.network, "the connection to \(origin) failed: \(String(cString: curl_easy_strerror(code)))")
        }
    }

    /// Tells "no route" from "refused": without a route the host was not reached, which `OfflineDetector` counts as silence.
    private static func unconnected(_ easy: UnsafeMutableRawPointer, _ origin: String) -> FetchError {
        var reason = 0
        cc_get_long(easy, CURLINFO_OS_ERRNO, &reason)
        switch Int32(truncatingIfNeeded: reason) {
        case ENETUNREACH, EHOSTUNREACH, ENETDOWN, EHOSTDOWN:
            return FetchError(.network, "there is no route to \(origin)")
        default: return FetchError(.refused, "\(origin) does not accept connections")
        }
    }

    /// Maps a failure of the TLS handshake.
    /// - Parameters:
    ///   - plain: the scheme without TLS.
    ///   - note: what else a person may need to know where no version or cipher is in common, or no alert tells the cause.
    static func handshake(
        _ tls: TLSPolicy, _ origin: String, _ message: CurlMessage, plain: String, note: String = ""
    ) -> FetchError {
        if rejectsOurCertificate(tls, message) { return clientCertificate(tls, origin) }
        if let alert = TLSAlert.sentence(origin, plain: plain, message.contains) {
            return FetchError(.tlsHandshake, alert)
        }
        if TLSAlert.isMissing(message.contains) {
            return FetchError(
                .tlsHandshake,
                "\(origin) closed the connection during the TLS handshake; does it speak TLS on that port?\(note)")
        }
        let support = tls.minimum.isOld ? ", as far as this machine's OpenSSL still supports it" : ""
        return FetchError(
            .tlsHandshake,
            "\(origin) and this machine have no TLS version or cipher in common (\(tls.minimum.rawValue) or later\(support)\(note))"
        )
    }

    static func clientCertificate(_ tls: TLSPolicy, _ origin: String) -> FetchError {
        tls.certificate == nil
            ? FetchError(
                .tlsClientCertificate,
                "\(origin) requires a client certificate; write tls: {certificate: FILE, key: FILE}")
            : FetchError(.tlsClientCertificate, "\(origin) does not accept the client certificate of tls.certificate")
    }

    /// Maps an alert that comes after the handshake, as TLS 1.3 has it (RFC 8446 §6.2); nil for another failure.
    static func lateAlert(_ tls: TLSPolicy, _ origin: String, _ message: CurlMessage) -> FetchError? {
        message.contains("certificate required") || rejectsOurCertificate(tls, message)
            ? clientCertificate(tls, origin) : nil
    }

    /// The alerts of a server that refuses a certificate (RFC 8446 §6.2).
    private static func rejectsOurCertificate(_ tls: TLSPolicy, _ message: CurlMessage) -> Bool {
        tls.certificate != nil
            && ["alert unknown ca", "alert bad certificate", "alert certificate"].contains(where: message.contains)
    }

    private static func broken(_ transfer: Transfer, _ origin: String) -> FetchError {
        let tls = transfer.hop?.tls ?? TLSPolicy()
        if let alert = lateAlert(tls, origin, transfer.message) { return alert }
        if transfer.hasAnswered { return FetchError(.truncated, "the answer of \(origin) was cut short") }
        // When the connection is reset, the alert may be lost.
        let hint =
            tls.certificate == nil ? "" : "; perhaps it does not accept the client certificate"
        return FetchError(.closed, "\(origin) broke the connection without an answer" + hint)
    }

    /// Maps failures of the proxy; nil when the proxy is not the cause.
    private static func proxy(_ code: CURLcode, _ transfer: Transfer, _ origin: String) -> FetchError? {
        var (status, detail, verification) = (0, 0, 0)
        cc_get_long(transfer.easy, CURLINFO_HTTP_CONNECTCODE, &status)
        cc_get_long(transfer.easy, CURLINFO_PROXY_ERROR, &detail)
        cc_get_long(transfer.easy, CURLINFO_PROXY_SSL_VERIFYRESULT, &verification)
        switch code {
        case CURLE_COULDNT_RESOLVE_PROXY: return FetchError(.resolve, "the name of the proxy could not be resolved")
        case CURLE_COULDNT_CONNECT where status == 0:
            return FetchError(.refused, "the proxy does not accept connections")
        case _ where status == 407:
            return FetchError(.unauthorized, "the proxy requires a user and password, or other ones (407)")
        case _ where status != 0 && !(200..<300).contains(status):
            return FetchError(.network, "the proxy did not connect to \(origin): it answered \(status)")
        case CURLE_PROXY where rejections.contains(UInt32(truncatingIfNeeded: detail)):
            return FetchError(.unauthorized, "the proxy requires a user and password, or other ones")
        case CURLE_PROXY: return FetchError(.network, "the proxy did not connect to \(origin)")
        case CURLE_PEER_FAILED_VERIFICATION where verification != 0:
            return FetchError(.tlsUntrusted, "the certificate of the proxy is not trusted")
        default: return nil
        }
    }

    /// SOCKS errors for a missing or refused user (RFC 1928, RFC 1929).
    private static let rejections = [
        CURLPX_USER_REJECTED.rawValue, CURLPX_NO_AUTH.rawValue, CURLPX_IDENTD_DIFFER.rawValue, CURLPX_IDENTD.rawValue,
    ]

    private static func timeout(_ transfer: Transfer, _ origin: String, now: Int64) -> FetchError {
        guard let limits = transfer.hop?.request.limits else { return FetchError(.timeout, "\(origin) is too slow") }
        if transfer.hasAnswered || now - transfer.startedAt >= limits.total.wholeMilliseconds {
            return .notDone(origin, in: limits.total, timedOut: !transfer.hasAnswered)
        }
        return FetchError(.timeout, "\(origin) accepted no connection in \(limits.connect)", timedOut: true)
    }

    static func notDone(_ origin: String, in limit: Duration, timedOut: Bool) -> FetchError {
        FetchError(.timeout, "\(origin) did not finish in \(limit)", timedOut: timedOut)
    }

    /// X509_V_ERR_…, see openssl-verification-options(1).
    private static func certificate(_ easy: UnsafeMutableRawPointer, _ origin: String) -> FetchError {
        var verification = 0
        cc_get_long(easy, CURLINFO_SSL_VERIFYRESULT, &verification)
        return switch verification {
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
