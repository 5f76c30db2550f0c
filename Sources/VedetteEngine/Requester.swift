// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// Makes the requests of one source out of what its kind asks and its server's settings.
struct Requester: Sendable {
    let source: Source
    let lane: Lane
    let userAgent: String

    /// Tells requests apart whose answers are comparable: validators go back with no other. Headers do not count, for
    /// some are secrets, of which nothing is stored.
    static func digest(of ask: Ask) -> UInt64 {
        var digest = Digest()
        digest.add(ask.method)
        digest.add(ask.url)
        digest.add(Digest.of(ask.body ?? []))
        return digest.value
    }

    func first(_ ask: Ask) -> Request {
        let server = source.server
        return Request(
            method: ask.method, url: ask.url, headers: headers(ask), body: ask.body, credentials: server.credentials,
            tls: server.tls, session: source.session, lane: lane,
            redirects: ask.redirects, proxy: server.proxy, cookies: server.cookies, manners: server.manners,
            reach: server.allowsPrivate ? .anywhere : .likeTheFirst, inspectsConnection: ask.inspectsConnection)
    }

    /// - Parameter isPublic: the response that named the page came from the internet.
    func next(_ page: NextPage, _ ask: Ask, isPublic: Bool) throws(FetchError) -> Request {
        var request = first(ask)
        request.url = page.url
        if let body = page.body { request.body = body }
        return try elsewhere(request, "the next page", isPublic: isPublic)
    }

    /// - Parameter isPublic: the response that named the link came from the internet.
    func link(_ url: String, _ ask: Ask, isPublic: Bool) throws(FetchError) -> Request {
        var request = first(ask)
        (request.method, request.url, request.body) = ("GET", url, nil)
        request.headers.removeAll { $0.name.lowercased() == "content-type" }
        (request.redirects, request.inspectsConnection) = (5, false)
        return try elsewhere(request, "a linked resource", isPublic: isPublic)
    }

    private func headers(_ ask: Ask) -> [Header] {
        let server = source.server
        var headers = ask.headers.filter { asked in
            !server.headers.contains { $0.name.lowercased() == asked.name.lowercased() }
        }
        headers += server.headers
        if let agent = server.userAgent {
            headers.removeAll { $0.name.lowercased() == "user-agent" }
            headers.append(Header("User-Agent", agent))
        } else if !headers.contains(where: { $0.name.lowercased() == "user-agent" }) {
            headers.append(Header("User-Agent", userAgent))
        }
        return headers
    }

    /// An address that a server named: what was given for one origin goes to no other (I9), and a host on the internet
    /// leads to no machine of our own network.
    private func elsewhere(_ request: Request, _ what: String, isPublic: Bool) throws(FetchError) -> Request {
        guard let from = WebURL(source.url) else {
            throw FetchError(.redirect, "\(what) of a file is not followed")
        }
        guard let to = WebURL(request.url) else {
            throw FetchError(.redirect, "\(what) has no http address; it is not followed")
        }
        guard from.origin != to.origin else { return request }
        if from.scheme == "https", to.scheme != "https" {
            throw FetchError(.redirect, "\(what) leads from https to http; it is not followed")
        }
        var request = request
        let own = source.server.headers.map { $0.name.lowercased() }
        request.headers.removeAll {
            $0.isSecret || (own.contains($0.name.lowercased()) && $0.name.lowercased() != "user-agent")
        }
        (request.credentials, request.session, request.tls) = (nil, nil, TLSPolicy())
        request.manners = Manners()
        if isPublic, !source.server.allowsPrivate { request.reach = .publicOnly }
        return request
    }
}
