// SPDX-License-Identifier: Apache-2.0

import VedetteCore
import VedetteSystem

/// Decides whether a request may reach its route.
///
/// - A page of another site must not read this one: with a name that it makes point to this machine (DNS rebinding), it
///   would be of the same origin. Therefore the host must be an address, which nobody can make point elsewhere, `localhost`, or
///   a name that is configured.
/// - A page of another site must not send forms here (CSRF): each needs the origin of this page, and a token that only this
///   page shows.
/// - A page of another site must not let a browser ask here for what it cannot read itself: that costs the watcher work. A browser
///   says where a request comes from in `Sec-Fetch-Site` (https://www.w3.org/TR/fetch-metadata/). `same-site` is another site
///   here: every port of this machine is of the same site. What has no such header comes from a program.
struct RequestGuard: Sendable {
    /// Why a request is refused.
    struct Refusal: Error, Equatable {
        var status: Int
        var text: String
    }

    let access: PageAccess
    /// What the forms of the page carry.
    let formToken: String
    let cookie: SessionCookie
    let now: Timestamp

    /// Checks who sends a request.
    /// - Parameter isOpen: whether the route needs no token: the form that asks for it, and its style sheet.
    func checkClient(_ request: PageRequest, isOpen: Bool) throws(Refusal) {
        guard let host = request.header("Host").flatMap(HostField.init) else {
            throw Refusal(status: 400, text: "The Host header is malformed.")
        }
        guard PageHost.isAccepted(host.name, among: access.hosts) else {
            throw Refusal(
                status: 421,
                text: "The name \(quoted(host.name)) is not one of this page. If it is yours, add it to "
                    + "settings.listen.hosts.")
        }
        guard isOpen || hasToken(request) else { throw Refusal(status: 401, text: "This page needs a token.") }
    }

    /// Checks who sends a request, whether another site may send it, and whether a form comes from this page.
    func check(_ request: PageRequest, _ route: Route) throws(Refusal) {
        try checkClient(request, isOpen: route.isOpen)
        if route.requiresToken, access.token == nil {
            throw Refusal(status: 403, text: Self.tokenless)
        }
        guard request.method == .post, route.proof == .form else {
            guard isOwn(request) || route.otherSites.accepts(request) else {
                throw Refusal(
                    status: 403, text: "A page of another site sent this request. Open the address itself.")
            }
            guard request.method != .post || showsBearer(request) else {
                throw Refusal(status: 403, text: "This address takes the token as 'Authorization: Bearer TOKEN' alone.")
            }
            return
        }
        guard isSameOrigin(request) else {
            throw Refusal(status: 403, text: "This form was not sent by this page.")
        }
        guard route.isOpen || Self.isEqual(request.form["form"] ?? "", formToken) else {
            throw Refusal(status: 403, text: "This form is from before a restart. Go back, reload, and send it again.")
        }
    }

    /// Why what needs a token is refused on a page without one.
    static let tokenless =
        "Trying needs a token, also on this machine: whoever reaches the page could make the watcher send requests. Set "
        + "settings.listen.token."

    /// Whether a request may read the page.
    func hasToken(_ request: PageRequest) -> Bool {
        guard access.token != nil else { return true }
        guard let token = access.usableToken else { return false }
        if shownTokens(request).contains(where: { access.isToken($0.token) }) { return true }
        return request.cookie(SessionCookie.name).map { cookie.isValid($0, for: token, at: now) }
            ?? false
    }

    /// The challenges of a 401, one for each scheme that a client can use (RFC 9110 §15.5.2). A browser answers
    /// Basic with a window of its own, before the form that asks for the token, so it gets Bearer alone.
    static func challenges(_ request: PageRequest) -> [HeaderField] {
        let isBrowser =
            request.acceptsHTML || request.header("Sec-Fetch-Mode") != nil
            || request.cookie(SessionCookie.name) != nil
        let bearer = HeaderField(
            "WWW-Authenticate",
            "Bearer realm=\"vedette\"")
        return isBrowser
            ? [bearer]
            : [bearer, HeaderField("WWW-Authenticate", "Basic realm=\"vedette\", charset=\"UTF-8\"")]
    }

    private func showsBearer(_ request: PageRequest) -> Bool {
        shownTokens(request).contains { $0.isBearer && access.isToken($0.token) }
    }

    /// A bearer token, and the password of HTTP's basic scheme, which feed readers have.
    private func shownTokens(_ request: PageRequest) -> [(token: String, isBearer: Bool)] {
        var tokens: [(token: String, isBearer: Bool)] = []
        if let words = request.header("Authorization")?.split(separator: " ", maxSplits: 1), words.count == 2 {
            switch words[0].lowercased() {
            case "bearer": tokens.append((words[1].trimmed(), true))
            case "basic":
                let pair = Base64.decode(words[1].trimmed()).map { String(decoding: $0, as: UTF8.self) }
                let parts = pair?.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false) ?? []
                if parts.count == 2 { tokens.append((String(parts[1]), false)) }
            default: break
            }
        }
        return tokens
    }

    /// Whether a browser says that this page sent the request, or a person who typed the address; or no browser sent it.
    private func isOwn(_ request: PageRequest) -> Bool {
        let site = request.header("Sec-Fetch-Site")
        return site == nil || site == "same-origin" || site == "none"
    }

    /// A proxy may speak TLS in front, so that the scheme is not compared.
    private func isSameOrigin(_ request: PageRequest) -> Bool {
        guard let host = request.header("Host") else { return false }
        if let site = request.header("Sec-Fetch-Site"), site != "same-origin" { return false }
        guard let origin = request.header("Origin") else { return request.header("Sec-Fetch-Site") == "same-origin" }
        return ["http://\(host)", "https://\(host)"].contains { $0.lowercased() == origin.lowercased() }
    }

    /// Compares in a time that depends on the length of `shown` alone.
    static func isEqual(_ shown: String, _ secret: String) -> Bool {
        let (shown, secret) = (Array(shown.utf8), Array(secret.utf8))
        guard !secret.isEmpty else { return false }
        var difference = shown.count ^ secret.count
        for i in shown.indices { difference |= Int(shown[i] ^ secret[i % secret.count]) }
        return difference == 0
    }
}
