// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// Decides whether a request may reach its route.
///
/// - A page of another site must not read this one: with a name that it makes point to this machine (DNS rebinding), it
///   would be of the same origin. Therefore the host must be an address, which nobody can make point elsewhere, `localhost`, or
///   a name that is configured.
/// - A page of another site must not send forms here (CSRF): each needs the origin of this page, and a token that only this
///   page shows.
struct RequestGuard: Sendable {
    /// Why a request is refused.
    struct Refusal: Error, Equatable {
        var status: Int
        var text: String
    }

    static let cookieName = "vedette"

    let access: PageAccess
    /// What the forms of the page carry.
    let formToken: String

    /// Checks who sends a request.
    /// - Parameter isOpen: whether the route needs no token: the form that asks for it, and its style sheet.
    func checkClient(_ request: PageRequest, isOpen: Bool) throws(Refusal) {
        guard let host = request.header("Host"), isKnown(host) else {
            let name = request.header("Host").map { " '\(RequestGuard.name(of: $0).prefix(100))'" } ?? ""
            throw Refusal(
                status: 421,
                text: "The name\(name) is not one of this page. If it is yours, add it to settings.listen.hosts.")
        }
        guard isOpen || hasToken(request) else { throw Refusal(status: 401, text: "This page needs a token.") }
    }

    /// Checks who sends a request, and whether a form comes from this page.
    /// - Parameter isOpen: whether the route needs no token.
    func check(_ request: PageRequest, isOpen: Bool) throws(Refusal) {
        try checkClient(request, isOpen: isOpen)
        guard request.method == .post else { return }
        guard isSameOrigin(request) else {
            throw Refusal(status: 403, text: "This form was not sent by this page.")
        }
        guard isOpen || Self.isEqual(request.form["form"] ?? "", formToken) else {
            throw Refusal(status: 403, text: "This form is from before a restart. Go back, reload, and send it again.")
        }
    }

    /// Whether a request may read the page.
    func hasToken(_ request: PageRequest) -> Bool {
        guard let token = access.token?.value else { return true }
        return shownTokens(request).contains { Self.isEqual($0, token) }
    }

    /// Returns the cookie that holds a token. Scripts cannot read it, and requests of other sites do not carry it.
    static func cookie(_ token: String, isSecure: Bool) -> HeaderField {
        HeaderField(
            "Set-Cookie",
            "\(cookieName)=\(Base64.encode(token.utf8)); Path=/; Max-Age=7776000; HttpOnly; SameSite=Strict"
                + (isSecure ? "; Secure" : ""))
    }

    /// A bearer token, the password of HTTP's basic scheme (which feed readers have), and the cookie of a browser.
    private func shownTokens(_ request: PageRequest) -> [String] {
        var tokens: [String] = []
        if let words = request.header("Authorization")?.split(separator: " ", maxSplits: 1), words.count == 2 {
            switch words[0].lowercased() {
            case "bearer": tokens.append(words[1].trimmed())
            case "basic":
                let pair = Base64.decode(words[1].trimmed()).map { String(decoding: $0, as: UTF8.self) }
                let parts = pair?.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false) ?? []
                if parts.count == 2 { tokens.append(String(parts[1])) }
            default: break
            }
        }
        if let cookie = request.cookie(Self.cookieName), let bytes = Base64.decode(cookie) {
            tokens.append(String(decoding: bytes, as: UTF8.self))
        }
        return tokens
    }

    private func isKnown(_ host: String) -> Bool {
        let name = Self.name(of: host)
        return name == "localhost" || access.hosts.contains(name) || Self.isAddress(name)
    }

    /// Without the port, in lower case.
    private static func name(of host: String) -> String {
        let host = host.lowercased()
        if host.first == "[" { return String(host.prefix { $0 != "]" }) + "]" }
        return String(host.prefix { $0 != ":" })
    }

    private static func isAddress(_ name: String) -> Bool {
        if name.first == "[" { return name.last == "]" && name.dropFirst().dropLast().contains(":") }
        let parts = name.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts.allSatisfy { UInt8($0) != nil }
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
