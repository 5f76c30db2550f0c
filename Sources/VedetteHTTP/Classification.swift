// SPDX-License-Identifier: Apache-2.0

import CCurl
import VedetteCore

extension FetchError {
    /// What a CURLcode means (libcurl-errors(3)), told apart further by the certificate check's own verdict.
    static func of(_ code: CURLcode, easy: UnsafeMutableRawPointer, hop: Hop?, hasAnswered: Bool) -> FetchError {
        let origin = hop?.url.origin ?? "the server"
        var verdict = 0
        cc_get_long(easy, CURLINFO_SSL_VERIFYRESULT, &verdict)
        switch code {
        case CURLE_COULDNT_RESOLVE_HOST: return FetchError(.resolve, "the name of \(origin) could not be resolved")
        case CURLE_COULDNT_RESOLVE_PROXY: return FetchError(.resolve, "the proxy's name could not be resolved")
        case CURLE_COULDNT_CONNECT: return FetchError(.refused, "\(origin) does not accept connections")
        case CURLE_OPERATION_TIMEDOUT: return timeout(easy, origin, hasAnswered: hasAnswered)
        case CURLE_PEER_FAILED_VERIFICATION: return certificate(verdict, origin)
        case CURLE_SSL_PINNEDPUBKEYNOTMATCH:
            return FetchError(.tlsPin, "the key of \(origin) is not the pinned one; nothing was sent to it")
        case CURLE_SSL_CACERT_BADFILE: return FetchError(.configuration, "the file of tls.ca cannot be read")
        case CURLE_SSL_CONNECT_ERROR:
            return FetchError(.tlsHandshake, "\(origin) and we found no common way to speak TLS (1.2 or later)")
        case CURLE_SSL_CERTPROBLEM:
            return FetchError(.tlsClientCertificate, "our certificate was not accepted by \(origin)")
        case CURLE_PARTIAL_FILE, CURLE_HTTP2_STREAM:
            return FetchError(.truncated, "the answer of \(origin) was cut short")
        case CURLE_GOT_NOTHING: return FetchError(.closed, "\(origin) closed the connection without an answer")
        case CURLE_WEIRD_SERVER_REPLY, CURLE_UNSUPPORTED_PROTOCOL, CURLE_HTTP2:
            return FetchError(.protocol, "\(origin) does not answer in HTTP")
        case CURLE_RECV_ERROR where verdict == 0 && !hasAnswered && hop?.url.scheme == "https":
            // With TLS 1.3 a server says so only after the handshake.
            return FetchError(.network, "the connection to \(origin) broke; the server may want a client certificate")
        case CURLE_RECV_ERROR where hasAnswered: return FetchError(.truncated, "the answer of \(origin) was cut short")
        default:
            return FetchError(
                .network, "the connection to \(origin) failed: \(String(cString: curl_easy_strerror(code)))")
        }
    }

    private static func timeout(_ easy: UnsafeMutableRawPointer, _ origin: String, hasAnswered: Bool) -> FetchError {
        var connected: curl_off_t = 0
        cc_get_offset(easy, CURLINFO_CONNECT_TIME_T, &connected)
        if connected == 0 {
            return FetchError(.timeout, "\(origin) did not accept the connection in time", timedOut: true)
        }
        return hasAnswered
            ? FetchError(.timeout, "\(origin) answers too slowly")
            : FetchError(.timeout, "\(origin) did not answer in time", timedOut: true)
    }

    /// X509_V_ERR_…, see openssl-verification-options(1).
    private static func certificate(_ verdict: Int, _ origin: String) -> FetchError {
        switch verdict {
        case 10: FetchError(.tlsExpired, "the certificate of \(origin) has expired")
        case 9: FetchError(.tlsExpired, "the certificate of \(origin) is not valid yet")
        case 1: FetchError(.tlsName, "the certificate of \(origin) is for another name")
        case 0: FetchError(.tlsName, "the certificate of \(origin) is for another name")
        default:
            FetchError(
                .tlsUntrusted,
                "the certificate of \(origin) is not trusted; for a self-signed one write tls: {pin: …} or tls: {ca: FILE}"
            )
        }
    }
}
