// SPDX-License-Identifier: Apache-2.0

import Synchronization
public import VedetteCore
import VedetteSystem

/// Requests without a task: the loop's thread calls back when the response is there.
extension HTTPClient: CallbackFetcher {
    /// The recipient of a request's result.
    enum Recipient {
        case task(Transfer.Continuation)
        case callback(RedirectHop, @Sendable (FirstAnswer) -> Void)
    }

    public nonisolated func send(
        _ request: Request, ended: @escaping @Sendable (FirstAnswer) -> Void
    ) -> SentRequestID? {
        assumeIsolated { $0.enqueue(request, ended) }
    }

    private func enqueue(_ request: Request, _ ended: @escaping @Sendable (FirstAnswer) -> Void) -> SentRequestID? {
        guard !isShutDown, request.login == nil, request.handshake == nil, request.stream == nil else { return nil }
        if case .grant = request.credentials { return nil }
        if let session = request.session, request.cookies != .none {
            // Stored cookies must be read first.
            guard request.cookies != .journal else { return nil }
            markUsed(session, now: KernelClock.monotonic.milliseconds)
        }
        let hop: RedirectHop
        do throws(FetchError) {
            hop = try firstHop(of: request, as: nil)
            try hop.checkReach(isPrivate)
        } catch {
            // `fetch` finds the same error.
            return nil
        }
        // The loop starts it when the jobs of this turn have run, so `ended` is never called from here.
        lastID += 1
        add(hop, .callback(hop, ended), as: lastID)
        return SentRequestID(lastID)
    }

    public func cancel(_ id: SentRequestID) async { cancel(id.number) }

    /// Delivers a result to its recipient.
    func deliver(_ result: Result<RawResponse, FetchError>, to recipient: Recipient) {
        switch recipient {
        case .task(let continuation): continuation.resume(returning: result)
        case .callback(let hop, let ended):
            guard case .success(let raw) = result, let response = HTTPClient.unchanged(raw, hop) else {
                return ended(.other(ReceivedHop(self, hop, result)))
            }
            if raw.setsCookies, let session = hop.session { store(raw.headers, from: hop, in: session) }
            ended(.unchanged(response))
        }
    }
}

/// The result of a request that was sent without a task.
private final class ReceivedHop: PendingResponse {
    private let client: HTTPClient
    private let hop: RedirectHop
    /// Taken out when it is read, so that a body has one holder.
    private let result: Mutex<Result<RawResponse, FetchError>?>

    init(_ client: HTTPClient, _ hop: RedirectHop, _ result: Result<RawResponse, FetchError>) {
        (self.client, self.hop) = (client, hop)
        self.result = Mutex(result)
    }

    func response() async throws(FetchError) -> Response {
        guard let result = result.withLock({ $0.take() }) else { throw HTTPClient.cancelled }
        return try await client.follow(hop, try (consume result).get())
    }
}
