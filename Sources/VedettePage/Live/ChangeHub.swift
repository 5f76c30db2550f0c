// SPDX-License-Identifier: Apache-2.0

public import VedetteCore

/// Tells any number of streams that the journal may have changed, with one watch of it while there are any.
public actor ChangeHub {
    /// How often a stream without changes gets a sign of life.
    public static let keepAlive = Duration.seconds(15)

    private let changes: @Sendable () throws(JournalError) -> AsyncStream<Void>
    private let clock: any Clock
    private var followers: [Int: AsyncStream<Int>.Continuation] = [:]
    private var lastFollower = 0
    private var version = 0
    private var tasks: [Task<Void, Never>] = []

    /// - Parameter changes: yields when the journal may have changed.
    public init(_ changes: @escaping @Sendable () throws(JournalError) -> AsyncStream<Void>, clock: any Clock) {
        (self.changes, self.clock) = (changes, clock)
    }

    /// Yields the number of changes so far: a higher one after a change, and the same one when nothing happened for a while.
    public func versions() -> AsyncStream<Int> {
        let (stream, continuation) = AsyncStream.makeStream(of: Int.self, bufferingPolicy: .bufferingNewest(1))
        lastFollower += 1
        let id = lastFollower
        followers[id] = continuation
        continuation.onTermination = { [weak self] _ in
            Task { [weak self] in await self?.leave(id) }
        }
        continuation.yield(version)
        if tasks.isEmpty { start() }
        return stream
    }

    /// Ends every stream.
    public func stop() {
        for follower in followers.values { follower.finish() }
        followers = [:]
        pause()
    }

    private func leave(_ id: Int) {
        followers[id] = nil
        if followers.isEmpty { pause() }
    }

    private func pause() {
        for task in tasks { task.cancel() }
        tasks = []
    }

    private func start() {
        let clock = clock
        // Here already: who follows reads the journal next, and learns of every commit after that.
        let wakes = try? changes()
        tasks = [
            Task { [weak self] in
                guard let wakes else { return }
                for await _ in wakes { await self?.yield(isChange: true) }
            },
            Task { [weak self] in
                while (try? await clock.sleep(until: clock.now().boot.advanced(by: ChangeHub.keepAlive))) != nil {
                    await self?.yield(isChange: false)
                }
            },
        ]
    }

    private func yield(isChange: Bool) {
        if isChange { version += 1 }
        for follower in followers.values { follower.yield(version) }
    }
}
