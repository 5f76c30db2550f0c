// SPDX-License-Identifier: Apache-2.0

/// Starts requests and calls back, for polls and deliveries alike: over HTTP, or of what a source reads from a file or a command.
public protocol Fetcher: Sendable {
    /// Starts a request, follows its redirects, and calls back with the final response, of any status.
    ///
    /// - Parameter ended: called once, on the fetcher's executor, after this function has returned.
    /// - Returns: the handle that cancels the request.
    func start(
        _ request: Request, ended: @escaping @Sendable (Result<Response, FetchError>) -> Void
    ) -> any FetchHandle
}

/// A request under way.
public protocol FetchHandle: Sendable {
    /// Ends the request with `.cancelled`, also a child process of it; one that has ended is left alone.
    func cancel()
}

extension Fetcher {
    /// Sends a request and waits for the final response. Cancelling the calling task cancels the request.
    public func fetch(_ request: Request) async throws(FetchError) -> Response {
        // Else the request starts, and may be sent, before its handle is cancelled.
        guard !Task.isCancelled else { throw FetchError(.cancelled, "the request was cancelled") }
        let handle = AwaitedHandle()
        let result = await withTaskCancellationHandler {
            await withUnsafeContinuation { continuation in
                handle.set(start(request) { continuation.resume(returning: $0) })
            }
        } onCancel: {
            handle.cancel()
        }
        return try result.get()
    }
}

/// A request that is awaited by a task. Its task calls back.
public final class FetchTask: FetchHandle {
    private let task: Task<Void, Never>

    /// - Parameters:
    ///   - executor: of the fetcher.
    ///   - fetch: makes the response; it may take long, and is cancelled with its task.
    public init(
        on executor: any TaskExecutor, ended: @escaping @Sendable (Result<Response, FetchError>) -> Void,
        _ fetch: @escaping @Sendable () async -> Result<Response, FetchError>
    ) {
        task = Task(executorPreference: executor) { ended(await fetch()) }
    }

    public func cancel() { task.cancel() }
}

extension Result where Success == Response, Failure == FetchError {
    /// Awaits a fetch that throws.
    public init(of fetch: () async throws(FetchError) -> Response) async {
        do throws(FetchError) {
            self = .success(try await fetch())
        } catch {
            self = .failure(error)
        }
    }
}
