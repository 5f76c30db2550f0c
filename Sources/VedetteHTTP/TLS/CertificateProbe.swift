// SPDX-License-Identifier: Apache-2.0

import CCurl
import Glibc
public import VedetteCore

/// Looks at the certificates that a server shows, whether they can be trusted or not. It shakes hands and hangs up: no
/// request, and no credential, is sent.
public struct CertificateProbe: Sendable {
    public struct Finding: Sendable, Hashable {
        /// As the server sends them, its own first.
        public var chain: [Certificate]
        /// Why the usual check of chain, date and name fails, in words; empty when it passes.
        public var doubts: [String]
    }

    private let url: WebURL
    private let ca: String?
    private let proxy: Proxy

    /// - Parameters:
    ///   - url: `https`; only its host and port are used.
    ///   - ca: a PEM file whose certificates are trusted instead of the system's.
    public init(_ url: WebURL, ca: String? = nil, proxy: Proxy = .environment) {
        (self.url, self.ca, self.proxy) = (url, ca, proxy)
    }

    /// Takes at most a minute.
    public func look() async throws(FetchError) -> Finding {
        let result = await withUnsafeContinuation { continuation in
            // The handle blocks, and Swift's threads are as few as processors.
            BlockingThread.start { continuation.resume(returning: lookNow()) }
        }
        return try result.get()
    }

    private func lookNow() -> Result<Finding, FetchError> {
        guard let handle = CertificateHandle(url, ca: ca, proxy: proxy) else {
            return .failure(FetchError(.network, "libcurl could not be set up"))
        }
        let code = handle.connect(verifies: false)
        guard code == CURLE_OK else { return .failure(problem(code)) }
        let chain = handle.chain.compactMap(Certificate.init(pem:))
        guard let own = chain.first else {
            return .failure(FetchError(.tlsHandshake, "\(url.origin) shows no certificate that can be read"))
        }
        let isTrusted = handle.connect(verifies: true) == CURLE_OK
        return .success(Finding(chain: chain, doubts: isTrusted ? [] : doubts(handle.verdict, own)))
    }

    private func doubts(_ verdict: Int, _ own: Certificate) -> [String] {
        var doubts: [String] = []
        if verdict != 0 { doubts.append(CertificateProbe.words(verdict, isOurChoice: ca != nil)) }
        if !own.isFor(host) { doubts.append("it is for other names than \(host)") }
        return doubts.isEmpty ? ["the check fails for a reason that libcurl does not name"] : doubts
    }

    private var host: String {
        if url.authority.hasPrefix("[") { return String(url.authority.dropFirst().prefix { $0 != "]" }) }
        return String(url.authority.prefix { $0 != ":" })
    }

    /// X509_V_ERR_…, see X509_STORE_CTX_get_error(3).
    private static func words(_ verdict: Int, isOurChoice: Bool) -> String {
        let judge = isOurChoice ? "the file of tls.ca" : "this system"
        return switch verdict {
        case 9: "it is not valid yet"
        case 10: "it has expired"
        case 18: "it is signed by itself alone"
        case 19: "its chain ends in an authority that \(judge) does not know"
        case 20, 21: "\(judge) does not know who signed it, or the server leaves out a certificate in between"
        default: Certificate.verdict(verdict)
        }
    }

    private func problem(_ code: CURLcode) -> FetchError {
        switch code {
        case CURLE_COULDNT_RESOLVE_HOST: FetchError(.resolve, "the name of \(url.origin) could not be resolved")
        case CURLE_COULDNT_RESOLVE_PROXY: FetchError(.resolve, "the proxy's name could not be resolved")
        case CURLE_COULDNT_CONNECT: FetchError(.refused, "\(url.origin) does not accept connections")
        case CURLE_OPERATION_TIMEDOUT:
            FetchError(.timeout, "\(url.origin) did not shake hands in time; does it speak TLS there?", timedOut: true)
        case CURLE_SSL_CONNECT_ERROR: FetchError(.tlsHandshake, "\(url.origin) does not speak TLS, or not with us")
        default:
            FetchError(.network, "the connection to \(url.origin) failed: \(String(cString: curl_easy_strerror(code)))")
        }
    }
}

/// A libcurl handle that only connects.
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
        // A session that is resumed shows no certificates.
        cc_set_long(easy, CURLOPT_SSL_SESSIONID_CACHE, 0)
        cc_set_long(easy, CURLOPT_CONNECTTIMEOUT_MS, 10_000)
        cc_set_long(easy, CURLOPT_TIMEOUT_MS, 20_000)
        // An appliance of old may speak no later one, and nothing is told to it.
        cc_set_long(easy, CURLOPT_SSLVERSION, CURL_SSLVERSION_TLSv1_0)
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
        if let ca { cc_set_string(easy, CURLOPT_CAINFO, ca) }
        return curl_easy_perform(easy)
    }

    /// Of the last connection, as PEM.
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

    /// OpenSSL's word on the chain of the last connection; 0 when it has nothing against it.
    var verdict: Int {
        var verdict = 0
        cc_get_long(easy, CURLINFO_SSL_VERIFYRESULT, &verdict)
        return verdict
    }
}

/// A thread for one call that blocks.
private enum BlockingThread {
    private final class Work {
        let run: @Sendable () -> Void
        init(_ run: @escaping @Sendable () -> Void) { self.run = run }
    }

    static func start(_ run: @escaping @Sendable () -> Void) {
        var thread = pthread_t()
        let work = Unmanaged.passRetained(Work(run))
        let code = pthread_create(
            &thread, nil,
            { context in
                guard let context else { return nil }
                Unmanaged<Work>.fromOpaque(context).takeRetainedValue().run()
                return nil
            }, work.toOpaque())
        guard code == 0 else {
            // Nobody else waits while a command looks: better here than never.
            work.takeRetainedValue().run()
            return
        }
        pthread_detach(thread)
    }
}
