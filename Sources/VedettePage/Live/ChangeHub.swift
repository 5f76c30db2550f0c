// SPDX-License-Identifier: Apache-2.0

public import VedetteCore

/// Signals any number of streams that the journal may have changed, with one watch of it while there are any.
public actor ChangeHub {
    /// What streams get: after a change, and when a sign of life is due. A slow consumer gets the last of several, so it
    /// holds how many of each there were.
    public struct Signal: Sendable, Hashable {
        /// The number of changes so far.
        public var changes = 0
        /// How often a sign of life was due so far.
        public var signsOfLife = 0

        /// The number of signals so far.
        public var count: Int { changes + signsOfLife }

        /// Creates the signal of a hub that saw nothing.
        public init() {}
    }

    /// How often a stream that sends nothing else sends a sign of life.
    public static let keepAlive = Duration.seconds(15)
    /// The time before a watch that could not be started is tried again; it doubles up to a minute.
    static let firstRetry = Duration.seconds(1)
    private static let longestRetry = Duration.seconds(60)

    private let changes: @Sendable () throws(JournalError) -> AsyncStream<Void>
    private let clock: any Clock
    private let log: any Log
    private var followers: [Int: AsyncStream<Signal>.Continuation] = [:]
    private var lastFollower = 0
    private var signal = Signal()
    private var tasks: [Task<Void, Never>] = []

    /// - Parameter changes: yields when the journal may have changed.
    public init(
        _ changes: @escaping @Sendable () throws(JournalError) -> AsyncStream<Void>, clock: any Clock, log: any Log
    ) {
        (self.changes, self.clock, self.log) = (changes, clock, log)
    }

    /// Yields the last signal at once, then each new one; a slow consumer gets the newest.
    public func signals() -> AsyncStream<Signal> {
        let (stream, continuation) = AsyncStream.makeStream(of: Signal.self, bufferingPolicy: .bufferingNewest(1))
        lastFollower += 1
        let id = lastFollower
        followers[id] = continuation
        continuation.onTermination = { [weak self] _ in
            Task { [weak self] in await self?.leave(id) }
        }
        continuation.yield(signal)
        if tasks.isEmpty { start() }
        return stream
    }

    /// Lets every stream send a sign of life now, and so check whether it may go on.
    public func check() { yield(isChange: false) }

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
        let wakes = watch(retry: ChangeHub.firstRetry)
        tasks = [
            Task { [weak self] in
                var wakes = wakes
                if wakes == nil { wakes = await self?.watchLater() }
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

    private func watch(retry: Duration) -> AsyncStream<Void>? {
        do throws(JournalError) {
            return try changes()
        } catch {
            log.log(
                .warning,
                "failed to watch the journal for the page, which shows changes late; it is tried again in "
                    + "\(retry.components.seconds) s: \(error.detail)")
            return nil
        }
    }

    /// Tries until the journal can be watched; returns nil when its task is cancelled.
    private func watchLater() async -> AsyncStream<Void>? {
        var retry = ChangeHub.firstRetry
        while (try? await clock.sleep(until: clock.now().boot.advanced(by: retry))) != nil {
            retry = min(retry * 2, ChangeHub.longestRetry)
            guard let wakes = watch(retry: retry) else { continue }
            log.log(.notice, "the page shows changes at once again")
            // What was committed meanwhile was not reported.
            yield(isChange: true)
            return wakes
        }
        return nil
    }

    private func yield(isChange: Bool) {
        if isChange { signal.changes += 1 } else { signal.signsOfLife += 1 }
        for follower in followers.values { follower.yield(signal) }
    }
}
