// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// Builds a source's requests from its kind's template and its server's settings.
struct RequestBuilder: Sendable {
    let source: Source
    let lane: Lane
    let userAgent: String

    /// Tells requests apart whose answers are comparable: validators go back with no other. Of secrets the names count, for
    /// nothing else of them is stored.
    static func digest(of template: RequestTemplate, to server: Server) -> UInt64 {
        let account = server.account
        guard account != nil || !server.headers.isEmpty else { return digest(of: template) }
        var digest = StableHash()
        digest.add(self.digest(of: template))
        digest.add(account ?? 0)
        for header in server.headers {
            digest.add(header.name.lowercased())
            digest.add(header.content.plain ?? "")
        }
        return digest.value
    }

    static func digest(of template: RequestTemplate) -> UInt64 {
        var digest = StableHash()
        digest.add(template.method)
        digest.add(template.url)
        digest.add(StableHash.of(template.body ?? []))
        if template.period > 0 { digest.add(template.period) }
        return digest.value
    }

    /// Prepares the first request of a poll.
    ///
    /// - Parameters:
    ///   - snapshot: what the last good poll left; nil before the first.
    ///   - last: of the source's last poll, to be used again; nil for none.
    func prepared(after snapshot: SnapshotHead?, now: Timestamp, reusing last: PreparedRequest?) -> PreparedRequest {
        let identity = last?.identity ?? source.identity
        let newest = snapshot.flatMap { $0.isComparable(with: source, identity) ? $0.newest : nil }
        let template = source.kind.request(base: source.url, context: PollContext(newest: newest, now: now))
        if let last, last.isRequest(of: template, in: lane) { return last }
        return PreparedRequest(template, self)
    }

    func first(_ template: RequestTemplate) -> Request {
        Request(template, of: source.server, session: source.session, lane: lane, userAgent: userAgent)
    }

    /// - Parameter response: the one that named the page.
    func next(_ page: NextPage, _ template: RequestTemplate, after response: Response) throws(FetchError) -> Request {
        var request = first(template)
        request.url = page.url
        if let body = page.body { request.body = body }
        return try restrictedToOrigin(
            request, "the next page", isPublic: !response.isFromPrivate, source.server.redactor(for: response))
    }

    /// - Parameter isPublic: whether the response that named the link came from a public address; nil when unknown.
    func link(_ url: String, _ template: RequestTemplate, isPublic: Bool?) throws(FetchError) -> Request {
        var request = first(template)
        (request.method, request.url, request.body) = ("GET", url, nil)
        request.headers.removeAll { $0.name.lowercased() == "content-type" }
        (request.redirects, request.inspectsConnection) = (5, false)
        return try restrictedToOrigin(request, "a linked resource", isPublic: isPublic, source.server.redactor)
    }

    /// Restricts a request to an address that a server named: credentials of one origin are never sent to another (I9), and a
    /// public host leads to no private address, not even under its own name (DNS rebinding).
    private func restrictedToOrigin(
        _ request: Request, _ what: String, isPublic: Bool?, _ redactor: SecretRedactor?
    ) throws(FetchError) -> Request {
        guard let from = WebURL(source.url) else {
            throw FetchError(.redirect, "\(what) of a file is not followed")
        }
        guard let to = WebURL(request.url) else {
            throw FetchError(.redirect, "\(what) has no http address; it is not followed")
        }
        var request = request
        if isPublic == true, !source.server.allowsPrivate { request.reach = .publicOnly }
        guard from.origin != to.origin else { return request }
        if from.scheme == "https", to.scheme != "https" {
            throw FetchError(.redirect, "\(what) leads from https to http; it is not followed")
        }
        guard request.body == nil else {
            throw FetchError(
                .redirect, "\(what) is on another origin, to which the body of the request is not sent")
        }
        request.url = redactor?.redacted(request.url) ?? request.url
        request.headers.removeAll(where: \.isForOneOrigin)
        (request.credentials, request.session, request.tls) = (nil, nil, request.tls.forOtherOrigins)
        (request.handshake, request.login, request.tokenLogin) = (nil, nil, nil)
        request.originLimits = OriginLimits()
        // An unknown origin is treated as a public one.
        if isPublic != false, !source.server.allowsPrivate { request.reach = .publicOnly }
        return request
    }
}
