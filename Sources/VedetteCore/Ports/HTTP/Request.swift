// SPDX-License-Identifier: Apache-2.0

/// One HTTP request, with the limits and policies that apply to it.
public struct Request: Sendable {
    /// The method, in capital letters.
    public var method: String
    /// Absolute, `http` or `https`.
    public var url: String
    /// The headers, except for credentials and cookies.
    public var headers: [Header]
    /// The body; nil for none.
    public var body: [UInt8]?
    /// The credentials of the origin of `url`; no other origin gets them (I9).
    public var credentials: Credentials?
    /// How the server is verified.
    public var tls: TLSPolicy
    /// Requests of one session share cookies; nil keeps none.
    public var session: String?
    /// The share of the requests in flight that it counts against.
    public var lane: Lane
    /// Of `deliveries`: at most 4 requests of one group are in flight.
    public var group: String?
    /// The limits on time and size.
    public var limits: FetchLimits
    /// The values of If-None-Match and If-Modified-Since, sent byte for byte (RFC 9110 §13.1).
    public var validators: Validators
    /// The digest of the last good body as received. For an equal body the response is `isUnchanged`, without a body.
    public var knownDigest: UInt64?
    /// How many redirects are followed; with 0 a redirect is returned as a response.
    public var redirects: Int
    /// The proxy that it goes through.
    public var proxy: Proxy
    /// Where the cookies of `session` are kept.
    public var cookies: CookiePolicy
    /// The limits of concurrency and rate for its origin.
    public var originLimits: OriginLimits
    /// Which addresses the request and its redirects may lead to.
    public var reach: Reach
    /// Whether the request needs a connection of its own, so that `elapsed` and `certificateExpires` tell about that one.
    public var inspectsConnection: Bool
    /// How a session begins; nil for servers without one.
    public var handshake: SessionHandshake?
    /// The form that its session begins with; nil for servers without one.
    public var login: LoginForm?
    /// The POST that its session begins with; nil for servers without one.
    public var tokenLogin: TokenLogin?
    /// Where the response may be a stream of records (`Response.records`); nil asks for a complete body.
    public var stream: StreamSettings?

    /// Which addresses a request may lead to: a public server must not make the watcher send requests into the private network
    /// (adversarial case 20).
    public enum Reach: Sendable, Hashable {
        /// The configured address may be private. A redirect to a private address is followed only from a private address.
        case likeTheFirst
        /// No private address, since a public server named the URL.
        case publicOnly
        /// A private address only where the URL, or that of a redirect, has one of these hosts and ports (`WebURL.hostAndPort`).
        case privateOnly(at: Set<String>)
        /// Any address: the user allows it.
        case anywhere

        /// Whether a request to a URL must open no connection to a private address.
        /// - Parameter fromPrivate: whether a private address redirected there; nil for the first request.
        public func refusesPrivate(at url: WebURL, fromPrivate: Bool?) -> Bool {
            switch self {
            case .likeTheFirst: fromPrivate == false
            case .publicOnly: true
            case .privateOnly(let places): !places.contains(url.hostAndPort)
            case .anywhere: false
            }
        }
    }

    /// Creates a request with the usual limits and policies.
    public init(
        method: String = "GET", url: String, headers: [Header] = [], body: [UInt8]? = nil,
        credentials: Credentials? = nil, tls: TLSPolicy = .init(), session: String? = nil, lane: Lane = .polls,
        group: String? = nil, limits: FetchLimits = .init(), validators: Validators = .init(),
        knownDigest: UInt64? = nil, redirects: Int = FetchLimits.redirects, proxy: Proxy = .environment,
        cookies: CookiePolicy = .memory,
        originLimits: OriginLimits = .init(), reach: Reach = .likeTheFirst, inspectsConnection: Bool = false
    ) {
        (self.method, self.url, self.headers, self.body) = (method, url, headers, body)
        (self.credentials, self.tls, self.session) = (credentials, tls, session)
        (self.lane, self.group, self.limits) = (lane, group, limits)
        (self.validators, self.knownDigest, self.redirects) = (validators, knownDigest, redirects)
        (self.proxy, self.cookies, self.originLimits) = (proxy, cookies, originLimits)
        (self.reach, self.inspectsConnection) = (reach, inspectsConnection)
    }
}
