// SPDX-License-Identifier: Apache-2.0

extension Request {
    /// Makes a request from the template of a kind and the settings of its server. The server's headers replace the kind's.
    ///
    /// - Parameter userAgent: used when neither the server nor the kind has one.
    public init(
        _ template: RequestTemplate, of server: Server, session: String?, lane: Lane = .polls, userAgent: String
    ) {
        self.init(
            method: template.method, url: template.url, headers: Request.headers(template, server, userAgent),
            body: template.body,
            credentials: server.credentials, tls: server.tls, session: session, lane: lane,
            redirects: template.redirects,
            proxy: server.proxy, cookies: server.cookies, originLimits: server.originLimits,
            reach: server.allowsPrivate ? .anywhere : .likeTheFirst, inspectsConnection: template.inspectsConnection)
        (handshake, login, tokenLogin) = (server.handshake, server.login, server.tokenLogin)
    }

    private static func headers(_ template: RequestTemplate, _ server: Server, _ userAgent: String) -> [Header] {
        var headers = template.headers.filter { header in
            !server.headers.contains { $0.name.lowercased() == header.name.lowercased() }
        }
        headers += server.headers.map(\.own)
        // A cache may call a response fresh by its own guess (RFC 9111 §4.2.2), so that a change would stay unseen.
        if !headers.contains(where: { $0.name.lowercased() == "cache-control" }) { headers.append(.revalidate) }
        if let agent = server.userAgent {
            headers.removeAll { $0.name.lowercased() == "user-agent" }
            headers.append(Header("User-Agent", agent))
        } else if !headers.contains(where: { $0.name.lowercased() == "user-agent" }) {
            headers.append(Header("User-Agent", userAgent))
        }
        return headers
    }
}
