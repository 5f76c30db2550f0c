// SPDX-License-Identifier: Apache-2.0

extension Request {
    /// What a kind asks, as its server's settings have it asked: the server's own headers replace the kind's.
    ///
    /// - Parameter userAgent: where neither the server nor the kind says one.
    public init(_ ask: RequestTemplate, of server: Server, session: String?, lane: Lane = .polls, userAgent: String) {
        self.init(
            method: ask.method, url: ask.url, headers: Request.headers(ask, server, userAgent), body: ask.body,
            credentials: server.credentials, tls: server.tls, session: session, lane: lane, redirects: ask.redirects,
            proxy: server.proxy, cookies: server.cookies, originLimits: server.originLimits,
            reach: server.allowsPrivate ? .anywhere : .likeTheFirst, inspectsConnection: ask.inspectsConnection)
    }

    private static func headers(_ ask: RequestTemplate, _ server: Server, _ userAgent: String) -> [Header] {
        var headers = ask.headers.filter { asked in
            !server.headers.contains { $0.name.lowercased() == asked.name.lowercased() }
        }
        headers += server.headers.map(\.own)
        if let agent = server.userAgent {
            headers.removeAll { $0.name.lowercased() == "user-agent" }
            headers.append(Header("User-Agent", agent))
        } else if !headers.contains(where: { $0.name.lowercased() == "user-agent" }) {
            headers.append(Header("User-Agent", userAgent))
        }
        return headers
    }
}

extension Header {
    /// Whether it goes to no other origin than the one it was given for (I9): a secret, and a server's own header but
    /// for who asks and what is accepted.
    public var isForOneOrigin: Bool {
        if isSecret { return true }
        let name = name.lowercased()
        return isOwn && name != "user-agent" && name != "accept" && !name.hasPrefix("accept-")
    }
}
