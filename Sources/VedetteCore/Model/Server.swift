// SPDX-License-Identifier: Apache-2.0

/// Connection settings shared by sources: base URL, credentials, TLS, headers.
public struct Server: Sendable {
    public var name: String
    /// The base that a source's `path` is resolved against.
    public var url: String?
    public var credentials: Credentials?
    public var tls: TLSPolicy
    public var headers: [Header]
    public var userAgent: String?

    public init(
        name: String, url: String? = nil, credentials: Credentials? = nil, tls: TLSPolicy = .init(),
        headers: [Header] = [], userAgent: String? = nil
    ) {
        (self.name, self.url, self.credentials) = (name, url, credentials)
        (self.tls, self.headers, self.userAgent) = (tls, headers, userAgent)
    }
}

/// HTTP Basic (RFC 7617).
public struct Credentials: Sendable {
    public var user: String
    public var password: Secret

    public init(user: String, password: Secret) {
        (self.user, self.password) = (user, password)
    }
}

/// How the server's certificate is judged.
public struct TLSPolicy: Sendable, Hashable {
    /// A PEM file that replaces the system's certificate authorities.
    public var ca: String?
    /// `sha256//` and the base64 SHA-256 of the public key; several with `;`. It replaces the check of chain, name and
    /// date, so a self-signed appliance is trusted by its key alone.
    public var pin: String?
    /// No check at all.
    public var insecure: Bool

    public init(ca: String? = nil, pin: String? = nil, insecure: Bool = false) {
        (self.ca, self.pin, self.insecure) = (ca, pin, insecure)
    }
}

/// A request header. A secret one goes to its own origin only and is never printed.
public struct Header: Sendable {
    public enum Content: Sendable {
        case plain(String)
        case secret(Secret)
    }

    public var name: String
    public var content: Content

    public init(_ name: String, _ value: String) { (self.name, content) = (name, .plain(value)) }
    public init(_ name: String, _ secret: Secret) { (self.name, content) = (name, .secret(secret)) }

    public var isSecret: Bool {
        if case .secret = content { true } else { false }
    }

    public var value: String {
        switch content {
        case .plain(let value): value
        case .secret(let secret): secret.value
        }
    }
}
