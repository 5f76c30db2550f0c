// SPDX-License-Identifier: Apache-2.0

import VedetteCore
import VedetteSystem

/// Sessions that begin with a POST whose response has a token. One login serves all requests of a session; it is made again
/// before the token expires, and once when the server refuses it. Tokens are kept in memory alone.
final class TokenSessions {
    /// Identifies a session: who shares its cookies, and the login. Another password is another session.
    private struct Key: Hashable {
        var session: String?
        var login: [String]
    }

    /// What is known of a session. Times are milliseconds of a clock that never jumps.
    private struct State {
        /// The login that is under way.
        var task: Task<Result<Grant, FetchError>, Never>?
        var grant: Grant?
        /// The addresses whose requests were refused right after a login, and when: another login is no help to them.
        var refused: [String: Int64] = [:]
    }

    private struct Grant: Sendable {
        var token: Secret?
        var until: Int64?
        var number: Int
    }

    /// Sessions that are kept at most; a lost one costs a login.
    private static let maximumSessions = 1000
    private static let maximumRefused = 1000

    private var states: [Key: State] = [:]
    private var pauses = LoginPauses<Key>()
    private var lastNumber = 0

    /// Sends a request in its session, and once more after another login when the server refuses the token.
    func fetch(
        _ request: Request, after login: TokenLogin, by client: isolated HTTPClient
    ) async throws(FetchError) -> Response {
        let key = Key(session: request.session, login: login.parts)
        let first = try await grant(key, login, request, by: client)
        let response = try await send(request, first, login, by: client)
        guard asksForLogin(response, request, login) else { return response }
        guard isRetried(request.url, key) else { throw Self.refusal(response) }
        // Another request of the session may have logged in meanwhile.
        if states[key]?.grant?.number == first.number { states[key]?.grant = nil }
        let second = try await grant(key, login, request, by: client)
        let again = try await send(request, second, login, by: client)
        guard asksForLogin(again, request, login) else {
            states[key]?.refused[request.url] = nil
            return again
        }
        if let count = states[key]?.refused.count, count >= Self.maximumRefused { states[key]?.refused = [:] }
        states[key]?.refused[request.url] = KernelClock.monotonic.milliseconds
        throw Self.refusal(again)
    }

    private func isRetried(_ url: String, _ key: Key) -> Bool {
        guard let refused = states[key]?.refused[url] else { return true }
        return KernelClock.monotonic.milliseconds - refused >= LoginPauses<Key>.first
    }

    private static func refusal(_ response: Response) -> FetchError {
        FetchError(
            .unauthorized,
            "\(WebURL(response.url)?.origin ?? "the server") answered \(response.status) right after a login; "
                + "check 'token' and 'send' of 'session', and what this user may read")
    }

    /// Another origin got no token, so that its refusal tells nothing about this one.
    private func asksForLogin(_ response: Response, _ request: Request, _ login: TokenLogin) -> Bool {
        response.status == login.status && WebURL(response.url)?.origin == WebURL(request.url)?.origin
    }

    private func send(
        _ request: Request, _ grant: Grant, _ login: TokenLogin, by client: isolated HTTPClient
    ) async throws(FetchError) -> Response {
        var request = request
        if let token = grant.token {
            let value = login.scheme.map { Secret("\($0) \(token.value)") } ?? token
            request.headers.removeAll { $0.name.lowercased() == login.header.lowercased() }
            request.headers.append(Header(login.header, value))
        }
        var response = try await client.authenticated(request)
        response.token = grant.token
        return response
    }

    private func grant(
        _ key: Key, _ login: TokenLogin, _ request: Request, by client: isolated HTTPClient
    ) async throws(FetchError) -> Grant {
        let now = KernelClock.monotonic.milliseconds
        if let grant = states[key]?.grant, grant.until.map({ now < $0 }) ?? true { return grant }
        try pauses.check(key, now: now)
        if states.count >= Self.maximumSessions { states = states.filter { $0.value.task != nil } }
        let task = states[key]?.task ?? Task { await logIn(key, login, request, by: client) }
        states[key, default: State()].task = task
        return try await task.value.get()
    }

    private func logIn(
        _ key: Key, _ login: TokenLogin, _ request: Request, by client: isolated HTTPClient
    ) async -> Result<Grant, FetchError> {
        lastNumber += 1
        let number = lastNumber
        var result: Result<Grant, FetchError>
        var retryAfter: Duration?
        do throws(FetchError) {
            let response = try await client.followRedirects(of: login.request(for: request), as: nil)
            retryAfter = response.retryAfter
            let token = try SessionToken(
                response, to: login, from: WebURL(login.url)?.origin ?? "the server",
                now: Timestamp(milliseconds: KernelClock.wall.milliseconds))
            let until = token.lifetime.map { KernelClock.monotonic.milliseconds + $0 }
            result = .success(Grant(token: token.value, until: until, number: number))
            pauses.end(key)
        } catch {
            var error = error
            error.retryAfter = retryAfter
            if error.failure == .unauthorized { pauses.begin(key, now: KernelClock.monotonic.milliseconds) }
            pauses.begin(key, after: error, now: KernelClock.monotonic.milliseconds)
            result = .failure(error)
        }
        states[key, default: State()].task = nil
        states[key]?.grant = try? result.get()
        return result
    }
}
