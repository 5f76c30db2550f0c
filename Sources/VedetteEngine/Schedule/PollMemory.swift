// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// The memory for what polls read, in bytes over all sources (I8): from the parser of a body until its items and events are
/// committed. The bodies themselves are the fetcher's.
///
/// `PollMemoryLedger` decides; this lets polls wait.
public final class PollMemory: Sendable {
    /// In bytes: what I8 allows, less the parts of the fetcher and of the items that the journal keeps.
    public static let standard = 176 << 20

    /// The charge for a byte of a body, and for an item of it or of the stored snapshot. Estimates: a list of 16 MB with
    /// 16,000 rows, all new and all others gone, took 195 MB until its commit.
    static let bytesPerBodyByte = 10
    static let bytesPerItem = 1 << 10

    /// Bytes that may be freed before they are returned to the kernel: each return costs page faults later.
    private static let maximumFreed = 64 << 20
    /// The same while no poll is under way and none begins soon.
    private static let maximumFreedWhenIdle = 4 << 20

    private struct State {
        var ledger: PollMemoryLedger
        var waiting: [PollMemoryLedger.ID: CheckedContinuation<Bool, Never>] = [:]
        /// Bytes of large shares that were given back since free memory was last returned to the kernel.
        var freed = 0
        /// The same of all shares.
        var freedOfAll = 0
    }

    private let state: Mutex<State>
    private let returnFreeMemory: @Sendable () -> Void
    private let returnCaches: @Sendable () async -> Void

    /// - Parameters:
    ///   - limit: bytes; a poll may pass it when it is the oldest.
    ///   - returnFreeMemory: gives the free memory of the allocator back to the kernel. It may take some milliseconds.
    ///   - returnCaches: gives back first what is not needed until the next poll.
    public init(
        limit: Int = standard, returnFreeMemory: @escaping @Sendable () -> Void = {},
        returnCaches: @escaping @Sendable () async -> Void = {}
    ) {
        state = Mutex(State(ledger: PollMemoryLedger(limit: limit)))
        (self.returnFreeMemory, self.returnCaches) = (returnFreeMemory, returnCaches)
    }

    /// Bytes of all shares.
    var used: Int { state.withLock { $0.ledger.used } }

    /// Bytes to charge for so much of a poll.
    static func charge(body: Int, items: Int) -> Int { body * bytesPerBodyByte + items * bytesPerItem }

    fileprivate func open() -> PollMemoryLedger.ID { state.withLock { $0.ledger.open() } }

    fileprivate func request(_ id: PollMemoryLedger.ID, _ bytes: Int) async -> Bool {
        if state.withLock({ $0.ledger.request(id, bytes) }) { return true }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let answer: Bool? = state.withLock { state in
                    // It may have been granted, or cancelled, on the way here.
                    guard state.ledger.isWaiting(id) else { return !Task.isCancelled }
                    guard !Task.isCancelled else {
                        state.ledger.cancel(id)
                        return false
                    }
                    state.waiting[id] = continuation
                    return nil
                }
                if let answer { continuation.resume(returning: answer) }
            }
        } onCancel: {
            let continuation = state.withLock { state in
                state.ledger.cancel(id)
                return state.waiting.removeValue(forKey: id)
            }
            continuation?.resume(returning: false)
        }
    }

    fileprivate func park(_ id: PollMemoryLedger.ID) -> Bool { change { $0.ledger.park(id) } }

    fileprivate func close(_ id: PollMemoryLedger.ID) {
        change { state in
            let (before, all) = (state.ledger.usedByLarge, state.ledger.used)
            state.ledger.close(id)
            state.freed += before - state.ledger.usedByLarge
            state.freedOfAll += all - state.ledger.used
        }
    }

    /// Makes a change, and resumes the polls for which there is room after it.
    private func change<Result: Sendable>(_ change: (inout State) -> Result) -> Result {
        let (result, granted) = state.withLock { state in
            let result = change(&state)
            return (result, state.ledger.takeGranted().compactMap { state.waiting.removeValue(forKey: $0) })
        }
        for continuation in granted { continuation.resume(returning: true) }
        return result
    }

    /// Returns what earlier large polls have freed to the kernel, beside the caller's thread: the allocator keeps it otherwise,
    /// and another thread's heap grows beside it.
    @concurrent
    func trim() async {
        let isDue = state.withLock { state in
            guard state.freed >= PollMemory.maximumFreed else { return false }
            (state.freed, state.freedOfAll) = (0, 0)
            return true
        }
        if isDue { returnFreeMemory() }
    }

    /// Takes note of what earlier polls have freed, when none is under way.
    /// - Returns: whether it is enough to call `returnFree`, where none begins soon.
    func takeIdle() -> Bool {
        state.withLock { state in
            guard state.ledger.used == 0, state.freedOfAll >= PollMemory.maximumFreedWhenIdle else { return false }
            (state.freed, state.freedOfAll) = (0, 0)
            return true
        }
    }

    /// Returns what earlier polls have freed and what the next one does not need at once to the kernel.
    @concurrent
    func returnFree() async {
        await returnCaches()
        returnFreeMemory()
    }

    /// Calls `trim`, when no large poll is left.
    func trimWhenIdle() {
        guard state.withLock({ $0.freed >= PollMemory.maximumFreed && $0.ledger.usedByLarge == 0 }) else { return }
        Task { await trim() }
    }
}

/// The share of one poll. It is used by that poll's task alone.
final class PollMemoryShare: Sendable {
    private let memory: PollMemory
    private let id = Mutex<PollMemoryLedger.ID?>(nil)

    init(_ memory: PollMemory) { self.memory = memory }

    deinit { release() }

    /// Waits until the share may be as large as that. It never shrinks.
    /// - Returns: false when the task was cancelled.
    func grow(to bytes: Int) async -> Bool {
        let id = id.withLock { id in
            if let id { return id }
            let new = memory.open()
            id = new
            return new
        }
        guard await memory.request(id, bytes) else { return false }
        if bytes > PollMemoryLedger.maximumSmall { await memory.trim() }
        return true
    }

    /// To be called before the poll waits for the network with what it has read.
    /// - Returns: false when too many polls do so, and this one must not.
    func park() -> Bool { id.withLock { $0 }.map(memory.park) ?? true }

    /// Gives the share back.
    func release() {
        let last = id.withLock { id in
            defer { id = nil }
            return id
        }
        if let last { memory.close(last) }
    }
}
