// SPDX-License-Identifier: Apache-2.0

import VedetteCore
import VedetteSystem

/// Tokens of OAuth 2 (RFC 6749). One request fetches the token for all requests that wait for it; the token
/// is kept until it expires, and fetched again once after a 401.
final class OAuthTokens {
    private typealias Recipient = UnsafeContinuation<Result<Secret, FetchError>, Never>

    /// A running request for a token, and the requests that wait for it.
    private struct TokenRequest {
        let id: Int
        var task: Task<Void, Never>?
        var waiting: [Int: Recipient] = [:]
    }

    private var cache = OAuthTokenCache()
    private var requests: [GrantKey: TokenRequest] = [:]
    private var lastID = 0
    /// The refresh tokens that replaced configured ones.
    private var refreshTokens: [GrantKey: Secret] = [:]
    private var pauses = LoginPauses<GrantKey>()

    func fetch(
        _ request: Request, with grant: ClientGrant, by client: isolated HTTPClient
    ) async throws(FetchError) -> Response {
        let key = GrantKey(grant)
        let token = try await token(key, grant, for: request, by: client)
        var response = try await client.followRedirects(of: request, as: .bearer(token))
        response.token = token
        // Another origin got no token, so its 401 tells nothing about this one.
        guard response.status == 401, WebURL(response.url)?.origin == WebURL(request.url)?.origin else {
            return response
        }
        cache.remove(token, of: key)
        let fresh = try await self.token(key, grant, for: request, by: client)
        guard fresh.value != token.value else { return response }
        response = try await client.followRedirects(of: request, as: .bearer(fresh))
        response.token = fresh
        return response
    }

    private func token(
        _ key: GrantKey, _ grant: ClientGrant, for request: Request, by client: isolated HTTPClient
    ) async throws(FetchError) -> Secret {
        if let token = cache.token(key, now: KernelClock.monotonic.milliseconds) { return token }
        try pauses.check(key, now: KernelClock.monotonic.milliseconds)
        lastID += 1
        let id = lastID
        let result = await withTaskCancellationHandler {
            await withUnsafeContinuation { (continuation: Recipient) in
                guard !Task.isCancelled else {
                    return continuation.resume(returning: .failure(HTTPClient.cancelled))
                }
                if requests[key] == nil {
                    let request = grant.request(for: request, refresh: refreshTokens[key])
                    requests[key] = TokenRequest(id: id)
                    requests[key]?.task = Task { await fetchToken(key, request, id: id, by: client) }
                }
                requests[key]?.waiting[id] = continuation
            }
        } onCancel: {
            client.onLoop { $0.tokens.stopWaiting(id, for: key) }
        }
        return try result.get()
    }

    private func fetchToken(_ key: GrantKey, _ request: Request, id: Int, by client: isolated HTTPClient) async {
        let result: Result<Secret, FetchError>
        var retryAfter: Duration?
        do throws(FetchError) {
            let response = try await client.followRedirects(of: request, as: nil)
            retryAfter = response.retryAfter
            let granted = try GrantedToken(response, from: WebURL(request.url)?.origin ?? "the token server")
            cache.keep(granted, of: key, now: KernelClock.monotonic.milliseconds)
            keep(granted.refresh, of: key)
            pauses.end(key)
            result = .success(granted.value)
        } catch {
            var error = error
            error.retryAfter = retryAfter
            if error.failure == .unauthorized, key.locksAccounts {
                pauses.begin(key, now: KernelClock.monotonic.milliseconds)
            }
            pauses.begin(key, after: error, now: KernelClock.monotonic.milliseconds)
            result = .failure(error)
        }
        guard requests[key]?.id == id else { return }
        let waiting = requests.removeValue(forKey: key)?.waiting ?? [:]
        for continuation in waiting.values { continuation.resume(returning: result) }
    }

    /// Keeps a refresh token that replaces the one that was sent; that one may be worth nothing from now on.
    private func keep(_ refresh: Secret?, of key: GrantKey) {
        guard let refresh, key.isRefresh else { return }
        if refreshTokens.count >= OAuthTokenCache.maximumTokens { refreshTokens = [:] }
        refreshTokens[key] = refresh
    }

    /// Cancels the request for a token when nothing waits for it any more; a later request starts another.
    func stopWaiting(_ id: Int, for key: GrantKey) {
        guard let continuation = requests[key]?.waiting.removeValue(forKey: id) else { return }
        continuation.resume(returning: .failure(HTTPClient.cancelled))
        if requests[key]?.waiting.isEmpty == true { requests.removeValue(forKey: key)?.task?.cancel() }
    }
}
