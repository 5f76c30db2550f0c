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
    /// Headers of every request; they replace the kind's.
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
    /// The POST whose response has a token; nil for servers without one.
    public var tokenLogin: TokenLogin?

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
