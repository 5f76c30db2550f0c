// SPDX-License-Identifier: Apache-2.0

import CCurl
import VedetteCore

/// The options of an easy handle that a hop decides. A hop with the same ones sets only its URL and headers.
struct TransferOptions: Hashable {
    var tls: TLSPolicy
    var connect: Duration
    /// Nil for a request whose response may be a stream.
    var total: Duration?
    var isFresh: Bool
    var proxy: ProxySelection?
    var refusesPrivate: Bool
    /// Whether the server's certificate is read.
    var inspects: Bool
    var digest: DigestLogin?
    var signature: Signature?

    /// What libcurl signs requests with (CURLOPT_AWS_SIGV4(3)).
    struct Signature: Hashable {
        var scope: String
        var key: String
        var secret: String

        init(_ signature: AWSSignature) {
            scope = "aws:amz:\(signature.region):\(signature.service)"
            (key, secret) = (signature.key, signature.secret.value)
        }
    }

    /// libcurl keeps a server's challenge in the handle, so a handle with a digest login serves one origin.
    struct DigestLogin: Hashable {
        var user: String
        var password: String
        var origin: String
    }

    /// - Parameter isFresh: whether the hop needs a connection of its own.
    init(_ hop: RedirectHop, isFresh: Bool) {
        let request = hop.request
        (tls, proxy, refusesPrivate) = (hop.tls, hop.proxy, hop.refusesPrivate)
        (connect, total) = (request.limits.connect, request.stream == nil ? request.limits.total : nil)
        inspects = request.inspectsConnection
        self.isFresh = isFresh || inspects
        digest = hop.digest.map { DigestLogin(user: $0.user, password: $0.password, origin: hop.origin) }
        signature = hop.signature.map(Signature.init)
    }

    /// Sets the options on an easy handle.
    ///
    /// - Parameter trusted: what the TLS policy trusts, where libcurl does not read it itself.
    /// - Returns: false when libcurl refused one; then nothing may be sent.
    func apply(to easy: UnsafeMutableRawPointer, _ trusted: TrustedCertificates?) -> Bool {
        cc_set_long(easy, CURLOPT_FRESH_CONNECT, isFresh ? 1 : 0)
        cc_set_long(easy, CURLOPT_CONNECTTIMEOUT_MS, max(1, Int(connect.wholeMilliseconds)))
        cc_set_long(easy, CURLOPT_TIMEOUT_MS, total.map { max(1, Int($0.wholeMilliseconds)) } ?? 0)
        let isProtected = tls.apply(to: easy, trusted) && setProxy(on: easy)
        if inspects {
            cc_set_long(easy, CURLOPT_CERTINFO, 1)
            // A resumed session brings no certificate.
            cc_set_long(easy, CURLOPT_SSL_SESSIONID_CACHE, 0)
        }
        if let digest {
            cc_set_long(easy, CURLOPT_HTTPAUTH, CC_AUTH_DIGEST)
            cc_set_string(easy, CURLOPT_USERNAME, digest.user)
            cc_set_string(easy, CURLOPT_PASSWORD, digest.password)
        }
        return setSignature(on: easy) && isProtected
    }

    private func setSignature(on easy: UnsafeMutableRawPointer) -> Bool {
        guard let signature else { return true }
        cc_set_string(easy, CURLOPT_USERNAME, signature.key)
        cc_set_string(easy, CURLOPT_PASSWORD, signature.secret)
        return cc_set_string(easy, CURLOPT_AWS_SIGV4, signature.scope) == CURLE_OK
    }

    /// The empty strings keep libcurl from reading the environment itself.
    private func setProxy(on easy: UnsafeMutableRawPointer) -> Bool {
        guard cc_set_string(easy, CURLOPT_PROXY, proxy?.url ?? "") == CURLE_OK else { return false }
        guard let proxy else { return true }
        cc_set_string(easy, CURLOPT_NOPROXY, "")
        if let user = proxy.user { cc_set_string(easy, CURLOPT_PROXYUSERNAME, user) }
        if let password = proxy.password { cc_set_string(easy, CURLOPT_PROXYPASSWORD, password) }
        // The headers are for the server: a proxy that opens a tunnel does not see them.
        return cc_set_long(easy, CURLOPT_HEADEROPT, Int(CURLHEADER_SEPARATE)) == CURLE_OK
    }
}
