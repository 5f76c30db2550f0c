// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// Sessions that begin with a refusal: Transmission answers 409 with an `X-Transmission-Session-Id` that every request must
/// repeat, and again when it has expired.
final class HandshakeSessions {
    /// Identifies a session: the origin that gave it, the header, and who shares it.
    private struct Key: Hashable {
        var origin: String
        var header: String
        var session: String?
    }

    /// Sessions that are kept at most; a lost one costs a request.
    private static let maximumSessions = 1000

    /// The values of the headers.
    private var sessions: [Key: Secret] = [:]

    /// Sends a request in its session, and once more when the server gives it another one.
    func fetch(
        _ request: Request, after handshake: SessionHandshake, by client: isolated HTTPClient
    ) async throws(FetchError) -> Response {
        let origin = WebURL(request.url)?.origin ?? request.url
        let key = Key(origin: origin, header: handshake.header, session: request.session)
        let known = sessions[key]
        let response = try await client.authenticated(request.adding(handshake.header, known))
        guard response.status == handshake.status, WebURL(response.url)?.origin == origin,
            let value = response.headers[handshake.header], !value.isEmpty, value != known?.value
        else { return response }
        if sessions.count >= Self.maximumSessions { sessions.removeAll() }
        let secret = Secret(value)
        sessions[key] = secret
        return try await client.authenticated(request.adding(handshake.header, secret))
    }
}

extension Request {
    /// Returns a copy with the header of a session, which is sent to its own origin only.
    fileprivate func adding(_ name: String, _ value: Secret?) -> Request {
        guard let value else { return self }
        var request = self
        request.headers.removeAll { $0.name.lowercased() == name.lowercased() }
        request.headers.append(Header(name, value))
        return request
    }
}
