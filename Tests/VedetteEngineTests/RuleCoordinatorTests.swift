// SPDX-License-Identifier: Apache-2.0

import Synchronization
import Testing
import VedetteCore
import VedetteTestSupport

@testable import VedetteEngine

@Suite("The coordinator of rules")
struct RuleCoordinatorTests {
    /// Takes ten milliseconds per match, so that each event is a piece of its own.
    private final class SlowPattern: Pattern {
        let clock: ManualClock
        private let state = Mutex<(count: Int, countAtUp: Int?, atFirst: (@Sendable () -> Void)?)>((0, nil, nil))

        init(_ clock: ManualClock) { self.clock = clock }

        var count: Int { state.withLock { $0.count } }
        /// How many matches were tried before the first item that is up.
        var countAtUp: Int? { state.withLock { $0.countAtUp } }
        func atFirst(_ call: @escaping @Sendable () -> Void) { state.withLock { $0.atFirst = call } }

        func matches(_ text: String) throws(PatternError) -> Bool {
            clock.advance(.milliseconds(10))
            let call = state.withLock { state in
                if text == "up", state.countAtUp == nil { state.countAtUp = state.count }
                state.count += 1
                defer { state.atFirst = nil }
                return state.atFirst
            }
            call?()
            return text == "down"
        }
    }

    private struct Bench {
        let journal = FakeJournal()
        let pattern: SlowPattern
        let rule: Rule
        let rules: RuleCoordinator
        let dependencies: Dependencies

        init(_ change: (inout Rule) -> Void = { _ in }) {
            let clock = ManualClock()
            pattern = SlowPattern(clock)
            dependencies = Dependencies(
                fetcher: FakeFetcher(), journal: journal, clock: clock, random: SeededRandom(), log: LogLines(),
                userAgent: "",
                civil: Greenwich())
            var slow = Rule(
                name: "slow", when: .item("state", .regex(pattern, text: "down")),
                notify: [Rule.NotificationTarget(sink: "k")])
            change(&slow)
            rule = slow
            rules = RuleCoordinator(
                RuleSet([slow]), dependencies, commits: CommitBatcher(journal: journal, log: dependencies.log))
        }

        /// Evaluates a poll in which `count` items appeared.
        @discardableResult
        func poll(_ name: String, _ count: Int, state: String = "down") async throws -> Committed? {
            let now = dependencies.clock.now()
            var transition = PollTransition(
                source: source(name), record: SourceRecord(name: name), now: now.wall, random: dependencies.random)
            for n in 0..<count {
                transition.add(DraftEvent(.appeared, item: Item(key: "\(n)", state: state)))
            }
            let note = PollFacts(id: "p", now: now, isGood: true, isFirst: false)
            return try await rules.commit(transition, note)
        }
    }

    private static let many = 3000

    @Test("a poll of another source is evaluated between two pieces of a big one, and committed before it")
    func pieces() async throws {
        let bench = Bench()
        let small = Mutex<Task<Committed?, any Error>?>(nil)
        bench.pattern.atFirst {
            let task = Task { try await bench.poll("small", 1, state: "up") }
            small.withLock { $0 = task }
        }
        let committed = try await bench.poll("big", Self.many)
        _ = try await small.withLock { $0 }?.value
        let count = try #require(bench.pattern.countAtUp)
        #expect(count < 100, "the rule's budget ends after a hundred matches; the small poll came before that")
        #expect(committed?.events.count == Self.many)
        #expect(await bench.journal.batches.first?.first == "small")
    }

    @Test("what other programs take of the processor uses up no budget of a rule")
    func busyMachine() async throws {
        let bench = Bench()
        bench.pattern.atFirst { bench.pattern.clock.wait(.seconds(3600)) }
        let committed = try await bench.poll("big", 50)
        #expect(committed?.deliveries.count == 50)
    }

    @Test("existing matches of a new rule are looked for in pieces: a poll of another source is evaluated in between")
    func existing() async throws {
        let bench = Bench { ($0.matchesExisting, $0.gates.pendingFor) = (true, .seconds(3600)) }
        let big = source("big")
        var record = PollRecord(record: SourceRecord(name: "big"))
        record.writes = (0..<Self.many).map { n in
            let item = Item(key: "\(n)", state: "down")
            return StoredItem(item, digest: item.digest, stateSince: Timestamp(milliseconds: 0))
        }
        _ = try await bench.journal.commit([record], within: .none)
        let small = Mutex<Task<Committed?, any Error>?>(nil)
        bench.pattern.atFirst {
            let task = Task { try await bench.poll("small", 1, state: "up") }
            small.withLock { $0 = task }
        }
        await bench.rules.reload(
            RuleSet([bench.rule]), watched: [big, source("small")], polled: [big])
        _ = try await small.withLock { $0 }?.value
        let count = try #require(bench.pattern.countAtUp)
        #expect(count < 100)
        let deliveries = await bench.journal.deliveries.values.map(\.delivery.message)
        #expect(deliveries.count == 1 && deliveries.first?.event.kind == .ruleFailed, "beyond its budget it has failed")
    }

    @Test("a poll that read what another one counted between two pieces fails with it")
    func failedBasis() async throws {
        let bench = Bench { $0.gates.limit = Limit(count: 10, per: .seconds(600), by: .rule) }
        await bench.journal.refuse { $0.record?.name == "small" }
        let small = Mutex<Task<Committed?, any Error>?>(nil)
        bench.pattern.atFirst {
            let task = Task { try await bench.poll("small", 1) }
            small.withLock { $0 = task }
        }
        await #expect(throws: JournalError.self) { try await bench.poll("big", 50) }
        await #expect(throws: JournalError.self) { try await small.withLock { $0 }?.value }
        _ = try await bench.poll("next", 1)
        let counted = await bench.journal.memories.values.map { $0.times.map(\.count) }
        #expect(counted == [[1]], "only what is stored was counted")
    }

    @Test("a poll that is cancelled ends between two pieces, and leaves nothing behind")
    func cancelled() async throws {
        let bench = Bench { $0.gates.limit = Limit(count: 10, per: .seconds(600), by: .rule) }
        let poll = Mutex<Task<Committed?, any Error>?>(nil)
        bench.pattern.atFirst { poll.withLock { $0?.cancel() } }
        let isReady = Mutex(false)
        let task = Task {
            try await until { isReady.withLock { $0 } }
            return try await bench.poll("big", Self.many)
        }
        poll.withLock { $0 = task }
        isReady.withLock { $0 = true }
        let committed = try await task.value
        #expect(committed.map(\.events.count) == nil)
        #expect(bench.pattern.count == 1)
        #expect(await bench.journal.batches.isEmpty)
        let next = try await bench.poll("big", 1)
        #expect(next?.deliveries.map(\.state) == [.pending], "the limit has not counted the poll that was cancelled")
        #expect(await bench.journal.memories.values.map { $0.times.map(\.count) } == [[1]])
    }
}
