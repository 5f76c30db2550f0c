// SPDX-License-Identifier: Apache-2.0

/// A request header. A secret one is sent to its own origin only and never printed.
public struct Header: Sendable {
    /// The value.
    public enum Content: Sendable {
        /// May be logged.
        case plain(String)
        /// Must not be logged.
        case secret(Secret)
    }

    /// The name, in any case.
    public var name: String
    /// The value.
    public var content: Content
    /// Whether the user gave it to a server; then it is sent to that server's origin only, whatever its name.
    public var isOwn = false

    /// Creates a header that may be logged.
    public init(_ name: String, _ value: String) { (self.name, content) = (name, .plain(value)) }
    /// Creates a secret header.
    public init(_ name: String, _ secret: Secret) { (self.name, content) = (name, .secret(secret)) }

    /// A header with one of these words in its name has a secret.
    private static let secretWords = [
        "authorization", "cookie", "token", "secret", "password", "api-key", "apikey", "auth-key", "access-key",
        "gotify-key", "private-key",
    ]

    /// Returns whether headers of that name have secrets.
    public static func isUsuallySecret(_ name: String) -> Bool {
        let lowercased = name.lowercased()
        return secretWords.contains { lowercased.contains($0) }
    }

    /// Whether the value must not be logged.
    public var isSecret: Bool {
        if case .secret = content { true } else { false }
    }

    /// The same header, given to a server by the user.
    public var own: Header {
        var header = self
        header.isOwn = true
        return header
    }

    /// The value as it is sent.
    public var value: String {
        switch content {
        case .plain(let value): value
        case .secret(let secret): secret.value
        }
    }
}

extension Header {
    /// Asks every cache on the way to revalidate what it has (RFC 9111 §5.2.1.1).
    static let revalidate = Header("Cache-Control", "max-age=0")

    /// Whether the header is sent only to the origin it was configured for (I9): a secret, and each header of a server except
    /// User-Agent, Accept and `Accept-…`.
    public var isForOneOrigin: Bool {
        if isSecret { return true }
        let name = name.lowercased()
        return isOwn && name != "user-agent" && name != "accept" && !name.hasPrefix("accept-")
    }
}
