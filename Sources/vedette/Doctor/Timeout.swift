// SPDX-License-Identifier: Apache-2.0

import Foundation

/// What the work comes to, or nil when it takes longer. What is late goes on by itself: a thread that blocks cannot be
/// stopped, and ends with the program.
func within<Answer: Sendable>(
    _ limit: Duration, _ work: @escaping @Sendable () async -> Answer
) async -> Answer? {
    let (answers, answer) = AsyncStream<Answer?>.makeStream()
    let worker = Task { answer.yield(await work()) }
    let timer = Task {
        try? await Task.sleep(for: limit)
        answer.yield(nil)
    }
    defer {
        worker.cancel()
        timer.cancel()
    }
    var iterator = answers.makeAsyncIterator()
    return await iterator.next() ?? nil
}

/// Calls that block, on a thread of their own: Swift's threads are as few as processors.
func onThread<Answer: Sendable>(_ call: @escaping @Sendable () -> Answer) async -> Answer {
    await withCheckedContinuation { continuation in
        Thread.detachNewThread { continuation.resume(returning: call()) }
    }
}
