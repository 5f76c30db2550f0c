// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// What a token is kept under: another client, scope or secret is another token.
struct GrantKey: Sendable, Hashable {
    private let url: String
    private let client: String
    private let secret: String
    private let scope: String?
    private let audience: String?
    private let inBody: Bool

    init(_ grant: ClientGrant) {
        (url, client, secret) = (grant.url, grant.client, grant.secret.value)
        (scope, audience, inBody) = (grant.scope, grant.audience, grant.inBody)
    }
}

/// The tokens of client credentials grants, while they are good. Times are milliseconds that never jump.
struct OAuthTokenCache {
    /// A grant whose secret changed leaves its token behind (I8).
    private static let most = 1024

    private var tokens: [GrantKey: (value: Secret, until: Int64)] = [:]

    /// The token that may be used now.
    func token(_ key: GrantKey, now: Int64) -> Secret? {
        guard let (value, until) = tokens[key], now < until else { return nil }
        return value
    }

    mutating func keep(_ granted: GrantedToken, of key: GrantKey, now: Int64) {
        if tokens.count >= OAuthTokenCache.most { tokens = tokens.filter { $0.value.until > now } }
        if tokens.count >= OAuthTokenCache.most { tokens = [:] }
        tokens[key] = (granted.value, now + granted.usable)
    }

    /// A 401: this token is no good. A newer one, which another request has fetched meanwhile, stays.
    mutating func refuse(_ token: Secret, of key: GrantKey) {
        if tokens[key]?.value === token { tokens[key] = nil }
    }
}

/// A token endpoint's answer (RFC 6749 §5).
struct GrantedToken: Sendable {
    var value: Secret
    /// For how many milliseconds from now it is used.
    var usable: Int64

    /// Where the server does not say (RFC 6749 §5.1 wants it to).
    private static let usual: Int64 = 3600
    /// Seconds; a clock of ours that goes wrong must not make a token eternal.
    private static let longest: Int64 = 86_400

    /// - Parameter origin: the endpoint's, for the error.
    init(_ response: Response, from origin: String) throws(FetchError) {
        guard response.status == 200 else { throw GrantedToken.refusal(response, origin) }
        guard let reply = try? JSON(parsing: response.body), let token = reply["access_token"]?.string, !token.isEmpty
        else { throw FetchError(.malformed, "\(origin) answers the request for a token without a token") }
        guard (reply["token_type"]?.string ?? "bearer").lowercased() == "bearer" else {
            throw FetchError(.malformed, "\(origin) gives a token that is no bearer token, the only kind that is known")
        }
        guard token.utf8.allSatisfy({ $0 > 32 && $0 < 127 }) else {
            throw FetchError(.malformed, "\(origin) gives a token with characters that no header may hold")
        }
        value = Secret(token)
        usable = GrantedToken.usable(reply["expires_in"])
    }

    /// Until a minute before the end, or a fifth of a short life: the answer was under way, and so will a request be.
    private static func usable(_ expires: JSON?) -> Int64 {
        let said = expires?.double ?? expires?.string.flatMap { Double($0) } ?? Double(usual)
        let seconds = Int64(min(max(said.isNaN ? 0 : said, 0), Double(longest)))
        return (seconds - min(60, seconds / 5)) * 1000
    }

    /// RFC 6749 §5.2, in words. The server's own description is not shown: it may repeat what it was sent.
    private static func refusal(_ response: Response, _ origin: String) -> FetchError {
        let code = (try? JSON(parsing: response.body))?["error"]?.string ?? ""
        switch code {
        case "invalid_client":
            return FetchError(.unauthorized, "\(origin) gives no token: it does not accept the client's id or secret")
        case "unauthorized_client", "invalid_grant":
            return FetchError(.unauthorized, "\(origin) gives no token: this client may not have one (\(code))")
        case "invalid_scope":
            return FetchError(.configuration, "\(origin) gives no token: it does not accept the scope")
        case "unsupported_grant_type":
            return FetchError(.configuration, "\(origin) gives no token: it knows no client credentials grant")
        case "invalid_request":
            return FetchError(.configuration, "\(origin) gives no token: something in the request is missing for it")
        default:
            let failure = Failure(status: response.status) ?? .protocol
            return FetchError(failure, "\(origin) gives no token: it answers with status \(response.status)")
        }
    }
}

extension ClientGrant {
    /// Longer than any token, and short enough that a stranger cannot fill the memory.
    private static let mostReply = 256 << 10

    /// The request for a token (RFC 6749 §4.4.2).
    ///
    /// - Parameter asked: what the token is for. Its TLS and proxy are the endpoint's too; but a certificate, an
    ///   authority or a pin that was named for one origin says nothing of another.
    func request(for asked: Request) -> Request {
        var fields = [("grant_type", "client_credentials")]
        if let scope { fields.append(("scope", scope)) }
        if let audience { fields.append(("audience", audience)) }
        if inBody { fields += [("client_id", client), ("client_secret", secret.value)] }
        let form = fields.map { WebURL.encoded($0.0) + "=" + WebURL.encoded($0.1) }.joined(separator: "&")
        var headers = asked.headers.filter { $0.name.lowercased() == "user-agent" && !$0.isSecret }
        headers += [Header("Accept", "application/json"), Header("Content-Type", "application/x-www-form-urlencoded")]
        if !inBody {
            // RFC 6749 §2.3.1: both are form-encoded before they are joined.
            let pair = "\(WebURL.encoded(client)):\(WebURL.encoded(secret.value))"
            headers.append(Header("Authorization", Secret("Basic " + Base64.encoded(pair.utf8))))
        }
        let isSameOrigin = WebURL(url).map { $0.origin == WebURL(asked.url)?.origin } ?? false
        var request = Request(
            method: "POST", url: url, headers: headers, body: Array(form.utf8),
            tls: isSameOrigin ? asked.tls : asked.tls.elsewhere, lane: asked.lane, group: asked.group, redirects: 0,
            proxy: asked.proxy, cookies: .none)
        (request.limits.received, request.limits.inflated) = (ClientGrant.mostReply, ClientGrant.mostReply)
        request.limits.total = min(asked.limits.total, .seconds(30))
        return request
    }
}
