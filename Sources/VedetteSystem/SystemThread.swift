// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Threads outside Swift's pool, for calls that block: the pool has as few threads as the machine has processors.
public enum SystemThread {
    /// Runs `body` on a new thread with all signals blocked, so that they go to the threads that handle them.
    /// - Returns: 0, or the errno of pthread_create(3) when there is no thread to be had.
    public static func start(_ body: @escaping @Sendable () -> Void) -> Int32 {
        let box = Unmanaged.passRetained(Box(body))
        // The mask is inherited, so no signal can arrive before the new thread has blocked it.
        var (all, before) = (sigset_t(), sigset_t())
        sigfillset(&all)
        pthread_sigmask(SIG_SETMASK, &all, &before)
        defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
        var thread = pthread_t()
        let code = pthread_create(
            &thread, nil,
            { context in
                if let context { Unmanaged<Box>.fromOpaque(context).takeRetainedValue().body() }
                return nil
            }, box.toOpaque())
        if code == 0 { pthread_detach(thread) } else { box.release() }
        return code
    }

    /// There is no thread to be had.
    public struct Unavailable: Error, Hashable {
        /// The errno of pthread_create(3).
        public let code: Int32

        /// The system's text for `code`.
        public var reason: String { String(cString: strerror(code)) }
    }

    /// Returns the result of a call that blocks, made on a thread of its own. It is not made where none can be started:
    /// on the caller's thread it would delay all that runs there.
    public static func run<Result: Sendable>(
        _ call: @escaping @Sendable () -> Result
    ) async throws(Unavailable) -> Result {
        try await run(startedBy: start, call)
    }

    static func run<Result: Sendable>(
        startedBy start: (@escaping @Sendable () -> Void) -> Int32, _ call: @escaping @Sendable () -> Result
    ) async throws(Unavailable) -> Result {
        let result: Swift.Result<Result, Unavailable> = await withUnsafeContinuation { continuation in
            let code = start { continuation.resume(returning: .success(call())) }
            if code != 0 { continuation.resume(returning: .failure(Unavailable(code: code))) }
        }
        return try result.get()
    }

    private final class Box: Sendable {
        let body: @Sendable () -> Void

        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }
}
