// SPDX-License-Identifier: Apache-2.0

import CCurl
import VedetteCore

/// Reads the last valid time of the server's certificate from its chain, as libcurl reports it (CURLINFO_CERTINFO(3)).
enum CurlCertificateDate {
    private static let label = "Expire date:"
    private static let months = [
        "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
    ]

    /// Returns when the server's own certificate, the first of its chain, expires.
    static func expiry(_ easy: UnsafeMutableRawPointer) -> Timestamp? {
        var chain: UnsafeMutablePointer<curl_certinfo>?
        guard cc_get_certificates(easy, &chain) == CURLE_OK, let chain, chain.pointee.num_of_certs > 0 else {
            return nil
        }
        var line = chain.pointee.certinfo[0]
        while let here = line {
            let text = String(cString: here.pointee.data)
            if text.hasPrefix(label) { return date(String(text.dropFirst(label.count))) }
            line = here.pointee.next
        }
        return nil
    }

    /// Reads a time as OpenSSL prints it, `Nov  1 14:56:00 2026 GMT`, or as GnuTLS does, `2026-11-01 14:56:00 GMT`.
    static func date(_ text: String) -> Timestamp? {
        let words = text.split(separator: " ").map(String.init)
        guard words.last == "GMT" else { return nil }
        if words.count == 5, let month = months.firstIndex(of: words[0].lowercased()) {
            return time(year: words[3], month: String(month + 1), day: words[1], clock: words[2])
        }
        guard words.count == 3 else { return nil }
        let parts = words[0].split(separator: "-").map(String.init)
        guard parts.count == 3 else { return nil }
        return time(year: parts[0], month: parts[1], day: parts[2], clock: words[1])
    }

    private static func time(year: String, month: String, day: String, clock: String) -> Timestamp? {
        let parts = clock.split(separator: ":").compactMap { Int($0) }
        guard parts.count == 3, let year = Int(year), let month = Int(month), let day = Int(day) else { return nil }
        return CivilDate(year: year, month: month, day: day, hour: parts[0], minute: parts[1], second: parts[2])
            .timestamp
    }
}
