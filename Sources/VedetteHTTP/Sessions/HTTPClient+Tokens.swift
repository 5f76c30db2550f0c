// SPDX-License-Identifier: Apache-2.0

import VedetteCore
import VedetteSystem

/// OAuth 2 client credentials (RFC 6749 §4.4). One request fetches the token for all requests that wait for it; the token
/// is kept until it expires, and fetched again once after a 401.
extension HTTPClient {
    typealias TokenContinuation = UnsafeContinuation<Result<Secret, FetchError>, Never>

    /// A running request for a token, and the requests that wait for it.
    struct TokenRequest {
        let id: RequestQueue.ID
        var task: Task<Void, Never>?
        var waiting: [RequestQueue.ID: TokenContinuation] = [:]
    }

    func fetch(_ request: Request, with grant: ClientGrant) async throws(FetchError) -> Response {
        let key = GrantKey(grant)
        let token = try await token(key, grant, for: request)
        var response = try await followRedirects(of: request, as: .bearer(token))
        response.token = token
        // Another origin got no token, so its 401 tells nothing about this one.
        guard response.status == 401, WebURL(response.url)?.origin == WebURL(request.url)?.origin else {
            return response
        }
        tokens.remove(token, of: key)
        let fresh = try await self.token(key, grant, for: request)
        guard fresh.value != token.value else { return response }
        response = try await followRedirects(of: request, as: .bearer(fresh))
        response.token = fresh
        return response
    }

    private func token(_ key: GrantKey, _ grant: ClientGrant, for request: Request) async throws(FetchError) -> Secret {
        if let token = tokens.token(key, now: KernelClock.monotonic.milliseconds) { return token }
        lastID += 1
        let id = lastID
        let result = await withTaskCancellationHandler {
            await withUnsafeContinuation { (continuation: TokenContinuation) in
                guard !Task.isCancelled, !isShutDown else {
                    return continuation.resume(returning: .failure(HTTPClient.cancelled))
                }
                wait(id, continuation, for: key, grant.request(for: request))
            }
        } onCancel: {
            onLoop { $0.stopWaiting(id, for: key) }
        }
        return try result.get()
    }

    private func wait(
        _ id: RequestQueue.ID, _ continuation: TokenContinuation, for key: GrantKey,
        _ request: @autoclosure () -> Request
    ) {
        if tokenRequests[key] == nil {
            let request = request()
            tokenRequests[key] = TokenRequest(id: id)
            tokenRequests[key]?.task = Task { await self.fetchToken(key, request, id: id) }
        }
        tokenRequests[key]?.waiting[id] = continuation
    }

    private func fetchToken(_ key: GrantKey, _ request: Request, id: RequestQueue.ID) async {
        let result: Result<Secret, FetchError>
        do throws(FetchError) {
            let response = try await followRedirects(of: request, as: nil)
            let granted = try GrantedToken(response, from: WebURL(request.url)?.origin ?? "the token server")
            tokens.keep(granted, of: key, now: KernelClock.monotonic.milliseconds)
            result = .success(granted.value)
        } catch {
            result = .failure(error)
        }
        guard tokenRequests[key]?.id == id else { return }
        let waiting = tokenRequests.removeValue(forKey: key)?.waiting ?? [:]
        for continuation in waiting.values { continuation.resume(returning: result) }
    }

    /// Cancels the request for a token when nothing waits for it any more; a later request starts another.
    private func stopWaiting(_ id: RequestQueue.ID, for key: GrantKey) {
        guard let continuation = tokenRequests[key]?.waiting.removeValue(forKey: id) else { return }
        continuation.resume(returning: .failure(HTTPClient.cancelled))
        if tokenRequests[key]?.waiting.isEmpty == true {
            tokenRequests.removeValue(forKey: key)?.task?.cancel()
        }
    }
}
