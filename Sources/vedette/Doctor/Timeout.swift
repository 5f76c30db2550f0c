// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Returns the result of the work, or nil when it takes longer. Late work goes on in the background: a thread that blocks
/// cannot be stopped, and ends with the program.
func within<Result: Sendable>(
    _ limit: Duration, _ work: @escaping @Sendable () async -> Result
) async -> Result? {
    let (results, continuation) = AsyncStream<Result?>.makeStream()
    let worker = Task { continuation.yield(await work()) }
    let timer = Task {
        try? await Task.sleep(for: limit)
        continuation.yield(nil)
    }
    defer {
        worker.cancel()
        timer.cancel()
    }
    var iterator = results.makeAsyncIterator()
    return await iterator.next() ?? nil
}
