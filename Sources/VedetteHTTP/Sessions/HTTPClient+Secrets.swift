// SPDX-License-Identifier: Apache-2.0

import VedetteCore
import VedetteSystem

/// Secrets that a server refused: they are read again, and where one is another one then, the same request is sent once more.
/// So the end of a short-lived token is no failure. It stands around redirects, tokens, sessions and streams alike; sinks,
/// which make another message, do the same around their delivery.
extension HTTPClient {
    /// Fetches, and once more with other secrets where the server refused those that the request carried.
    /// - Parameter first: fetches, or goes on with the response of the first hop, where that was sent already.
    func fetch(
        _ request: Request, _ first: () async throws(FetchError) -> Response
    ) async throws(FetchError) -> Response {
        guard request.hasSecrets else { return try await first() }
        let (version, start) = (request.secrets.version, KernelClock.boot.milliseconds)
        let response: Response
        do throws(FetchError) {
            response = try await first()
        } catch {
            // The proxy, the server of tokens or the login form refused them.
            guard error.failure == .unauthorized,
                let again = await repetition(
                    of: request, refused: version, elapsed: .milliseconds(KernelClock.boot.milliseconds - start))
            else { throw error }
            return try await fetchOnce(again)
        }
        guard response.refusesSecrets(of: request),
            let again = await repetition(of: request, refused: response.secretsVersion, elapsed: response.elapsed)
        else { return response }
        return try await fetchOnce(again)
    }

    /// Reads the secrets of a request again, within what is left of its time.
    /// - Returns: the request within what is left of its time; nil where it is not sent again: its secrets are what they were,
    ///   or what it would do twice is unknown.
    private func repetition(of request: Request, refused version: UInt64, elapsed: Duration) async -> Request? {
        // A sink has other texts with the same secrets, such as a signature.
        guard request.lane != .deliveries else { return nil }
        let (secrets, start) = (request.secrets, KernelClock.boot.milliseconds)
        let now = BootTime(milliseconds: start)
        guard HTTPSyntax.isSafe(request.method) else {
            // For the next poll.
            Task { @concurrent in _ = await secrets.renewed(after: version, now: now) }
            return nil
        }
        let left = request.limits.total - elapsed
        guard await secrets.renewed(after: version, now: now, within: max(left, .zero)), !Task.isCancelled
        else { return nil }
        return request.within(left - .milliseconds(KernelClock.boot.milliseconds - start))
    }
}
