// SPDX-License-Identifier: Apache-2.0

/// Connection settings shared by sources: base URL, credentials, TLS, headers, rate.
public struct Server: Sendable {
    public var name: String
    /// The base that a source's `path` is resolved against.
    public var url: String?
    public var credentials: Credentials?
    public var tls: TLSPolicy
    public var headers: [Header]
    public var userAgent: String?
    public var proxy: Proxy
    public var cookies: CookiePolicy
    /// What all requests to one origin share.
    public var originLimits: OriginLimits
    /// Redirects, next pages and links may lead from a public host to a private address.
    public var allowsPrivate: Bool

    public init(
        name: String, url: String? = nil, credentials: Credentials? = nil, tls: TLSPolicy = .init(),
        headers: [Header] = [], userAgent: String? = nil, proxy: Proxy = .environment, cookies: CookiePolicy = .memory,
        originLimits: OriginLimits = .init(), allowsPrivate: Bool = false
    ) {
        (self.name, self.url, self.credentials) = (name, url, credentials)
        (self.tls, self.headers, self.userAgent) = (tls, headers, userAgent)
        (self.proxy, self.cookies, self.originLimits) = (proxy, cookies, originLimits)
        self.allowsPrivate = allowsPrivate
    }
}

/// How a request says who asks. It goes to the origin it was given for and to no other (I9).
public enum Credentials: Sendable {
    /// RFC 7617.
    case basic(user: String, password: Secret)
    /// RFC 7616.
    case digest(user: String, password: Secret)
    /// RFC 6750 §2.1.
    case bearer(Secret)
    /// A parameter of the query, added as the request goes out: no log, event or snapshot sees it.
    case query(name: String, value: Secret)
    /// OAuth 2 client credentials (RFC 6749 §4.4).
    case grant(ClientGrant)

    public init(user: String, password: Secret) { self = .basic(user: user, password: password) }

    public var user: String? {
        switch self {
        case .basic(let user, _), .digest(let user, _): user
        case .bearer, .query, .grant: nil
        }
    }

    /// The secret part, whatever the scheme calls it.
    public var password: Secret {
        switch self {
        case .basic(_, let secret), .digest(_, let secret), .bearer(let secret), .query(_, let secret): secret
        case .grant(let grant): grant.secret
        }
    }
}

/// What a token is asked for with (RFC 6749 §4.4).
public struct ClientGrant: Sendable {
    /// Absolute, of the token endpoint.
    public var url: String
    public var client: String
    public var secret: Secret
    /// Separated by blanks (RFC 6749 §3.3).
    public var scope: String?
    /// Of servers that ask for it.
    public var audience: String?
    /// The client's id and secret go in the body instead of basic authentication (RFC 6749 §2.3.1).
    public var inBody: Bool

    public init(
        url: String, client: String, secret: Secret, scope: String? = nil, audience: String? = nil,
        inBody: Bool = false
    ) {
        (self.url, self.client, self.secret) = (url, client, secret)
        (self.scope, self.audience, self.inBody) = (scope, audience, inBody)
    }
}

/// How the server's certificate is judged, and which one it is shown.
public struct TLSPolicy: Sendable, Hashable {
    /// The oldest version that is spoken.
    public enum Version: String, Sendable, Hashable, CaseIterable {
        case v1_0 = "1.0"
        case v1_1 = "1.1"
        case v1_2 = "1.2"
        case v1_3 = "1.3"
    }

    /// A PEM file that replaces the system's certificate authorities.
    public var ca: String?
    /// `sha256//` and the base64 SHA-256 of the public key; several with `;`. It replaces the check of chain, name and
    /// date, so a self-signed appliance is trusted by its key alone.
    public var pin: String?
    /// No check at all.
    public var insecure: Bool
    /// A PEM file with our own certificate, and its key where `key` names no other file.
    public var certificate: String?
    /// A PEM file with the key of `certificate`.
    public var key: String?
    public var minimum: Version

    public init(
        ca: String? = nil, pin: String? = nil, insecure: Bool = false, certificate: String? = nil, key: String? = nil,
        minimum: Version = .v1_2
    ) {
        (self.ca, self.pin, self.insecure) = (ca, pin, insecure)
        (self.certificate, self.key, self.minimum) = (certificate, key, minimum)
    }
}

extension TLSPolicy {
    /// What holds on another origin: nothing that was said of the first, but no older version than asked for.
    public var elsewhere: TLSPolicy { TLSPolicy(minimum: minimum == .v1_3 ? .v1_3 : .v1_2) }
}

/// Who carries the request.
public enum Proxy: Sendable {
    /// `http_proxy`, `https_proxy`, `all_proxy` and `no_proxy`, as curl reads them.
    case environment
    case none
    /// An `http`, `https`, `socks4a` or `socks5h` URL without credentials, and those.
    case url(String, user: String?, password: Secret?)
}

/// How long a server's cookies live.
public enum CookiePolicy: String, Sendable, Hashable, CaseIterable {
    case none
    /// Until the watcher ends.
    case memory
    /// Over restarts, in the journal: a session's cookie is a credential, so this must be asked for.
    case journal
}

/// How one origin is treated, whichever sources ask it: the strictest word holds.
public struct OriginLimits: Sendable, Hashable {
    /// Requests in flight; nil for the usual 8.
    public var concurrency: Int?
    /// From the start of one request to the start of the next.
    public var interval: Duration?

    public init(concurrency: Int? = nil, interval: Duration? = nil) {
        (self.concurrency, self.interval) = (concurrency, interval)
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
    /// The user gave it to a server: it is for that server's origin, whatever its name.
    public var isOwn = false

    public init(_ name: String, _ value: String) { (self.name, content) = (name, .plain(value)) }
    public init(_ name: String, _ secret: Secret) { (self.name, content) = (name, .secret(secret)) }

    public var isSecret: Bool {
        if case .secret = content { true } else { false }
    }

    /// The same as a server's own.
    public var own: Header {
        var header = self
        header.isOwn = true
        return header
    }

    public var value: String {
        switch content {
        case .plain(let value): value
        case .secret(let secret): secret.value
        }
    }
}
