// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// Identifies a token: another client, scope or secret has another token.
struct GrantKey: Sendable, Hashable {
    private let url: String
    private let client: String
    private let secret: String
    private let scope: String?
    private let audience: String?
    private let inBody: Bool
    private let kind: [String]

    init(_ grant: ClientGrant) {
        (url, client, secret) = (grant.url, grant.client, grant.secret.value)
        (scope, audience, inBody) = (grant.scope, grant.audience, grant.inBody)
        kind =
            switch grant.kind {
            case .client: []
            case .password(let user, let password): ["password", user, password.value]
            case .refresh(let token): ["refresh", token.value]
            }
    }

    /// Whether a refusal may count against the account of a person.
    var locksAccounts: Bool { kind.first == "password" }
    /// Whether the server may replace what was sent.
    var isRefresh: Bool { kind.first == "refresh" }
}

/// The granted tokens, until they expire. Times are milliseconds of a clock that never jumps.
struct OAuthTokenCache {
    /// A limit is needed since a grant whose secret changes leaves its old token here (I8).
    static let maximumTokens = 1024

    private var tokens: [GrantKey: (value: Secret, until: Int64)] = [:]

    /// Returns the token if it may still be used.
    func token(_ key: GrantKey, now: Int64) -> Secret? {
        guard let (value, until) = tokens[key], now < until else { return nil }
        return value
    }

    mutating func keep(_ granted: GrantedToken, of key: GrantKey, now: Int64) {
        if tokens.count >= OAuthTokenCache.maximumTokens { tokens = tokens.filter { $0.value.until > now } }
        if tokens.count >= OAuthTokenCache.maximumTokens { tokens = [:] }
        tokens[key] = (granted.value, now + granted.lifetime)
    }

    /// Removes a token that the server refused with 401. A newer token, which another request has fetched meanwhile, stays.
    mutating func remove(_ token: Secret, of key: GrantKey) {
        if tokens[key]?.value === token { tokens[key] = nil }
    }
}

/// The token in the response of a token endpoint (RFC 6749 §5).
struct GrantedToken: Sendable {
    var value: Secret
    /// How long the token is used, in milliseconds.
    var lifetime: Int64
    /// The refresh token that replaces the one that was sent (RFC 6749 §6); nil where that one stays.
    var refresh: Secret?

    /// Seconds, when the server names no lifetime (RFC 6749 §5.1 recommends that it does).
    private static let defaultLifetime: Int64 = 3600
    /// Seconds. The limit guards against absurd values.
    private static let maximumLifetime: Int64 = 86_400

    /// - Parameter origin: the origin of the endpoint, for the error.
    init(_ response: Response, from origin: String) throws(FetchError) {
        guard response.status == 200 else { throw GrantedToken.refusal(response, origin) }
        guard let reply = try? JSON(parsing: response.body), let token = reply["access_token"]?.string, !token.isEmpty
        else { throw FetchError(.malformed, "the answer of \(origin) to the token request has no token") }
        guard (reply["token_type"]?.string ?? "bearer").lowercased() == "bearer" else {
            throw FetchError(
                .malformed, "\(origin) returned a token of a type other than bearer, the only one supported")
        }
        guard token.utf8.allSatisfy({ $0 > 32 && $0 < 127 }) else {
            throw FetchError(.malformed, "\(origin) returned a token with characters that are not allowed in a header")
        }
        value = Secret(token)
        lifetime = GrantedToken.lifetime(reply["expires_in"])
        refresh = reply["refresh_token"]?.string.flatMap { $0.isEmpty ? nil : Secret($0) }
    }

    /// Ends a minute, or a fifth of a short lifetime, before the token expires: requests and responses take time.
    private static func lifetime(_ expires: JSON?) -> Int64 {
        usable(expires?.double ?? expires?.string.flatMap { Double($0) } ?? Double(defaultLifetime))
    }

    /// - Parameter value: the seconds until a token expires.
    /// - Returns: the milliseconds in which it is used.
    static func usable(_ value: Double) -> Int64 {
        let seconds = Int64(min(max(value.isNaN ? 0 : value, 0), Double(maximumLifetime)))
        return (seconds - min(60, seconds / 5)) * 1000
    }

    /// Maps the error codes of RFC 6749 §5.2. The server's description is not shown: it may repeat what it was sent.
    private static func refusal(_ response: Response, _ origin: String) -> FetchError {
        let code = (try? JSON(parsing: response.body))?["error"]?.string ?? ""
        switch code {
        case "invalid_client":
            return FetchError(.unauthorized, "\(origin) returned no token: it does not accept the client id or secret")
        case "invalid_grant":
            return FetchError(
                .unauthorized,
                "\(origin) returned no token: it does not accept the password or refresh token (\(code))")
        case "unauthorized_client":
            return FetchError(
                .unauthorized, "\(origin) returned no token: it does not allow this client to have one (\(code))")
        case "invalid_scope":
            return FetchError(.configuration, "\(origin) returned no token: it does not accept the scope")
        case "unsupported_grant_type":
            return FetchError(.configuration, "\(origin) returned no token: it does not support this grant")
        case "invalid_request":
            return FetchError(.configuration, "\(origin) returned no token: it calls the request incomplete")
        default:
            let failure = Failure(status: response.status) ?? .protocol
            return FetchError(failure, "\(origin) returned no token: it answered \(response.status)")
        }
    }
}

extension ClientGrant {
    /// Bytes of a response: more than any token needs.
    private static let maximumReply = 256 << 10

    /// Returns the request for a token (RFC 6749 §4.3.2, §4.4.2, §6).
    ///
    /// - Parameter original: the request that needs the token. The token request uses the same proxy, and on the same
    ///   origin the same TLS policy: a client certificate, authority or pin is for one origin alone.
    /// - Parameter refresh: the refresh token that replaced the configured one.
    func request(for original: Request, refresh: Secret? = nil) -> Request {
        var fields =
            switch kind {
            case .client: [("grant_type", "client_credentials")]
            case .password(let user, let password):
                [("grant_type", "password"), ("username", user), ("password", password.value)]
            case .refresh(let token):
                [("grant_type", "refresh_token"), ("refresh_token", (refresh ?? token).value)]
            }
        if let scope { fields.append(("scope", scope)) }
        if let audience { fields.append(("audience", audience)) }
        // RFC 6749 §3.2.1: a public client identifies itself in the body.
        let isPublic = secret.value.isEmpty
        if inBody || isPublic { fields.append(("client_id", client)) }
        if inBody, !isPublic { fields.append(("client_secret", secret.value)) }
        let form = fields.map { WebURL.encoded($0.0) + "=" + WebURL.encoded($0.1) }.joined(separator: "&")
        var headers = original.headers.filter { $0.name.lowercased() == "user-agent" && !$0.isSecret }
        headers += [Header("Accept", "application/json"), Header("Content-Type", "application/x-www-form-urlencoded")]
        if !inBody, !isPublic {
            // RFC 6749 §2.3.1: both are form-encoded before they are joined.
            let pair = "\(WebURL.encoded(client)):\(WebURL.encoded(secret.value))"
            headers.append(Header("Authorization", Secret("Basic " + Base64.encode(pair.utf8))))
        }
        let isSameOrigin = WebURL(url).map { $0.origin == WebURL(original.url)?.origin } ?? false
        var request = Request(
            method: "POST", url: url, headers: headers, body: Array(form.utf8),
            tls: isSameOrigin ? original.tls : original.tls.forOtherOrigins, lane: original.lane, group: original.group,
            redirects: 0,
            proxy: original.proxy, cookies: .none)
        (request.limits.received, request.limits.inflated) = (ClientGrant.maximumReply, ClientGrant.maximumReply)
        request.limits.total = min(original.limits.total, .seconds(30))
        return request
    }
}
