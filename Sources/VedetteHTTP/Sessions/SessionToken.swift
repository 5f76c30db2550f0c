// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// The token in the response to a login.
struct SessionToken: Sendable {
    /// The token; nil for a session that is in cookies alone.
    var value: Secret?
    /// How long it is used, in milliseconds; nil until the server refuses it.
    var lifetime: Int64?

    /// Bytes: more than a server takes in a header.
    private static let maximumToken = 16 << 10
    /// Milliseconds. Two clocks that differ must not lead to a login before each request.
    private static let minimumLifetime: Int64 = 60_000

    /// - Parameters:
    ///   - origin: the origin of the login, for the error.
    ///   - now: used where the response has no date.
    init(_ response: Response, to login: TokenLogin, from origin: String, now: Timestamp) throws(FetchError) {
        guard (200...299).contains(response.status) else {
            throw FetchError(
                Failure(login: response.status),
                "\(origin) answered the login with \(response.status); check 'post' and what 'session' sends")
        }
        let json = try? JSON(parsing: response.body)
        if let place = login.token { value = try Self.token(place, response, json, origin) }
        lifetime = login.expires.flatMap { Self.field($0, of: json) }.flatMap { expiry in
            Self.lifetime(expiry, at: response.headers["Date"].flatMap { Timestamp(httpDate: $0, now: now) } ?? now)
        }
    }

    private static func token(
        _ place: TokenLogin.Place, _ response: Response, _ json: JSON?, _ origin: String
    ) throws(FetchError) -> Secret {
        let (text, name): (String?, String) =
            switch place {
            case .header(let name): (response.headers[name], "the header '\(name)'")
            case .field(let names): (field(names, of: json)?.string, "the field '\(names.joined(separator: "."))'")
            // A text of digits alone is a token, though it reads as a number of JSON, too.
            case .body: (json?.string ?? String(decoding: response.body, as: UTF8.self).trimmed(), "the body")
            }
        guard let text, !text.isEmpty else {
            throw FetchError(
                .malformed, "the answer of \(origin) to the login has no token in \(name); check 'token' of 'session'")
        }
        guard text.utf8.count <= maximumToken, text.utf8.allSatisfy({ $0 > 32 && $0 < 127 }) else {
            throw FetchError(
                .malformed, "\(origin) returned a token in \(name) that no header can hold; check 'token' of 'session'")
        }
        return Secret(text)
    }

    private static func field(_ names: [String], of json: JSON?) -> JSON? {
        names.reduce(json) { $0?[$1] }
    }

    /// Reads a date, the seconds since 1970, or the seconds until the token expires.
    /// - Returns: nil for anything else: the token is used until it is refused.
    private static func lifetime(_ expiry: JSON, at now: Timestamp) -> Int64? {
        let seconds: Double
        if let date = expiry.string.flatMap({ Timestamp(rfc3339: $0) }) {
            seconds = Double(date.milliseconds - now.milliseconds) / 1000
        } else if let number = expiry.double ?? expiry.string.flatMap({ Double($0) }), number.isFinite, number > 0 {
            // A number over 30 years is a date.
            seconds = number < 1e9 ? number : (number < 1e11 ? number : number / 1000) - Double(now.milliseconds) / 1000
        } else {
            return nil
        }
        return max(GrantedToken.usable(seconds), minimumLifetime)
    }
}

extension TokenLogin {
    /// Bytes of a response: Keystone's has its catalogue.
    private static let maximumReply = 1 << 20

    /// Returns the request that logs in.
    ///
    /// - Parameter original: the request that needs the session. On the same origin the login has its cookies and TLS policy:
    ///   a client certificate, authority or pin is for one origin alone.
    func request(for original: Request) -> Request {
        let isSameOrigin = WebURL(url).map { $0.origin == WebURL(original.url)?.origin } ?? false
        var headers = original.headers.filter { $0.name.lowercased() == "user-agent" && !$0.isSecret }
        headers.append(Header("Accept", "application/json"))
        let content = content
        if let content { headers.append(Header("Content-Type", content.type)) }
        var request = Request(
            method: "POST", url: url, headers: headers, body: content?.bytes ?? [],
            credentials: basic.map { .basic(user: $0.user, password: $0.password) },
            tls: isSameOrigin ? original.tls : original.tls.forOtherOrigins,
            session: isSameOrigin ? original.session : nil, lane: original.lane, group: original.group, redirects: 0,
            proxy: original.proxy, cookies: isSameOrigin ? original.cookies : .none)
        (request.limits.received, request.limits.inflated) = (Self.maximumReply, Self.maximumReply)
        request.limits.total = min(original.limits.total, .seconds(30))
        return request
    }
}
