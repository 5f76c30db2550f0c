// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Synchronization
import Testing
import VedetteCore
import VedetteTestSupport

/// A thread for the shells, as the fetcher's is in the product.
final class QueueExecutor: SerialExecutor {
    private let queue = DispatchQueue(label: "engine tests")

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
    }
}

/// A clock that stands still until it is advanced.
final class ManualClock: Clock {
    private struct State {
        var suspended = Duration.zero
        /// How long other programs had the processor.
        var elsewhere = Duration.zero
        /// How far the wall clock was set.
        var shift = Duration.zero
    }
    private static let epoch = Timestamp(milliseconds: 1_795_226_400_000)
    private let time = ManualTime(BootTime(milliseconds: 1_000_000))
    private let state = Mutex(State())

    func now() -> Moment {
        let (boot, shift) = (time.now, state.withLock { $0.shift })
        return Moment(wall: Self.epoch.advanced(by: .milliseconds(boot.milliseconds) + shift), boot: boot)
    }

    /// How long until somebody wakes.
    var untilNext: Duration? { time.untilNext }

    func setWall(by duration: Duration) { state.withLock { $0.shift += duration } }

    var suspended: Duration { state.withLock { $0.suspended } }

    var processorTime: Duration { .milliseconds(time.now.milliseconds) - state.withLock { $0.elsewhere } }

    /// Gives the processor to other programs for that long.
    func wait(_ duration: Duration) {
        state.withLock { $0.elsewhere += duration }
        advance(duration)
    }

    /// Suspends the machine for that long.
    func suspend(_ duration: Duration) {
        state.withLock { $0.suspended += duration }
        advance(duration)
    }

    /// How often anybody went to sleep.
    var sleeps: Int { time.sleeps }

    var sleepers: Int { time.sleepers }

    func sleep(until deadline: BootTime) async throws(CancellationError) { try await time.sleep(until: deadline) }

    func advance(_ duration: Duration) { time.advance(duration) }
}

/// Serves bodies by URL; refuses a second fetch of a URL that is still being fetched.
final class FakeFetcher: Fetcher {
    private struct State {
        var answers: [String: @Sendable (Request) -> Result<Response, FetchError>] = [:]
        var hanging = Set<String>()
        var waiting: [String: CheckedContinuation<Void, Never>] = [:]
        var running = Set<String>()
        var requests: [Request] = []
        var caller: Caller?
    }
    private let state = Mutex(State())

    var requests: [Request] { state.withLock { $0.requests } }
    var waiting: Int { state.withLock { $0.waiting.count } }
    func count(_ url: String) -> Int { requests.count { $0.url == url } }

    func serve(
        _ url: String, _ body: String, status: Int = 200, _ headers: [(String, String)] = [], isPublic: Bool = false
    ) {
        let response = FakeFetcher.response(url, body, status: status, headers, isPublic: isPublic)
        state.withLock { $0.answers[url] = { _ in .success(response) } }
    }

    /// Answers by what is asked.
    func answer(_ url: String, _ answer: @escaping @Sendable (Request) -> Result<Response, FetchError>) {
        state.withLock { $0.answers[url] = answer }
    }

    static func response(
        _ url: String, _ body: String, status: Int = 200, _ headers: [(String, String)] = [], isPublic: Bool = false
    ) -> Response {
        let bytes = Array(body.utf8)
        var response = Response(
            status: status, headers: ResponseHeaders(headers), body: bytes, digest: StableHash.of(bytes), url: url,
            received: bytes.count)
        response.isFromPrivate = !isPublic
        return response
    }

    func fail(_ url: String, _ error: FetchError) { state.withLock { $0.answers[url] = { _ in .failure(error) } } }
    func hang(_ url: String) { state.withLock { _ = $0.hanging.insert(url) } }

    func release(_ url: String) {
        let continuation = state.withLock { state in
            state.hanging.remove(url)
            return state.waiting.removeValue(forKey: url)
        }
        continuation?.resume()
    }

    /// Whether a request of that URL is being held.
    func isHeld(_ url: String) -> Bool { state.withLock { $0.waiting[url] != nil } }

    /// Lets the request that is held pass; the next one is held again.
    func letPass(_ url: String) { state.withLock { $0.waiting.removeValue(forKey: url) }?.resume() }

    /// The executor on which it calls back, as the watcher's does.
    func callBack(on executor: any SerialExecutor) { state.withLock { $0.caller = Caller(executor) } }

    func start(
        _ request: Request, ended: @escaping @Sendable (Result<Response, FetchError>) -> Void
    ) -> any FetchHandle {
        let caller = state.withLock { $0.caller }
        return RunningAnswer(
            task: Task {
                let held = HeldAnswer(await Result(of: { () throws(FetchError) in try await answer(to: request) }))
                if let caller { await caller.call(ended, held) } else { ended(held.take()) }
            })
    }

    private func answer(to request: Request) async throws(FetchError) -> Response {
        let url = request.url
        let isFirst = state.withLock { state in
            state.requests.append(request)
            return state.running.insert(url).inserted
        }
        #expect(isFirst, "\(url) is fetched twice at once")
        await hold(url)
        let answer = state.withLock { state in
            state.running.remove(url)
            return state.answers[url]
        }
        if Task.isCancelled { throw FetchError(.cancelled, "cancelled") }
        guard var response = try answer?(request).get() else {
            throw FetchError(.refused, "nothing is served at \(url)")
        }
        let isConfirmed = response.status == 304 && !request.validators.isEmpty
        if isConfirmed || (response.status == 200 && response.digest == request.knownDigest) {
            (response.body, response.isUnchanged) = ([], true)
        }
        return response
    }

    private func hold(_ url: String) async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isHeld = state.withLock { state in
                    guard state.hanging.contains(url), !Task.isCancelled else { return false }
                    state.waiting[url] = continuation
                    return true
                }
                if !isHeld { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.waiting.removeValue(forKey: url) }?.resume()
        }
    }
}

/// Calls back on the watcher's executor, as the HTTP client does.
actor Caller {
    private let executor: any SerialExecutor

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    init(_ executor: any SerialExecutor) { self.executor = executor }

    func call(_ ended: @Sendable (Result<Response, FetchError>) -> Void, _ answer: HeldAnswer) {
        ended(answer.take())
    }
}

/// An answer on its way to the caller's thread, where it is taken out, so that a body has one holder.
final class HeldAnswer: Sendable {
    private let result: Mutex<Result<Response, FetchError>?>

    init(_ result: Result<Response, FetchError>) { self.result = Mutex(result) }

    func take() -> Result<Response, FetchError> {
        result.withLock { $0.take() } ?? .failure(FetchError(.cancelled, "taken twice"))
    }
}

struct RunningAnswer: FetchHandle {
    let task: Task<Void, Never>

    func cancel() { task.cancel() }
}

/// A journal in memory that fails and waits where a test asks for it; it refuses what no journal may be asked for.
actor FakeJournal: Journal {
    private let memory = MemoryJournal()
    /// Whether it shows no message that has ended, as after its retention.
    private var hasForgotten = false
    private(set) var batches: [[String]] = []
    private(set) var deferred: [[String]] = []
    private(set) var failsCommits = false
    private var refusal: (@Sendable (PollRecord) -> Bool)?
    private var refusalReason = JournalError.Reason.refused
    private(set) var refusals = 0
    private var failsDeferred = false
    private var failsRecording = false
    private var failsLanes = false
    private var failsSilences = false
    private var isHeld = false
    private var holdsDeferred = false
    private var holders: [CheckedContinuation<Void, Never>] = []
    private var heldSource: String?
    private var reader: CheckedContinuation<Void, Never>?
    private var committing = Set<String>()

    func fail(commits: Bool = false, deferred: Bool = false, recording: Bool = false, lanes: Bool = false) {
        (failsCommits, failsDeferred, failsRecording, failsLanes) = (commits, deferred, recording, lanes)
    }
    /// Refuses the records for which this returns true, as for a row that no index takes.
    func refuse(as reason: JournalError.Reason = .refused, _ refusal: (@Sendable (PollRecord) -> Bool)?) {
        (self.refusal, refusalReason) = (refusal, reason)
    }
    func hold(deferred: Bool = false) { (isHeld, holdsDeferred) = (true, deferred) }
    func release() {
        (isHeld, holdsDeferred) = (false, false)
        for holder in holders { holder.resume() }
        holders = []
    }

    var held: Int { holders.count }

    /// Lets the write that is held pass; the next one is held again.
    func letPass() { holders.removeFirst().resume() }

    /// Holds the next reader of that source's items after they are read.
    func holdReader(of source: String) { heldSource = source }
    var isReaderHeld: Bool { reader != nil }
    func releaseReader() {
        reader?.resume()
        reader = nil
    }

    var records: [String: SourceRecord] {
        Dictionary(uniqueKeysWithValues: sourceRecords().map { ($0.name, $0) })
    }
    var stopped: [String: StoppedSink] { Dictionary(uniqueKeysWithValues: stoppedSinks().map { ($0.sink, $0) }) }
    var events: [Event] { memory.events(after: 0, EventFilter(), limit: .max) }
    var memories: [RuleMemory.Key: RuleMemory] {
        Dictionary(uniqueKeysWithValues: ruleMemories().map { ($0.key, $0) })
    }
    var deliveries: [Int64: DeliveryStatus] {
        let all = memory.deliveries(DeliveryFilter(), after: 0, limit: .max)
        return Dictionary(uniqueKeysWithValues: all.map { ($0.delivery.id, $0) })
    }

    private func status(_ id: Int64) -> DeliveryStatus? {
        memory.deliveries(DeliveryFilter(), after: id - 1, limit: 1).first { $0.delivery.id == id }
    }
    func state(_ id: Int64) -> DeliveryState? { status(id)?.state }
    func reason(_ id: Int64) -> String? { status(id)?.delivery.reason }

    func enqueue(_ delivery: Delivery) -> Delivery {
        let result = try? memory.commit([PollRecord(record: nil, deliveries: [delivery])], within: .none)
        #expect(result != nil, "\(delivery.message.id) is used twice")
        return result?.polls[0].deliveries[0] ?? delivery
    }
    func add(_ silence: Silence) { _ = memory.add(silence) }
    func end(_ silence: Int64) { _ = memory.endSilences([silence], at: Timestamp(milliseconds: 0)) }
    func failSilences(_ fails: Bool) { failsSilences = fails }
    func forget() { hasForgotten = true }
    /// Pruned.
    func forget(_ source: String) {
        memory.prune(
            Retention(
                eventsBefore: Timestamp(milliseconds: 0), sources: Set(records.keys).subtracting([source]),
                sinks: Set(stopped.keys), sourcesBefore: Timestamp(milliseconds: .max)))
    }

    func sourceRecords() -> [SourceRecord] { memory.sourceRecords() }
    func stoppedSinks() -> [StoppedSink] { memory.stoppedSinks() }
    func lateness() -> [String: PollLateness.Report] { memory.lateness() }
    func store(_ lateness: PollLateness.Report) { memory.store(lateness, of: "") }
    func items(of source: String) async -> [String: StoredItem] {
        let items = memory.items(of: source)
        if heldSource == source {
            heldSource = nil
            await withCheckedContinuation { reader = $0 }
        }
        return items
    }
    func ruleMemories() -> [RuleMemory] { memory.ruleMemories() }
    func silences() throws(JournalError) -> [Silence] {
        if failsSilences { throw JournalError(.busy, "the journal is locked") }
        return memory.silences()
    }
    func lastOfWatcher(_ kind: Event.Kind, or other: Event.Kind) -> Event? { memory.lastOfWatcher(kind, or: other) }

    func commit(_ polls: [PollRecord], within limits: EvictionLimits) async throws(JournalError) -> CommitResult {
        let names = polls.compactMap(\.record?.name)
        for name in names { #expect(committing.insert(name).inserted, "\(name) is committed twice at once") }
        defer { for name in names { committing.remove(name) } }
        if isHeld { await withCheckedContinuation { holders.append($0) } }
        if failsCommits { throw JournalError(.full, "the disk is full") }
        try refuse(polls)
        batches.append(names)
        for poll in polls where !poll.deletions.isEmpty {
            let stored = memory.items(of: poll.record?.name ?? "")
            for key in poll.deletions { #expect(stored[key] != nil, "\(key) is deleted but was never stored") }
        }
        do {
            return try memory.commit(polls, within: limits)
        } catch {
            Issue.record(error)
            throw error
        }
    }

    private func refuse(_ polls: [PollRecord]) throws(JournalError) {
        guard let refusal, polls.contains(where: refusal) else { return }
        refusals += 1
        throw JournalError(refusalReason, "the journal refused a record (too long)")
    }

    func write(deferred writes: [DeferredWrite]) async throws(JournalError) {
        if holdsDeferred { await withCheckedContinuation { holders.append($0) } }
        if failsDeferred { throw JournalError(.full, "the disk is full") }
        try refuse(writes.map { PollRecord(record: $0.record, writes: $0.items) })
        deferred.append(writes.map(\.record.name).sorted())
        try memory.write(deferred: writes)
    }

    func pendingLanes() throws(JournalError) -> [DeliveryLane] {
        if failsLanes { throw JournalError(.busy, "the journal is locked") }
        return memory.pendingLanes()
    }

    func pending(in lane: DeliveryLane, after: Int64, limit: Int) -> [Delivery] {
        memory.pending(in: lane, after: after, limit: limit)
    }

    func sent(before delivery: Delivery, limit: Int) -> [Delivery] { memory.sent(before: delivery, limit: limit) }

    func messages(
        of rule: String, to sink: String, about subject: String, before: Int64, limit: Int
    ) -> [DeliveryStatus] {
        hasForgotten ? [] : memory.messages(of: rule, to: sink, about: subject, before: before, limit: limit)
    }

    func record(_ attempts: [Attempt], within limits: EvictionLimits) throws(JournalError) -> RecordResult {
        if failsRecording { throw JournalError(.full, "the disk is full") }
        for attempt in attempts where attempt.state == .sent {
            #expect(state(attempt.delivery) != .sent, "\(attempt.delivery) was sent already")
        }
        return try memory.record(attempts, within: limits)
    }

    func excludeFromAge(_ pause: Duration) { memory.excludeFromAge(pause) }
    func evict(_ limits: EvictionLimits) throws(JournalError) -> QueueCheck { try memory.evict(limits) }
}

/// Answers what it was told, per delivery; it counts what is in flight and hangs when asked to.
final class FakeSink: Sink {
    private struct State {
        var outcomes: [Outcome] = []
        var seen: [String] = []
        var replaced: [String?] = []
        var updates = false
        var closed = 0
        var inFlight = 0
        var most = 0
        var hangs = false
        var waiting: [CheckedContinuation<Void, Never>] = []
    }
    private let state = Mutex(State())

    var seen: [String] { state.withLock { $0.seen } }
    /// What the messages took the place of, in their order.
    var replaced: [String?] { state.withLock { $0.replaced } }
    var updates: Bool { state.withLock { $0.updates } }
    /// From now on it can change what it got.
    func update() { state.withLock { $0.updates = true } }
    var closed: Int { state.withLock { $0.closed } }
    var most: Int { state.withLock { $0.most } }
    var inFlight: Int { state.withLock { $0.inFlight } }
    func answer(_ outcomes: Outcome...) { state.withLock { $0.outcomes = outcomes } }
    func hang() { state.withLock { $0.hangs = true } }
    func release() {
        let waiting = state.withLock { state in
            defer { (state.waiting, state.hangs) = ([], false) }
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }

    func deliver(_ message: Message) async -> Outcome {
        state.withLock { state in
            state.seen.append(message.title)
            state.replaced.append(message.replacing)
            state.inFlight += 1
            state.most = max(state.most, state.inFlight)
            #expect(state.closed == 0, "a closed sink is used")
        }
        await withCheckedContinuation { continuation in
            let hangs = state.withLock { state in
                if state.hangs { state.waiting.append(continuation) }
                return state.hangs
            }
            if !hangs { continuation.resume() }
        }
        return state.withLock { state in
            state.inFlight -= 1
            return state.outcomes.isEmpty ? .delivered : state.outcomes.removeFirst()
        }
    }

    func close() async { state.withLock { $0.closed += 1 } }
}
