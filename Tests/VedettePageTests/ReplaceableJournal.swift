// SPDX-License-Identifier: Apache-2.0

import Synchronization
import VedetteCore

/// A journal in whose place a test puts another one: as a file that is replaced, whose readers see the old one, or as a
/// database that is restored, whose readers see the new one.
final class ReplaceableJournal: JournalAccess {
    /// What became of the readers and the watch.
    struct Use {
        var reads = 0
        /// The seqs after which events were read that pass a filter.
        var filtered: [Int64] = []
        /// How often all items of a source were read.
        var wholeReads = 0
        var opened = 0
        var open = 0
    }

    private struct State {
        var journal = MemoryJournal()
        var use = Use()
        var watches: [AsyncStream<Void>.Continuation] = []
        var isFull = false
    }

    private let state = Mutex(State())
    private let isFile: Bool

    init(isFile: Bool = true) { self.isFile = isFile }

    var use: Use { state.withLock { $0.use } }
    fileprivate var journal: MemoryJournal { state.withLock { $0.journal } }

    func replace() {
        state.withLock { $0.journal = MemoryJournal() }
        wake()
    }

    /// Lets every silence fail, or none.
    func fill(_ isFull: Bool) { state.withLock { $0.isFull = isFull } }

    func commit(_ events: [Event]) throws {
        _ = try journal.commit([PollRecord(record: nil, events: events)], within: .none)
        wake()
    }

    private func wake() { for watch in state.withLock({ $0.watches }) { watch.yield() } }

    fileprivate func count(_ change: @Sendable (inout Use) -> Void) { state.withLock { change(&$0.use) } }

    var location: String { "memory" }
    func watcher() -> WatcherProcess? { nil }
    func reader() -> any JournalReader { Reader(self, isFile ? journal : nil) }

    func changes() -> AsyncStream<Void> {
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        state.withLock { $0.watches.append(continuation) }
        return stream
    }

    func add(_ silence: Silence) throws(JournalError) -> Int64 {
        guard !state.withLock({ $0.isFull }) else { throw JournalError(.full, "the disk is full") }
        return journal.add(silence)
    }
    func endSilences(_ ids: [Int64], at now: Timestamp) -> Int { journal.endSilences(ids, at: now) }
    func retry(_ selection: DeliverySelection, at now: Timestamp) -> Int { journal.retry(selection, at: now) }
    func drop(_ selection: DeliverySelection, at now: Timestamp) -> Int { journal.drop(selection, at: now) }
    func clear(_ selection: DeliverySelection, at now: Timestamp) -> Int { journal.clear(selection, at: now) }
    func repair(at now: Timestamp) throws(JournalError) -> RepairReport? { try journal.repair(at: now) }
    func acknowledge(rule: String, _ subject: Subject, _ acknowledgement: Acknowledgement?, at now: Timestamp) {
        journal.acknowledge(rule: rule, subject, acknowledgement, at: now)
    }
    func accept(source: String, at now: Timestamp) { journal.accept(source: source, at: now) }
    func poll(source: String, at now: Timestamp) { journal.poll(source: source, at: now) }

    private final class Reader: JournalReader {
        private let place: ReplaceableJournal
        /// Nil for that which is in the place now.
        private let old: MemoryJournal?

        init(_ place: ReplaceableJournal, _ old: MemoryJournal?) {
            (self.place, self.old) = (place, old)
            place.count { ($0.opened, $0.open) = ($0.opened + 1, $0.open + 1) }
        }

        deinit { place.count { $0.open -= 1 } }

        private var journal: MemoryJournal { old ?? place.journal }

        var isCurrent: Bool { old.map { $0 === place.journal } ?? true }

        func events(after seq: Int64, _ filter: EventFilter, limit: Int) -> [Event] {
            place.count {
                $0.reads += 1
                if filter != EventFilter() { $0.filtered.append(seq) }
            }
            return journal.events(after: seq, filter, limit: limit)
        }
        func seq(before count: Int, _ filter: EventFilter) -> Int64 { journal.seq(before: count, filter) }
        func deliveryStates(of events: [Int64]) -> [Int64: Set<DeliveryState>] { journal.deliveryStates(of: events) }
        func lastEvents(_ count: Int, _ filter: EventFilter) -> [Event] { journal.lastEvents(count, filter) }
        func events(matching text: String) -> [Event] { journal.events(matching: text) }
        func deliveries(ofMessage text: String) -> [DeliveryStatus] { journal.deliveries(ofMessage: text) }
        func history(source: String, key: String, limit: Int) -> [Event] {
            journal.history(source: source, key: key, limit: limit)
        }
        func deliveries(_ filter: DeliveryFilter, after: Int64, limit: Int) -> [DeliveryStatus] {
            journal.deliveries(filter, after: after, limit: limit)
        }
        func attempts(of delivery: Int64) -> [Attempt] { journal.attempts(of: delivery) }
        func sourceRecords() -> [SourceRecord] { journal.sourceRecords() }
        func sourceRecord(of source: String) -> SourceRecord? { journal.sourceRecord(of: source) }
        func items(of source: String) -> [String: StoredItem] {
            place.count { $0.wholeReads += 1 }
            return journal.items(of: source)
        }
        func items(of source: String, withKeys keys: Set<String>) async throws(JournalError) -> [String: StoredItem] {
            journal.items(of: source).filter { keys.contains($0.key) }
        }
        func items(of source: String, from offset: Int, limit: Int) -> [StoredItem] {
            journal.items(of: source, from: offset, limit: limit)
        }
        func stoppedSinks() -> [StoppedSink] { journal.stoppedSinks() }
        func lateness() -> [String: PollLateness.Report] { journal.lateness() }
        func sinkCounts() -> [SinkCount] { journal.sinkCounts() }
        func activity(of sinks: [String], since start: Timestamp) -> [SinkActivity] {
            journal.activity(of: sinks, since: start)
        }
        func ruleCount(of rule: String) -> RuleCount { journal.ruleCount(of: rule) }
        func ruleMemories() -> [RuleMemory] { journal.ruleMemories() }
        func silences() -> [Silence] { journal.silences() }
        func lastSeq() -> Int64 { journal.lastSeq() }
        func damages() -> [String] { [] }
    }
}
