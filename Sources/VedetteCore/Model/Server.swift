// SPDX-License-Identifier: Apache-2.0

/// Connection settings shared by sources: base URL, credentials, TLS, headers, rate.
public struct Server: Sendable {
    /// The name in the configuration; empty for a source with a URL of its own.
    public var name: String
    /// The base that a source's `path` is resolved against.
    public var url: String?
    /// How requests are authenticated; nil for not at all.
    public var credentials: Credentials?
    /// How the server's certificate is verified.
    public var tls: TLSPolicy
    /// Headers of every request; they replace those of the kind.
    public var headers: [Header]
    /// The User-Agent; nil for the usual one.
    public var userAgent: String?
    /// The proxy.
    public var proxy: Proxy
    /// How long cookies live.
    public var cookies: CookiePolicy
    /// Limits that all requests to one origin share.
    public var originLimits: OriginLimits
    /// Whether redirects, next pages and links may lead from a public host to a private address.
    public var allowsPrivate: Bool
    /// How a session begins; nil for servers without one.
    public var handshake: SessionHandshake?
    /// The form that a session begins with; nil for servers without one.
    public var login: LoginForm?

    /// Creates a server.
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

/// How a request is authenticated. Credentials go to the origin they were given for and to no other (I9).
public enum Credentials: Sendable {
    /// RFC 7617.
    case basic(user: String, password: Secret)
    /// RFC 7616.
    case digest(user: String, password: Secret)
    /// RFC 6750 §2.1.
    case bearer(Secret)
    /// A query parameter that is added when the request is sent, so that no log, event or snapshot has it.
    case query(name: String, value: Secret)
    /// OAuth 2 client credentials (RFC 6749 §4.4).
    case grant(ClientGrant)
    /// AWS Signature Version 4.
    case signature(AWSSignature)

    /// Creates credentials for basic authentication.
    public init(user: String, password: Secret) { self = .basic(user: user, password: password) }

    /// The user's name; nil for schemes without one.
    public var user: String? {
        switch self {
        case .basic(let user, _), .digest(let user, _): user
        case .bearer, .query, .grant, .signature: nil
        }
    }

    /// The secret, whatever the scheme calls it.
    public var password: Secret {
        switch self {
        case .basic(_, let secret), .digest(_, let secret), .bearer(let secret), .query(_, let secret): secret
        case .grant(let grant): grant.secret
        case .signature(let signature): signature.secret
        }
    }
}

/// The keys of AWS Signature Version 4, and what a signature is valid for.
public struct AWSSignature: Sendable {
    /// The region, as `eu-central-1`.
    public var region: String
    /// The service, as `ec2`.
    public var service: String
    /// The id of the access key.
    public var key: String
    /// The secret access key.
    public var secret: Secret

    /// Creates keys.
    public init(region: String, service: String, key: String, secret: Secret) {
        (self.region, self.service, self.key, self.secret) = (region, service, key, secret)
    }
}

/// A session that begins with a refusal: the response of one status has a header that every further request must repeat.
public struct SessionHandshake: Sendable, Hashable {
    /// The name of the header.
    public var header: String
    /// The status of the response that has its value.
    public var status: Int

    /// Creates a handshake.
    public init(header: String, status: Int) { (self.header, self.status) = (header, status) }
}

/// A request for an OAuth 2 token by client credentials (RFC 6749 §4.4).
public struct ClientGrant: Sendable {
    /// The absolute URL of the token endpoint.
    public var url: String
    /// The client's id.
    public var client: String
    /// The client's secret.
    public var secret: Secret
    /// The scopes, separated by spaces (RFC 6749 §3.3).
    public var scope: String?
    /// The audience, which some servers require.
    public var audience: String?
    /// Whether id and secret are sent in the body instead of by basic authentication (RFC 6749 §2.3.1).
    public var inBody: Bool

    /// Creates a request.
    public init(
        url: String, client: String, secret: Secret, scope: String? = nil, audience: String? = nil,
        inBody: Bool = false
    ) {
        (self.url, self.client, self.secret) = (url, client, secret)
        (self.scope, self.audience, self.inBody) = (scope, audience, inBody)
    }
}

/// How a server's certificate is verified, and which client certificate is sent.
public struct TLSPolicy: Sendable, Hashable {
    /// A version of the protocol.
    public enum Version: String, Sendable, Hashable, CaseIterable {
        case v1_0 = "1.0"
        case v1_1 = "1.1"
        case v1_2 = "1.2"
        case v1_3 = "1.3"
    }

    /// A PEM file that replaces the system's certificate authorities.
    public var ca: String?
    /// `sha256//` and the base64 SHA-256 of the public key; several with `;`. It replaces the verification of chain, name
    /// and date, so that a self-signed appliance is trusted by its key alone.
    public var pin: String?
    /// Whether nothing is verified.
    public var insecure: Bool
    /// A PEM file with the client certificate, and its key where `key` names no other file.
    public var certificate: String?
    /// A PEM file with the key of `certificate`.
    public var key: String?
    /// The oldest version that is accepted.
    public var minimum: Version

    /// Creates a policy.
    public init(
        ca: String? = nil, pin: String? = nil, insecure: Bool = false, certificate: String? = nil, key: String? = nil,
        minimum: Version = .v1_2
    ) {
        (self.ca, self.pin, self.insecure) = (ca, pin, insecure)
        (self.certificate, self.key, self.minimum) = (certificate, key, minimum)
    }
}

extension TLSPolicy {
    /// The policy for another origin, after a redirect: the usual verification, but no older version than this one accepts.
    public var forOtherOrigins: TLSPolicy { TLSPolicy(minimum: minimum == .v1_3 ? .v1_3 : .v1_2) }
}

/// How requests reach the server.
public enum Proxy: Sendable {
    /// `http_proxy`, `https_proxy`, `all_proxy` and `no_proxy`, as curl reads them.
    case environment
    /// Directly.
    case none
    /// An `http`, `https`, `socks4a` or `socks5h` URL without credentials, and the credentials.
    case url(String, user: String?, password: Secret?)
}

/// How long a server's cookies live.
public enum CookiePolicy: String, Sendable, Hashable, CaseIterable {
    /// They are not kept.
    case none
    /// Until the watcher ends.
    case memory
    /// Over restarts, in the journal. A session cookie is a credential, so this is not the default.
    case journal
}

/// Limits of one origin. Of several servers with the same origin the strictest limits hold.
public struct OriginLimits: Sendable, Hashable {
    /// Requests in flight; nil for 8.
    public var concurrency: Int?
    /// The least time from the start of one request to the start of the next.
    public var interval: Duration?

    /// Creates limits.
    public init(concurrency: Int? = nil, interval: Duration? = nil) {
        (self.concurrency, self.interval) = (concurrency, interval)
    }
}

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
