// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import VedetteCore
import VedettePostgres
import VedetteTestSupport

@testable import VedetteJournal

/// The same random steps go to a journal and to `MemoryJournal`; both must give the same answers and hold the same state.
/// `VEDETTE_MODEL_STEPS` sets the number of steps, `VEDETTE_MODEL_SEED` the seed of the first run.
@Suite("A journal against its model", .timeLimit(.minutes(60)))
struct ModelTests {
    private static func number(_ name: String) -> Int? { ProcessInfo.processInfo.environment[name].flatMap(Int.init) }

    /// Seeds of runs that failed once, and others.
    private static let seeds: [UInt64] = [1, 2, 3, 4].map { UInt64(number("VEDETTE_MODEL_SEED") ?? 0) &+ $0 }

    @Test(
        "random polls, deliveries, crashes, cut logs, reloads, pruning and commands leave both in one state",
        arguments: seeds)
    func run(seed: UInt64) async throws {
        let steps = (Self.number("VEDETTE_MODEL_STEPS") ?? 2000) / Self.seeds.count
        try await run(Walk(seed: seed), steps, seed)
    }

    @Test(
        "random polls, deliveries, restarts, reloads, pruning and commands leave PostgreSQL in the model's state",
        arguments: seeds)
    func postgres(seed: UInt64) async throws {
        let steps = (Self.number("VEDETTE_MODEL_STEPS") ?? 800) / Self.seeds.count
        try await run(Walk(postgres: PostgresLab.shared.get().schema(), seed: seed), steps, seed)
    }

    private func run(_ walk: Walk, _ steps: Int, _ seed: UInt64) async throws {
        var walk = walk
        for step in 1...steps {
            do {
                let name = try await walk.step()
                if step % 20 == 0 || step == steps || Walk.rare.contains(name) { try await walk.compare(name) }
            } catch {
                Issue.record("seed \(seed), step \(step): \(error)")
                break
            }
        }
        try await walk.end()
    }
}

private struct Difference: Error, CustomStringConvertible {
    var description: String
}

private struct Walk {
    /// Steps after which the whole state is compared.
    static let rare: Set<String> = ["crash", "cut", "restart", "prune"]

    private static let sources = ["a", "b", "ü"]
    private static let sinks = ["chat", "mail", "hook"]

    private var random: SplitMix64
    private var scratch = Scratch()
    private var journal: Store.AnyJournal
    private var access: any JournalAccess
    /// Nil for SQLite.
    private var server: PostgresServer?
    private let memory = MemoryJournal()
    private var limits: EvictionLimits = .none
    private var lastID = 0
    private var now: Int64 = 0

    init(seed: UInt64) throws {
        random = SplitMix64(seed)
        (journal, access) = (try scratch.open(), scratch.access)
    }

    init(postgres server: PostgresServer, seed: UInt64) async throws {
        random = SplitMix64(seed)
        self.server = server
        (journal, access) = (try await PostgresJournal.open(server), PostgresJournalAccess(server))
    }

    func end() async throws { try await journal.close() }

    /// Does one step with both journals.
    mutating func step() async throws -> String {
        now += Int64.random(in: 1...50, using: &random)
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<30: return try await commit()
        case 30..<33: return try await refusedCommit()
        case 33..<38: return try await touch()
        case 38..<63: return try await deliver()
        case 63..<66: return reload()
        case 66..<70: return try await evict()
        case 70..<76: return try await changeDeliveries()
        case 76..<79: return try await silences()
        case 79..<82: return try await requests()
        case 82..<85: return try await cookies()
        case 85..<88: return try await prune()
        case 88..<92: return try await crash()
        case 92..<96: return try await cut()
        default: return try await restart()
        }
    }

    // MARK: Random values

    private mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &random) < percent }

    private mutating func pick<Value>(_ values: [Value]) -> Value {
        values[Int.random(in: 0..<values.count, using: &random)]
    }

    private mutating func id() -> Int {
        lastID += 1
        return lastID
    }

    private mutating func event(of source: String) -> Event {
        let kind: Event.Kind =
            chance(80) ? pick([.appeared, .changed, .disappeared]) : pick([.failing, .recovered, .digest])
        return VedetteJournalTests.event(
            id(), source: source, key: "\(Int.random(in: 0..<8, using: &random))", at: now, kind: kind)
    }

    private mutating func delivery(of event: Event) -> Delivery {
        var delivery = VedetteJournalTests.delivery(
            id(), of: event, sink: pick(Self.sinks), rule: pick(["r", "s"]), due: now)
        delivery.created = stamp(now)
        delivery.message.priority = pick(Priority.allCases)
        delivery.message.tags = chance(20) ? ["x", "y"] : []
        delivery.message.suppressed = chance(10) ? 3 : 0
        if chance(15) { (delivery.state, delivery.reason) = (.suppressed, "said before") }
        return delivery
    }

    private mutating func poll() -> PollRecord {
        let source = pick(Self.sources)
        var record = fullRecord()
        (record.name, record.due) = (source, stamp(now))
        record.health.lastPollAt = stamp(now)
        var poll = PollRecord(record: chance(90) ? record : nil, isNewBaseline: chance(8))
        if poll.record != nil {
            var keys = (0..<8).map(String.init).shuffled(using: &random)
            poll.deletions = Array(keys.prefix(Int.random(in: 0...2, using: &random)))
            keys.removeAll { poll.deletions.contains($0) }
            poll.writes = keys.prefix(Int.random(in: 0...4, using: &random)).map { key in
                var written = item(key, digest: random.next())
                if chance(20) { written.absentSince = stamp(now) }
                return written
            }
        }
        for _ in 0..<Int.random(in: 0...3, using: &random) { poll.events.append(event(of: source)) }
        for cause in poll.events where chance(70) {
            for _ in 0..<Int.random(in: 1...2, using: &random) { poll.deliveries.append(delivery(of: cause)) }
        }
        // About an event of no journal.
        if chance(20) {
            var made = event(of: source)
            made.kind = pick([.reminder, .resolved, made.kind])
            poll.deliveries.append(delivery(of: made))
        }
        for name in ["m", "n"] where chance(15) {
            let key = RuleMemory.Key(rule: pick(["r", "s"]), slot: pick([.tally, .once]), name: name)
            let memory = RuleMemory(key: key, identity: random.next(), since: stamp(now))
            poll.memories.updateValue(chance(70) ? memory : nil, forKey: key)
        }
        if chance(10) {
            let (sink, kind) = (pick(Self.sinks), pick([Event.Kind.paused, .disabled, .failing]))
            let stop = StoppedSink(
                sink: sink, kind: kind, reason: "\(kind)", since: stamp(now), fingerprint: random.next())
            poll.sinkChange = chance(60) ? .stopped(stop) : .resumed(sink)
        }
        return poll
    }

    // MARK: Steps of the engine

    private mutating func commit() async throws -> String {
        let polls = (0..<Int.random(in: 1...4, using: &random)).map { _ in poll() }
        let (result, expected) = (
            try await journal.commit(polls, within: limits), try memory.commit(polls, within: limits)
        )
        try same("events", result.polls.map(\.events), expected.polls.map(\.events))
        try same("deliveries", result.polls.map(\.deliveries), expected.polls.map(\.deliveries))
        try same("eviction", result.eviction, expected.eviction)
        return "commit"
    }

    /// The second poll has an id of the first: neither is written.
    private mutating func refusedCommit() async throws -> String {
        var polls = [poll(), poll()]
        let cause = polls[0].events.first ?? event(of: "a")
        polls[1].events += [cause, cause]
        let (refused, limits) = (polls, limits)
        for journal in [journal, memory] as [any Journal] {
            let error = await #expect(throws: JournalError.self) { try await journal.commit(refused, within: limits) }
            try same("refusal", error?.reason, .refused)
        }
        return "refused commit"
    }

    private mutating func touch() async throws -> String {
        var record = fullRecord()
        (record.name, record.due) = (pick(Self.sources), stamp(now + 5))
        let write = DeferredWrite(record, items: [item("1", digest: random.next())])
        try await journal.write(deferred: [write])
        try memory.write(deferred: [write])
        let report = PollLateness.Report(p99: pick([0.005, 0.1, 2.5]), polls: 9, at: stamp(now))
        let watcher = pick(["", "ü"])
        try await journal.store(report, of: watcher)
        memory.store(report, of: watcher)
        return "touch"
    }

    /// Attempts the first deliveries of a lane, and sometimes writes an outcome that comes late.
    private mutating func deliver() async throws -> String {
        let (lanes, expected) = (try await journal.pendingLanes(), memory.pendingLanes())
        try same("lanes", lanes, expected)
        guard !lanes.isEmpty else { return "deliver" }
        let lane = pick(lanes)
        let limit = Int.random(in: 1...6, using: &random)
        let pending = try await journal.pending(in: lane, after: 0, limit: limit)
        try same("pending", pending, memory.pending(in: lane, after: 0, limit: limit))
        if let last = pending.last {
            try same("sent", try await journal.sent(before: last, limit: 3), memory.sent(before: last, limit: 3))
            let (rule, sink, subject) = (last.message.rule, last.message.sink, last.message.subject)
            func stand(_ found: [DeliveryStatus]) -> [String] { found.map { "\($0.delivery.id) \($0.state)" } }
            try same(
                "messages",
                stand(try await journal.messages(of: rule, to: sink, about: subject, before: last.id, limit: 3)),
                stand(memory.messages(of: rule, to: sink, about: subject, before: last.id, limit: 3)))
        }
        var attempts: [Attempt] = []
        for delivery in pending {
            let state: DeliveryState = pick([.sent, .sent, .sent, .retry, .dead, .paused, .suppressed])
            var attempt = Attempt(
                delivery: delivery.id, state: state, attempts: delivery.attempts + 1, due: stamp(now + 9),
                at: stamp(now), reason: state == .sent ? nil : "\(state)")
            attempt.wasMade = state != .dead || chance(90)
            attempt.receiverID = state == .sent && delivery.id % 2 == 0 ? "r\(delivery.id)" : nil
            if state == .dead || state == .sent, chance(60) {
                attempt.successor = delivery.fallback(
                    among: ["mail", "hook"], where: { _ in true }, id: "msg_\(id())", at: stamp(now))
            }
            attempts.append(attempt)
        }
        let ended = memory.deliveries(DeliveryFilter(), after: 0, limit: .max).filter { !$0.state.isPending }
        if let late = ended.randomElement(using: &random)?.delivery.id {
            let state: DeliveryState = pick([.sent, .retry, .dead])
            attempts.append(
                Attempt(delivery: late, state: state, attempts: 2, due: stamp(now), at: stamp(now), reason: nil))
        }
        let (result, expectedResult) = (
            try await journal.record(attempts, within: limits), try memory.record(attempts, within: limits)
        )
        try same("successors", result.successors, expectedResult.successors)
        try same("eviction by successors", result.eviction, expectedResult.eviction)
        return "deliver"
    }

    /// Other bounds, as after a reload of the configuration.
    private mutating func reload() -> String {
        var bounds: [String: QueueBound] = [:]
        for sink in Self.sinks where chance(70) {
            let policy = pick(QueueBound.Policy.allCases)
            bounds[sink] =
                chance(80)
                ? bound(Int.random(in: 1...40, using: &random), policy) : bound(bytes: 3000, policy)
        }
        // Evicted messages of one sink are passed on; the id says of which, so both journals make the same.
        limits = VedetteJournalTests.limits(bounds) { delivery in
            guard delivery.message.sink == "chat" else { return nil }
            return delivery.fallback(
                among: ["mail", "hook"], where: { _ in true },
                id: "msg_e\(delivery.id)-\(delivery.created.milliseconds)",
                at: delivery.created)
        }
        limits.textSinks = Set(Self.sinks.filter { _ in chance(50) })
        return "reload"
    }

    private mutating func evict() async throws -> String {
        var limits = limits
        if chance(40) { limits.oldest = [pick(Self.sinks): stamp(now - 2000)] }
        if chance(20) {
            limits.diverted = [pick(Self.sinks): Set((0..<20).map { _ in Int64.random(in: 1...500, using: &random) })]
        }
        try same("check", try await journal.evict(limits), try memory.evict(limits))
        return "evict"
    }

    private mutating func prune() async throws -> String {
        var retention = Retention(
            eventsBefore: stamp(now - Int64.random(in: 0...8000, using: &random)),
            sources: Set(Self.sources.filter { _ in chance(80) }), sinks: Set(Self.sinks.filter { _ in chance(80) }),
            sourcesBefore: stamp(now - 3000))
        retention.endedDeliveries = pick([20, 200, 500_000])
        try await journal.prune(retention)
        memory.prune(retention)
        return "prune"
    }

    // MARK: Steps of commands

    private mutating func changeDeliveries() async throws -> String {
        let selection: DeliverySelection
        if chance(50) {
            selection = .ids((0..<4).map { _ in Int64.random(in: 1...Int64(max(lastID, 1)), using: &random) }.uniqued())
        } else {
            var filter = DeliveryFilter(.unsent, sink: chance(50) ? pick(Self.sinks) : nil)
            if chance(30) { filter.rule = "r" }
            if chance(30) { filter.before = stamp(now - 500) }
            selection = .all(filter)
        }
        let (count, expected): (Int, Int)
        if chance(50) {
            (count, expected) = (
                try await access.retry(selection, at: stamp(now)), memory.retry(selection, at: stamp(now))
            )
        } else if chance(30) {
            (count, expected) = (
                try await access.clear(selection, at: stamp(now)), memory.clear(selection, at: stamp(now))
            )
        } else {
            (count, expected) = (
                try await access.drop(selection, at: stamp(now)), memory.drop(selection, at: stamp(now))
            )
        }
        try same("changed \(selection)", count, expected)
        return "change deliveries"
    }

    private mutating func silences() async throws -> String {
        var silence = Silence(rule: chance(50) ? "r" : nil, source: pick(Self.sources), created: stamp(now))
        if chance(60) { silence.until = stamp(now + 400) }
        try same("silence", try await access.add(silence), memory.add(silence))
        let ids = [Int64.random(in: 1...20, using: &random)]
        if chance(50) {
            try same(
                "ended silences", try await access.endSilences(ids, at: stamp(now)),
                memory.endSilences(ids, at: stamp(now)))
        } else {
            var poll = PollRecord(record: nil)
            poll.endedSilences = ids
            _ = try await journal.commit([poll], within: .none)
            _ = try memory.commit([poll], within: .none)
        }
        return "silences"
    }

    private mutating func requests() async throws -> String {
        if chance(40) {
            try await access.accept(source: "a", at: stamp(now))
            memory.accept(source: "a", at: stamp(now))
        }
        let queued = try await journal.controlRequests()
        // A step of many deliveries writes one request for each sink and transaction in both.
        try same("requests", queued.map(\.request), memory.controlRequests().map(\.request))
        for (request, expected) in zip(queued, memory.controlRequests()) where chance(70) {
            try await journal.finish(request)
            memory.finish(expected)
        }
        return "requests"
    }

    private mutating func cookies() async throws -> String {
        let session = pick(Self.sources)
        let jar = chance(70) ? Array("[\(random.next())]".utf8) : []
        await journal.keep(jar, of: session)
        memory.keep(jar, of: session)
        if chance(20) {
            try await journal.forgetCookies(keeping: ["a"])
            memory.forgetCookies(keeping: ["a"])
        }
        return "cookies"
    }

    // MARK: Crashes and restarts

    /// What a kill -9 leaves: the files as they are at this instant.
    private mutating func crash() async throws -> String {
        guard let sqlite = journal as? SQLiteJournal else { return try await restart() }
        let copy = Scratch()
        try FileManager.default.copyItem(atPath: scratch.path, toPath: copy.path)
        try sqlite.close()
        try reopen(copy)
        return "crash"
    }

    /// A crash in the middle of a commit: a part of its bytes is in the log. Nothing of the commit is left.
    private mutating func cut() async throws -> String {
        guard let sqlite = journal as? SQLiteJournal else { return try await commit() }
        // The log begins anew, so that the commit is written after what is there.
        let log = URL(fileURLWithPath: scratch.database + "-wal")
        func length() throws -> Int { try Data(contentsOf: log).count }
        // The log stays while a reader is active, and one of the step before may be about to end.
        for _ in 0..<1000 where try length() > 0 { await sqlite.store.checkpoint() }
        let polls = [poll(), poll()]
        let before = try length()
        _ = try await sqlite.commit(polls, within: limits)
        let after = try length()
        guard after > before else { throw Difference(description: "the log did not grow: \(before), \(after)") }
        let copy = Scratch()
        try FileManager.default.copyItem(atPath: scratch.path, toPath: copy.path)
        try sqlite.close()
        let cut = Int.random(in: before..<after, using: &random)
        let bytes = try Data(contentsOf: URL(fileURLWithPath: copy.database + "-wal"))
        try bytes.prefix(cut).write(to: URL(fileURLWithPath: copy.database + "-wal"))
        try reopen(copy)
        return "cut"
    }

    private mutating func reopen(_ files: Scratch) throws {
        scratch = files
        (journal, access) = (try files.open(), files.access)
    }

    private mutating func restart() async throws -> String {
        try await journal.close()
        if let server { journal = try await PostgresJournal.open(server) } else { journal = try scratch.open() }
        return "restart"
    }

    // MARK: Comparison

    private func same<Value: Equatable>(_ what: String, _ value: Value, _ expected: Value) throws {
        guard value != expected else { return }
        let (found, wanted) = (String(describing: value), String(describing: expected))
        let common = zip(found, wanted).prefix { $0 == $1 }.count
        throw Difference(
            description: "\(what): …\(found.dropFirst(max(0, common - 40)).prefix(200)) instead of "
                + "…\(wanted.dropFirst(max(0, common - 40)).prefix(200))")
    }

    /// Compares everything that the ports tell.
    func compare(_ step: String) async throws {
        let reader = try await access.reader()
        func check<Value: Equatable>(_ what: String, _ value: Value, _ expected: Value) throws {
            try same("\(what) after \(step)", value, expected)
        }
        try check("source records", try await reader.sourceRecords(), memory.sourceRecords())
        try check("stopped sinks", try await reader.stoppedSinks(), memory.stoppedSinks())
        try check("lateness", try await reader.lateness(), memory.lateness())
        for source in Self.sources {
            let items = try await journal.items(of: source).values.sorted { $0.key < $1.key }
            try check("items of \(source)", items, memory.items(of: source).values.sorted { $0.key < $1.key })
        }
        try check("last seq", try await reader.lastSeq(), memory.lastSeq())
        let all = Int.max / 2
        try check("events", try await reader.events(limit: all), memory.events(after: 0, EventFilter(), limit: all))
        let deliveries = try await reader.deliveries(limit: all)
        try check(
            "deliveries", deliveries.settled, memory.deliveries(DeliveryFilter(), after: 0, limit: all).settled)
        let unsent = DeliveryFilter(.unsent, rule: "r")
        try check(
            "unsent", try await reader.deliveries(unsent, limit: all).settled,
            memory.deliveries(unsent, after: 0, limit: all).settled)
        for id in deliveries.suffix(30).map(\.delivery.id) {
            try check("attempts of \(id)", try await reader.attempts(of: id), memory.attempts(of: id))
        }
        try check("counts", try await reader.sinkCounts(), memory.sinkCounts())
        let start = stamp(now - 1000)
        try check(
            "activity", try await reader.activity(of: Self.sinks, since: start),
            memory.activity(of: Self.sinks, since: start))
        for rule in Set(deliveries.map(\.delivery.message.rule)) {
            try check("count of \(rule)", try await reader.ruleCount(of: rule), memory.ruleCount(of: rule))
        }
        try check("memories", try await reader.ruleMemories(), memory.ruleMemories())
        try check("silences", try await reader.silences(), memory.silences())
        for session in Self.sources {
            try check("cookies", await journal.cookies(of: session), memory.cookies(of: session))
        }
        try check("damages", try await reader.damages(), [])
    }
}

extension [DeliveryStatus] {
    /// With the present state also where a delivery has the state of its commit.
    fileprivate var settled: [DeliveryStatus] {
        map { status in
            var status = status
            status.delivery.state = status.state
            return status
        }
    }
}

extension [Int64] {
    fileprivate func uniqued() -> [Int64] { Array(Set(self)).sorted() }
}
