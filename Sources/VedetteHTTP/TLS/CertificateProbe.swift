// SPDX-License-Identifier: Apache-2.0

import CCurl
import Glibc
public import VedetteCore
import VedetteSystem

/// Reads the certificates of a server, whether they can be trusted or not. It only performs the handshake: it sends no
/// request and no credential.
public struct CertificateProbe: Sendable {
    public struct Finding: Sendable, Hashable {
        /// In the order in which the server sends them, its own first.
        public var chain: [Certificate]
        /// Why the usual check of chain, date and name fails; empty when it passes.
        public var doubts: [String]
    }

    private let url: WebURL
    private let ca: String?
    private let proxy: Proxy

    /// - Parameters:
    ///   - url: only scheme, host and port are used; with `http` it connects, and there is no certificate.
    ///   - ca: a PEM file whose certificates are trusted instead of the system's.
    public init(_ url: WebURL, ca: String? = nil, proxy: Proxy = .environment) {
        (self.url, self.ca, self.proxy) = (url, ca, proxy)
    }

    /// Connects twice, without and with verification. It takes at most a minute.
    public func look() async throws(FetchError) -> Finding {
        let finding: Result<Finding, FetchError>
        do throws(SystemThread.Unavailable) {
            finding = try await SystemThread.run { lookNow() }
        } catch {
            throw FetchError(.memory, "there is no thread to connect on (\(error.reason))")
        }
        return try finding.get()
    }

    private func lookNow() -> Result<Finding, FetchError> {
        guard let handle = CertificateHandle(url, ca: ca, proxy: proxy) else {
            return .failure(FetchError(.memory, "there is no memory for another connection"))
        }
        let code = handle.connect(verifies: false)
        guard code == CURLE_OK else { return .failure(problem(code)) }
        if url.scheme == "http" { return .success(Finding(chain: [], doubts: [])) }
        let chain = handle.chain.compactMap(Certificate.init(pem:))
        guard let own = chain.first else {
            return .failure(FetchError(.tlsHandshake, "\(url.origin) sends no readable certificate"))
        }
        let isTrusted = handle.connect(verifies: true) == CURLE_OK
        return .success(Finding(chain: chain, doubts: isTrusted ? [] : doubts(handle.verification, own)))
    }

    private func doubts(_ verification: Int, _ own: Certificate) -> [String] {
        var doubts: [String] = []
        if verification != 0 { doubts.append(CertificateProbe.sentence(verification, hasOwnAuthority: ca != nil)) }
        if !own.isFor(url.host) { doubts.append("it is not for \(url.host)") }
        return doubts.isEmpty ? ["the check fails for a reason that libcurl does not report"] : doubts
    }

    /// X509_V_ERR_…, see X509_STORE_CTX_get_error(3).
    private static func sentence(_ verification: Int, hasOwnAuthority: Bool) -> String {
        let authority = hasOwnAuthority ? "the file of tls.ca" : "this system"
        return switch verification {
        case 9: "it is not valid yet"
        case 10: "it has expired"
        case 18: "it is signed only by itself"
        case 19: "its chain ends in an authority that \(authority) does not know"
        case 20, 21: "\(authority) does not know who signed it, or the server leaves out a certificate in between"
        default: Certificate.description(ofVerification: verification)
        }
    }

    private func problem(_ code: CURLcode) -> FetchError {
        switch code {
        case CURLE_COULDNT_RESOLVE_HOST: FetchError(.resolve, "the name of \(url.origin) could not be resolved")
        case CURLE_COULDNT_RESOLVE_PROXY: FetchError(.resolve, "the name of the proxy could not be resolved")
        case CURLE_COULDNT_CONNECT: FetchError(.refused, "\(url.origin) does not accept connections")
        case CURLE_OPERATION_TIMEDOUT:
            FetchError(
                .timeout, "\(url.origin) did not finish the TLS handshake in time; does it speak TLS on that port?",
                timedOut: true)
        case CURLE_SSL_CONNECT_ERROR:
            FetchError(.tlsHandshake, "\(url.origin) does not speak TLS, or no version that this machine supports")
        default:
            FetchError(.network, "the connection to \(url.origin) failed: \(String(cString: curl_easy_strerror(code)))")
        }
    }
}

/// A libcurl handle that connects and sends nothing.
private final class CertificateHandle {
    private let easy: UnsafeMutableRawPointer
    private let ca: String?

    init?(_ url: WebURL, ca: String?, proxy: Proxy) {
        guard let easy = curl_easy_init() else { return nil }
        (self.easy, self.ca) = (easy, ca)
        cc_set_string(easy, CURLOPT_URL, url.origin)
        cc_set_long(easy, CURLOPT_NOSIGNAL, 1)
        cc_set_long(easy, CURLOPT_CONNECT_ONLY, 1)
        cc_set_long(easy, CURLOPT_CERTINFO, 1)
        cc_set_long(easy, CURLOPT_FRESH_CONNECT, 1)
        // A resumed session has no certificates.
        cc_set_long(easy, CURLOPT_SSL_SESSIONID_CACHE, 0)
        cc_set_long(easy, CURLOPT_CONNECTTIMEOUT_MS, 10_000)
        cc_set_long(easy, CURLOPT_TIMEOUT_MS, 20_000)
        // An old appliance may support no later version, and nothing is sent to it.
        cc_set_long(easy, CURLOPT_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_0))
        switch proxy {
        case .environment: break
        case .none: cc_set_string(easy, CURLOPT_PROXY, "")
        case .url(let address, let user, let password):
            cc_set_string(easy, CURLOPT_PROXY, address)
            if let user { cc_set_string(easy, CURLOPT_PROXYUSERNAME, user) }
            if let password { cc_set_string(easy, CURLOPT_PROXYPASSWORD, password.value) }
        }
    }

    deinit { curl_easy_cleanup(easy) }

    func connect(verifies: Bool) -> CURLcode {
        cc_set_long(easy, CURLOPT_SSL_VERIFYPEER, verifies ? 1 : 0)
        cc_set_long(easy, CURLOPT_SSL_VERIFYHOST, verifies ? 2 : 0)
        if let ca, !TLSPolicy.setOnlyAuthorities(ca, on: easy) { return CURLE_SSL_CACERT_BADFILE }
        return curl_easy_perform(easy)
    }

    /// The certificates of the last connection, as PEM.
    var chain: [String] {
        var found: UnsafeMutableRawPointer?
        guard cc_get_pointer(easy, CURLINFO_CERTINFO, &found) == CURLE_OK, let found else { return [] }
        let information = found.assumingMemoryBound(to: curl_certinfo.self).pointee
        return (0..<Int(information.num_of_certs)).compactMap { index in
            var line = information.certinfo?[index]
            while let entry = line?.pointee {
                let text = entry.data.map { String(cString: $0) } ?? ""
                if text.hasPrefix("Cert:") { return String(text.dropFirst(5)) }
                line = entry.next
            }
            return nil
        }
    }

    /// The result of verifying the chain of the last connection; 0 is success.
    var verification: Int {
        var verification = 0
        cc_get_long(easy, CURLINFO_SSL_VERIFYRESULT, &verification)
        return verification
    }
}
