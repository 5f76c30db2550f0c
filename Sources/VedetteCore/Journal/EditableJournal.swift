// SPDX-License-Identifier: Apache-2.0

/// One transaction in which a command changes a journal.
public protocol JournalEdit: ChangeableDeliveries {
    /// Adds a silence.
    /// - Returns: its id.
    func add(_ silence: Silence) throws -> Int64

    /// Ends silences by their ids.
    /// - Returns: how many of them existed.
    func endSilences(_ ids: [Int64]) throws -> Int

    /// Deletes the silences that are over at a time.
    func deleteSilences(overAt time: Timestamp) throws
}

/// A journal that commands change in transactions.
public protocol EditableJournal: JournalAccess {
    /// Makes a change and writes its control requests in one transaction, then wakes the watcher and the readers.
    func edit<Answer: Sendable>(
        at now: Timestamp, _ change: @escaping @Sendable (any JournalEdit) throws -> (Answer, [ControlRequest])
    ) async throws(JournalError) -> Answer
}

extension EditableJournal {
    public func add(_ silence: Silence) async throws(JournalError) -> Int64 {
        try await edit(at: silence.created) { edit in
            try edit.deleteSilences(overAt: silence.created)
            return (try edit.add(silence), [.reloadSilences])
        }
    }

    public func endSilences(_ ids: [Int64], at now: Timestamp) async throws(JournalError) -> Int {
        try await edit(at: now) { (try $0.endSilences(ids), [.reloadSilences]) }
    }

    public func retry(_ selection: DeliverySelection, at now: Timestamp) async throws(JournalError) -> Int {
        try await run(DeliveryChange(.retry, selection, at: now), resuming: selection.wholeSink)
    }

    public func drop(_ selection: DeliverySelection, at now: Timestamp) async throws(JournalError) -> Int {
        try await run(DeliveryChange(.drop, selection, at: now))
    }

    public func clear(_ selection: DeliverySelection, at now: Timestamp) async throws(JournalError) -> Int {
        try await run(DeliveryChange(.clear, selection, at: now))
    }

    public func accept(source: String, at now: Timestamp) async throws(JournalError) {
        try await edit(at: now) { _ in ((), [.accept(source: source)]) }
    }

    public func poll(source: String, at now: Timestamp) async throws(JournalError) {
        try await edit(at: now) { _ in ((), [.poll(source: source)]) }
    }

    public func acknowledge(
        rule: String, _ subject: Subject, _ acknowledgement: Acknowledgement?, at now: Timestamp
    ) async throws(JournalError) {
        try await edit(at: now) { _ in ((), [.acknowledge(rule: rule, subject: subject, acknowledgement)]) }
    }

    /// Makes a change step by step, until it is done or its task is cancelled.
    /// - Parameter resumed: a sink that gets a request even when none of its deliveries changed.
    private func run(_ change: DeliveryChange, resuming resumed: String? = nil) async throws(JournalError) -> Int {
        var (change, count) = (change, 0)
        while !change.isDone {
            let (next, changed) = try await edit(at: change.now) { [change] edit in
                var step = change
                let sinks = try step.run(edit)
                let told = Set(sinks + [resumed].compactMap { $0 }).sorted()
                return ((step, sinks.count), told.map(step.action.request))
            }
            (change, count) = (next, count + changed)
            guard !change.isDone else { break }
            // SQLite gives a lock to whoever asks first, and a watcher asks every 100 ms at least.
            do { try await Task.sleep(for: .milliseconds(20)) } catch { break }
        }
        return count
    }
}
