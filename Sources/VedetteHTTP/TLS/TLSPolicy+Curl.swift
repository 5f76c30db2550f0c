// SPDX-License-Identifier: Apache-2.0

import CCurl
import VedetteCore

extension TLSPolicy {
    /// Whether the chain, the name and the date of a certificate are verified. libcurl checks a pin in addition to the chain, so
    /// where a pin replaces that they are not.
    var verifiesChain: Bool { !insecure && pin == nil }

    /// Sets the policy on an easy handle.
    ///
    /// - Parameter trusted: what `ca` stands for, which the handle does not retain; without it libcurl reads the files itself.
    /// - Returns: false when libcurl refused an option; then nothing may be sent.
    func apply(to easy: UnsafeMutableRawPointer, _ trusted: TrustedCertificates?) -> Bool {
        var isSet = cc_set_long(easy, CURLOPT_SSLVERSION, minimum.option) == CURLE_OK
        if minimum.isOld {
            // OpenSSL supports TLS 1.0 and 1.1 at its lowest level of security only (SSL_CTX_set_security_level(3)).
            isSet = cc_set_string(easy, CURLOPT_SSL_CIPHER_LIST, "DEFAULT:@SECLEVEL=0") == CURLE_OK && isSet
        }
        if let certificate {
            isSet = cc_set_string(easy, CURLOPT_SSLCERT, certificate) == CURLE_OK && isSet
            isSet = cc_set_string(easy, CURLOPT_SSLKEY, key ?? certificate) == CURLE_OK && isSet
        }
        cc_set_long(easy, CURLOPT_SSL_VERIFYPEER, verifiesChain ? 1 : 0)
        cc_set_long(easy, CURLOPT_SSL_VERIFYHOST, verifiesChain ? 2 : 0)
        isSet = setAuthorities(trusted, on: easy) && isSet
        if let pin { isSet = cc_set_string(easy, CURLOPT_PINNEDPUBLICKEY, pin) == CURLE_OK && isSet }
        return isSet
    }

    private func setAuthorities(_ trusted: TrustedCertificates?, on easy: UnsafeMutableRawPointer) -> Bool {
        if verifiesChain, let trusted { return trusted.attach(to: easy) }
        guard verifiesChain, ca == nil else { return TLSPolicy.setOnlyAuthorities(ca, on: easy) }
        return true
    }

    /// Has libcurl read the certificates of one file alone: it would search the system's directory too, where it has one. It keeps
    /// none of them, since libcurl 7.88 puts what it keeps in the place of what `TrustedCertificates` sets.
    /// - Parameter ca: nil to read none.
    static func setOnlyAuthorities(_ ca: String?, on easy: UnsafeMutableRawPointer) -> Bool {
        cc_set_string(easy, CURLOPT_CAINFO, ca) == CURLE_OK && cc_set_string(easy, CURLOPT_CAPATH, nil) == CURLE_OK
            && cc_set_long(easy, CURLOPT_CA_CACHE_TIMEOUT, 0) == CURLE_OK
    }
}

extension TLSPolicy.Version {
    /// The value of CURLOPT_SSLVERSION for this version or a later one.
    var option: Int {
        switch self {
        case .v1_0: Int(CURL_SSLVERSION_TLSv1_0)
        case .v1_1: Int(CURL_SSLVERSION_TLSv1_1)
        case .v1_2: Int(CURL_SSLVERSION_TLSv1_2)
        case .v1_3: Int(CURL_SSLVERSION_TLSv1_3)
        }
    }

    var isOld: Bool { self == .v1_0 || self == .v1_1 }
}
