// SPDX-License-Identifier: Apache-2.0

import CCurl
import VedetteCore

extension TLSPolicy {
    /// Sets the policy on an easy handle.
    ///
    /// - Returns: false when libcurl refused an option; then nothing may be sent.
    func apply(to easy: UnsafeMutableRawPointer) -> Bool {
        var isSet = cc_set_long(easy, CURLOPT_SSLVERSION, minimum.option) == CURLE_OK
        if minimum.isOld {
            // OpenSSL supports TLS 1.0 and 1.1 at its lowest level of security only (SSL_CTX_set_security_level(3)).
            isSet = cc_set_string(easy, CURLOPT_SSL_CIPHER_LIST, "DEFAULT:@SECLEVEL=0") == CURLE_OK && isSet
        }
        if let certificate {
            isSet = cc_set_string(easy, CURLOPT_SSLCERT, certificate) == CURLE_OK && isSet
            isSet = cc_set_string(easy, CURLOPT_SSLKEY, key ?? certificate) == CURLE_OK && isSet
        }
        if let ca { isSet = cc_set_string(easy, CURLOPT_CAINFO, ca) == CURLE_OK && isSet }
        // libcurl checks a pin in addition to the chain, so the chain is not verified where a pin replaces it.
        let verifies = !insecure && pin == nil
        cc_set_long(easy, CURLOPT_SSL_VERIFYPEER, verifies ? 1 : 0)
        cc_set_long(easy, CURLOPT_SSL_VERIFYHOST, verifies ? 2 : 0)
        if let pin { isSet = cc_set_string(easy, CURLOPT_PINNEDPUBLICKEY, pin) == CURLE_OK && isSet }
        return isSet
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
