// SPDX-License-Identifier: Apache-2.0

/// Which requests wait for which: a lane has its own places, so that one kind of slowness delays no other (I7).
public enum Lane: Sendable, Hashable, CaseIterable {
    /// Polls of hosts that answer.
    case polls
    /// Polls of hosts whose last attempt timed out.
    case slowHosts
    case deliveries
}

public struct Request: Sendable {
    public var method: String
    /// Absolute, `http` or `https`.
    public var url: String
    public var headers: [Header]
    public var body: [UInt8]?
    public var credentials: Credentials?
    public var tls: TLSPolicy
    /// The cookie jar: requests of one session share cookies, nil keeps none.
    public var session: String?
    public var lane: Lane
    /// For `deliveries`: whose places are counted (at most 4 in flight each).
    public var group: String?
    public var limits: FetchLimits
    /// Sent as If-None-Match and If-Modified-Since, byte for byte (RFC 9110 §13.1).
    public var validators: Validators
    /// The digest of the last good body as received: an equal body comes back `isUnchanged`, neither inflated nor copied.
    public var knownDigest: UInt64?
    /// 0: a redirect is returned as the response that it is.
    public var redirects: Int
    public var proxy: Proxy
    public var cookies: CookiePolicy
    public var originLimits: OriginLimits
    /// Which addresses its redirects, or all of it, may lead to.
    public var reach: Reach
    /// On a connection of its own, so that `elapsed` and `certificateExpires` of the response are about one.
    public var inspectsConnection: Bool

    /// A server on the internet must not make us ask a machine of our own network (adversarial case 20).
    public enum Reach: Sendable, Hashable {
        /// The address as configured may be private; a redirect to a private address is followed only from a private one.
        case likeTheFirst
        /// No private address at all: a public server named this address.
        case publicOnly
        /// The user allows it.
        case anywhere
    }

    public init(
        method: String = "GET", url: String, headers: [Header] = [], body: [UInt8]? = nil,
        credentials: Credentials? = nil, tls: TLSPolicy = .init(), session: String? = nil, lane: Lane = .polls,
        group: String? = nil, limits: FetchLimits = .init(), validators: Validators = .init(),
        knownDigest: UInt64? = nil, redirects: Int = 5, proxy: Proxy = .environment, cookies: CookiePolicy = .memory,
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
