// SPDX-License-Identifier: Apache-2.0

public import VedetteCore

/// A fetcher of tests whose answers are awaited. It calls back from a task of its own.
public protocol AwaitingFetcher: Fetcher {
    func answer(to request: Request) async throws(FetchError) -> Response
}

extension AwaitingFetcher {
    public func start(
        _ request: Request, ended: @escaping @Sendable (Result<Response, FetchError>) -> Void
    ) -> any FetchHandle {
        FetchTask(on: globalConcurrentExecutor, ended: ended) {
            await Result(of: { () throws(FetchError) in try await self.answer(to: request) })
        }
    }
}
