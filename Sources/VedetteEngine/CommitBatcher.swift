// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// Lets polls that finish together share one transaction: while one is being written, the next ones gather.
actor CommitBatcher {
    private let journal: any Journal
    private let log: any Log
    private let executor: any SerialExecutor
    private var waiting:
        [(record: PollRecord, continuation: CheckedContinuation<Result<Committed, JournalError>, Never>)] = []
    /// The newest record of each source whose poll changed nothing, to be written after the commits at hand: one writer
    /// for both, so that an old record never overwrites a newer one.
    private var touched: [String: DeferredWrite] = [:]
    private var isWriting = false
    private var finishers: [CheckedContinuation<Void, Never>] = []

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    init(journal: any Journal, log: any Log, executor: any SerialExecutor) {
        (self.journal, self.log, self.executor) = (journal, log, executor)
    }

    func commit(_ record: PollRecord) async throws(JournalError) -> Committed {
        let result = await withCheckedContinuation { continuation in
            waiting.append((record, continuation))
            if let name = record.record?.name { touched[name] = nil }
            startWriting()
        }
        return try result.get()
    }

    func touch(_ touches: [DeferredWrite]) {
        for touch in touches { touched[touch.record.name] = touch }
        if !touched.isEmpty { startWriting() }
    }

    private func startWriting() {
        guard !isWriting else { return }
        isWriting = true
        Task { await self.write() }
    }

    /// Returns when everything handed in is written.
    func finish() async {
        // Asked inside: on its way into the continuation the actor may be let go of.
        await withCheckedContinuation { if isWriting { finishers.append($0) } else { $0.resume() } }
    }

    private func write() async {
        while !waiting.isEmpty || !touched.isEmpty {
            if !waiting.isEmpty { await writeWaiting() }
            if !touched.isEmpty { await writeTouched() }
        }
        isWriting = false
        for finisher in finishers { finisher.resume() }
        finishers = []
    }

    private func writeWaiting() async {
        let batch = waiting
        waiting = []
        do throws(JournalError) {
            let committed = try await journal.commit(batch.map(\.record))
            for (entry, committed) in zip(batch, committed) {
                entry.continuation.resume(returning: .success(committed))
            }
        } catch {
            for entry in batch { entry.continuation.resume(returning: .failure(error)) }
        }
    }

    private func writeTouched() async {
        let touches = Array(touched.values)
        touched = [:]
        do throws(JournalError) {
            try await journal.touch(touches)
        } catch {
            log.log(.warning, "due times and measures were not written: \(error.detail)")
        }
    }
}
