// SPDX-License-Identifier: Apache-2.0

import Synchronization
import VedetteCore

@testable import VedetteEngine

/// A journal in memory that several watchers share, with the refusals and the numbers of changes of one on PostgreSQL.
final class SharedMemory: Sendable {
    struct Change {
        var version: Int64
        var writer: Int64
    }

    fileprivate struct State {
        var version: Int64 = 0
        var memories: [RuleMemory.Key: Change] = [:]
        var sources: [String: Change] = [:]
        var leases: [Lease: Int64] = [:]
        var watchers: [RegisteredWatcher] = []
        var conflicts = 0
        var refusesDeferred = false
        var refusesChanges = false
        var refusesItems = false
        /// By writer, up to which version it knows what others changed.
        var known: [Int64: Int64] = [:]
        var holdsPages = false
        var pages: [CheckedContinuation<Void, Never>] = []
        /// By writer, from when its leases last; nil once they are lost. The leases of a writer that is not here last for ever.
        var leasedFrom: [Int64: BootTime?] = [:]
        var whenRead: (@Sendable () -> Void)?
        var whenConfigured: (@Sendable () async -> Void)?
    }

    let memory = MemoryJournal()
    fileprivate let state = Mutex(State())

    var conflicts: Int { state.withLock { $0.conflicts } }
    var leases: [Lease: Int64] { state.withLock { $0.leases } }
    var version: Int64 { state.withLock { $0.version } }
    func known(by writer: Int64) -> Int64? { state.withLock { $0.known[writer] } }

    func refuseDeferred(_ refuses: Bool) { state.withLock { $0.refusesDeferred = refuses } }
    /// Lets nobody read what rules changed.
    func refuseChanges(_ refuses: Bool) { state.withLock { $0.refusesChanges = refuses } }
    func refuseItems(_ refuses: Bool) { state.withLock { $0.refusesItems = refuses } }

    /// Holds pages of deliveries after they were read.
    func holdPages() { state.withLock { $0.holdsPages = true } }
    var heldPages: Int { state.withLock { $0.pages.count } }
    /// Lets the page pass that was read first; the next one is held again.
    func letPagePass() { state.withLock { $0.pages.removeFirst() }.resume() }
    func releasePages() {
        let pages = state.withLock { state in
            defer { (state.holdsPages, state.pages) = (false, []) }
            return state.pages
        }
        for page in pages { page.resume() }
    }

    fileprivate func holdPage() async {
        await withCheckedContinuation { continuation in
            let isHeld = state.withLock { state in
                if state.holdsPages { state.pages.append(continuation) }
                return state.holdsPages
            }
            if !isHeld { continuation.resume() }
        }
    }

    /// Registers a watcher.
    func join(_ name: String, configuration: String = "c") -> SharedPart {
        let number = state.withLock { state in
            let number = Int64(state.watchers.count + 1)
            state.watchers.append(
                RegisteredWatcher(
                    number: number, name: name, process: WatcherProcess(pid: 1), started: Timestamp(milliseconds: 0),
                    configuration: configuration, configured: number, left: .seconds(15)))
            return number
        }
        return SharedPart(journal: self, writer: number, name: name)
    }

    /// Makes a registration late, as a journal that answers nobody does.
    func expire(_ writer: Int64) {
        state.withLock { state in
            for i in state.watchers.indices where state.watchers[i].number == writer {
                state.watchers[i].left = .seconds(-1)
            }
        }
    }

    /// Renews a registration; nil where the watcher learns that others have taken over.
    func renew(_ writer: Int64, at time: BootTime?) {
        state.withLock { _ = $0.leasedFrom.updateValue(time, forKey: writer) }
    }

    /// Calls this when messages are read the next time.
    func whenRead(_ call: @escaping @Sendable () -> Void) { state.withLock { $0.whenRead = call } }

    /// Calls this while a configuration is registered the next time.
    func whenConfigured(_ call: @escaping @Sendable () async -> Void) { state.withLock { $0.whenConfigured = call } }

    /// Ends a registration with its leases.
    func end(_ writer: Int64) {
        state.withLock { state in
            state.watchers.removeAll { $0.number == writer }
            state.leases = state.leases.filter { $0.value != writer }
        }
    }
}

/// One watcher's part of it.
struct SharedPart: Journal, JournalShares {
    let journal: SharedMemory
    let writer: Int64
    var name = ""

    var shares: (any JournalShares)? { self }

    var leasedFrom: BootTime? {
        journal.state.withLock { $0.leasedFrom[writer, default: BootTime(milliseconds: .max)] }
    }

    func sourceRecords() -> [SourceRecord] { journal.memory.sourceRecords() }
    func stoppedSinks() -> [StoppedSink] { journal.memory.stoppedSinks() }
    func lateness() -> [String: PollLateness.Report] { journal.memory.lateness() }
    func items(of source: String) throws(JournalError) -> [String: StoredItem] {
        if journal.state.withLock({ $0.refusesItems }) { throw JournalError(.unavailable, "the server is away") }
        return journal.memory.items(of: source)
    }
    func lastOfWatcher(_ kind: Event.Kind, or other: Event.Kind) -> Event? {
        journal.memory.lastOfWatcher(kind, or: other)
    }
    func ruleMemories() -> [RuleMemory] { journal.memory.ruleMemories() }
    func silences() -> [Silence] { journal.memory.silences() }
    func write(deferred writes: [DeferredWrite]) throws(JournalError) {
        if journal.state.withLock({ $0.refusesDeferred }) { throw JournalError(.unavailable, "the server is away") }
        try journal.memory.write(deferred: writes)
    }
    func pendingLanes() -> [DeliveryLane] { journal.memory.pendingLanes() }
    func pending(in lane: DeliveryLane, after: Int64, limit: Int) async -> [Delivery] {
        let page = journal.memory.pending(in: lane, after: after, limit: limit)
        await journal.holdPage()
        return page
    }
    func sent(before delivery: Delivery, limit: Int) -> [Delivery] {
        journal.memory.sent(before: delivery, limit: limit)
    }
    func messages(
        of rule: String, to sink: String, about subject: String, before: Int64, limit: Int
    ) -> [DeliveryStatus] {
        let call = journal.state.withLock { $0.whenRead.take() }
        call?()
        return journal.memory.messages(of: rule, to: sink, about: subject, before: before, limit: limit)
    }
    func record(_ attempts: [Attempt], within limits: EvictionLimits) throws(JournalError) -> RecordResult {
        try journal.memory.record(attempts, within: limits)
    }
    func excludeFromAge(_ pause: Duration) {}
    func evict(_ limits: EvictionLimits) throws(JournalError) -> QueueCheck { try journal.memory.evict(limits) }

    func commit(_ polls: [PollRecord], within limits: EvictionLimits) throws(JournalError) -> CommitResult {
        try journal.state.withLock { state throws(JournalError) in
            for poll in polls {
                let leases = [poll.record.map { Lease.source($0.name) }, poll.sinkChange.map { Lease.sink($0.sink) }]
                for case let lease? in leases where state.leases[lease] != writer {
                    throw JournalError(
                        .conflict, "another watcher holds the \(lease.kind.rawValue) '\(lease.name)' now")
                }
            }
            if polls.contains(where: { isOutdated($0, state) }) {
                state.conflicts += 1
                throw JournalError(.conflict, "another watcher has changed what rules remember meanwhile")
            }
            let result = try journal.memory.commit(polls, within: limits)
            state.version += 1
            let change = SharedMemory.Change(version: state.version, writer: writer)
            for poll in polls {
                for key in poll.memories.keys { state.memories[key] = change }
                if let name = poll.record?.name, poll.changesSource {
                    state.sources[name] = change
                }
            }
            return result
        }
    }

    private func isOutdated(_ poll: PollRecord, _ state: SharedMemory.State) -> Bool {
        guard let basis = poll.basis else { return false }
        func isForeign(_ change: SharedMemory.Change) -> Bool {
            change.version > basis.version && change.writer != basis.writer
        }
        return state.memories.contains { key, change in
            isForeign(change)
                && (key.slot.isShared && basis.rules.contains(key.rule) || poll.memories.keys.contains(key))
        } || state.sources.contains { isForeign($0.value) && basis.sources.contains($0.key) }
    }

    func watchers() -> [RegisteredWatcher] { journal.state.withLock { $0.watchers } }

    func configure(_ digest: String) async {
        await journal.state.withLock { $0.whenConfigured.take() }?()
        journal.state.withLock { state in
            let newest = state.watchers.map(\.configured).max() ?? 0
            for i in state.watchers.indices where state.watchers[i].number == writer {
                (state.watchers[i].configuration, state.watchers[i].configured) = (digest, newest + 1)
            }
        }
    }

    func take(_ leases: Set<Lease>) -> Set<Lease> {
        journal.state.withLock { state in
            for lease in leases where state.leases[lease] == nil { state.leases[lease] = writer }
            return leases.filter { state.leases[$0] == writer }
        }
    }

    func release(_ leases: Set<Lease>) {
        journal.state.withLock { state in
            for lease in leases where state.leases[lease] == writer { state.leases[lease] = nil }
        }
    }

    func ended(among deliveries: [Int64]) -> Set<Int64> {
        let all = journal.memory.deliveries(DeliveryFilter(), after: 0, limit: .max)
        return Set(deliveries).subtracting(all.filter(\.state.isPending).map(\.delivery.id))
    }

    func ruleChanges(after version: Int64?) throws(JournalError) -> RuleChanges {
        try journal.state.withLock { state throws(JournalError) in
            if state.refusesChanges { throw JournalError(.unavailable, "the server is away") }
            let stored = Dictionary(uniqueKeysWithValues: ruleMemories().map { ($0.key, $0) })
            var changes = RuleChanges(version: state.version, memories: [:], records: [], silences: silences())
            guard let version else {
                changes.memories = stored.mapValues { .some($0) }
                return changes
            }
            for (key, change) in state.memories where change.version > version && change.writer != writer {
                changes.memories[key] = .some(stored[key])
            }
            changes.records = sourceRecords().filter { record in
                state.sources[record.name].map { $0.version > version && $0.writer != writer } ?? false
            }
            return changes
        }
    }

    func know(version: Int64) { journal.state.withLock { $0.known[writer] = version } }

    func shareWakes() -> AsyncStream<Void> { journal.memory.changes() }
}
