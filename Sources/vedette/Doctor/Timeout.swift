// SPDX-License-Identifier: Apache-2.0

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
