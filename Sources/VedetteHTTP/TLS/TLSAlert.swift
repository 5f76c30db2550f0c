// SPDX-License-Identifier: Apache-2.0

/// Why a server refused the TLS handshake. Only libcurl's message tells it, in the words of OpenSSL (ERR_reason_error_string(3)).
enum TLSAlert {
    private static let sentences: [(words: [String], end: String)] = [
        (["unrecognized name"], "serves no host of this name (TLS alert unrecognized_name)"),
        (["alert access denied"], "denies access in the TLS handshake (alert access_denied)"),
        (["alert internal error"], "failed in the TLS handshake (alert internal_error); its log tells why"),
        (
            ["no application protocol"],
            "knows none of the protocols that were offered (TLS alert no_application_protocol)"
        ),
        (["alert decrypt error", "alert decode error", "alert illegal parameter"], "could not read the TLS handshake"),
        (["alert user canceled"], "canceled the TLS handshake"),
    ]

    /// libcurl's own words where OpenSSL has none, which is so when the connection ended, and OpenSSL's (ossl_connect_step2 in
    /// lib/vtls/openssl.c).
    private static let ended = ["SSL_connect: ", "unexpected eof"]

    private static let plainText = ["wrong version number", "packet length too long", "http request"]

    /// Whether the server ended the connection without an alert.
    static func isMissing(_ contains: (String) -> Bool) -> Bool { ended.contains(where: contains) }

    /// Returns a sentence about the server; nil when it has no TLS version or cipher in common with this machine, or when the
    /// message does not tell.
    /// - Parameter plain: the scheme without TLS.
    static func sentence(_ origin: String, plain: String, _ contains: (String) -> Bool) -> String? {
        if plainText.contains(where: contains) {
            return "\(origin) does not speak TLS at this port; write \(plain), or another port"
        }
        return sentences.first { $0.words.contains(where: contains) }.map { "\(origin) \($0.end)" }
    }
}
