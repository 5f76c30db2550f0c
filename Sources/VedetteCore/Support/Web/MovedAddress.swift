// SPDX-License-Identifier: Apache-2.0

/// The address to which a server has moved a source for good (301 and 308, RFC 9110 §15.4), as a person may write it into
/// the configuration.
public enum MovedAddress {
    /// Bytes of an address that is stored and shown; a longer one is not.
    static let longest = 2000
    /// Parameters of a query that have secrets besides those with the words of `Header.isUsuallySecret`.
    private static let secretParameters: Set<String> = ["key", "sig", "signature", "auth", "code", "session", "sid"]

    /// Returns the address without a value that may be a credential; nil for one that cannot be shown.
    ///
    /// A kind adds parameters to the query, such as the time since when it asks. Where the server kept the query, the address
    /// has the configured one, so that it stays the same from poll to poll.
    /// - Parameters:
    ///   - target: where permanent redirects alone led.
    ///   - asked: the URL of the request.
    ///   - configured: the source's URL.
    public static func text(_ target: String, asked: String, configured: String) -> String? {
        guard let target = WebURL(target), let asked = WebURL(asked), let configured = WebURL(configured) else {
            return nil
        }
        let query = target.query == asked.query ? configured.query : target.query
        let base = "\(target.scheme)://\(target.authority)\(target.path)"
        let text = query.map { "\(base)?\($0.split(separator: "&").map(shown).joined(separator: "&"))" } ?? base
        return text.utf8.count <= longest ? text : nil
    }

    private static func shown(_ pair: Substring) -> String {
        let name = pair.prefix { $0 != "=" }
        let decoded = FormEncoding.decoded(name).lowercased()
        let isSecret = Header.isUsuallySecret(decoded) || secretParameters.contains(decoded)
        return isSecret ? "\(name)=\(SecretRedactor.replacement)" : String(pair)
    }
}
