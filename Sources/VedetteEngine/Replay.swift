// SPDX-License-Identifier: Apache-2.0

import Synchronization
public import VedetteCore

/// Runs successive bodies as successive polls of one source, or recorded streams as its successive connections: the pipeline of
/// the watcher over files and a journal in memory. Nothing is fetched, stored or sent.
public actor Replay {
    /// What one poll brought.
    public struct Poll: Sendable {
        /// Deliveries of deadlines that were due before the poll, suppressed ones too.
        public var earlier: [Delivery] = []
        public var events: [Event] = []
        /// Deliveries of the poll, suppressed ones too, in the order of their release.
        public var deliveries: [Delivery] = []
        /// How many items the first good poll found, which is compared with nothing; nil for later ones.
        public var baseline: Int?
        /// What `status` says about the source since this poll: entries that were not announced, values that key nothing.
        public var remarks: [String] = []
        /// Why the poll failed; its snapshot stands.
        public var failure: Event.Problem?
    }

    private let journal = MemoryJournal()
    private let clock: ReplayClock
    private let bodies = ReplayFetcher()
    private let rules: RuleCoordinator
    private let pipeline: PollPipeline
    private let source: WatchedSource
    private var (lastEvent, lastDelivery): (Int64, Int64) = (0, 0)

    /// - Parameter transformer: runs the programs of kinds that have one.
    public init(
        _ source: Source, rules: RuleSet = RuleSet([]), civil: any CivilTime, random: any RandomGenerator,
        log: any Log, transformer: (any BodyTransformer)? = nil
    ) {
        let clock = ReplayClock()
        self.clock = clock
        let dependencies = Dependencies(
            fetcher: bodies, journal: journal, clock: clock, random: random, log: log, userAgent: "",
            transformer: transformer, civil: civil)
        let commits = CommitBatcher(journal: journal, log: log)
        self.rules = RuleCoordinator(rules, dependencies, commits: commits)
        pipeline = PollPipeline(
            dependencies, network: NetworkMonitor(), rules: self.rules, commits: commits,
            deferredWrites: DeferredWrites())
        var source = source
        // All records of a recording come at once: what was the past of its server is not known.
        if let stream = source.stream, stream.initial == nil { source.first = .announce }
        self.source = WatchedSource(source, number: 0)
        bodies.callBack(on: self)
    }

    /// Polls once: the pages are the answers, in order. Pages that the poll does not ask for are not read.
    public func poll(_ pages: [PageBody], at time: Timestamp) async -> Poll {
        bodies.serve(pages)
        pipeline.limits.pages = max(1, pages.count)
        return await run(in: .polls, at: time)
    }

    /// Reads a recorded stream as one connection, which the server then ends. Each record comes at that time.
    public func connect(_ records: [StreamRecord], at time: Timestamp) async -> Poll {
        bodies.serve(records, url: source.source.url)
        return await run(in: .streams, at: time)
    }

    private func run(in lane: Lane, at time: Timestamp) async -> Poll {
        var poll = Poll(earlier: await passTime(until: time))
        clock.set(time)
        let isFirst = source.record.snapshot == nil
        let known = remarks
        let start = PollSchedule.Start(source: source, lane: lane, origin: source.origin)
        pipeline.start(start, on: self) { self.source.pollEnded() }
        await source.waitForPoll(on: self)
        poll.baseline = isFirst ? source.record.snapshot?.count : nil
        // A stream has a commit for each batch.
        poll.events = journal.events(after: lastEvent, EventFilter(), limit: .max)
        lastEvent = poll.events.last?.seq ?? lastEvent
        poll.deliveries = newDeliveries()
        poll.failure = source.record.health.problem
        poll.remarks = remarks.filter { !known.contains($0) }
        return poll
    }

    private var remarks: [String] { SourceStatus(source.source, source.record).remarks(now: clock.now().wall) }

    /// What rules remember after the last poll: what they hold back, and until when.
    public var memories: [RuleMemory] { journal.ruleMemories() }

    private func passTime(until end: Timestamp) async -> [Delivery] {
        while let next = await rules.nextDeadline(), next > clock.now().wall, next <= end {
            clock.set(next)
            await rules.evaluateDeadlines()
        }
        return newDeliveries()
    }

    private func newDeliveries() -> [Delivery] {
        let new = journal.deliveries(DeliveryFilter(), after: lastDelivery, limit: .max).map(\.delivery)
        lastDelivery = new.last?.id ?? lastDelivery
        return new
    }
}

/// Shows the time of the poll that is replayed. Wall and boot time are the same.
private final class ReplayClock: Clock {
    private let time = Mutex(Timestamp(milliseconds: 0))

    func set(_ now: Timestamp) { time.withLock { $0 = now } }

    func now() -> Moment {
        let now = time.withLock { $0 }
        return Moment(wall: now, boot: BootTime(milliseconds: now.milliseconds))
    }

    /// Nothing waits in a replay: its timer is not started.
    func sleep(until deadline: BootTime) async throws(CancellationError) { throw CancellationError() }
}

/// Answers each request with the next body, or with the recorded stream.
private final class ReplayFetcher: Fetcher {
    private let pages = Mutex<[PageBody]>([])
    private let stream = Mutex<Response?>(nil)
    /// Weak, for it has this fetcher.
    private let owner = Mutex(Owner())

    private struct Owner {
        weak var actor: (any Actor)?
    }

    func callBack(on actor: any Actor) { owner.withLock { $0.actor = actor } }

    func serve(_ bodies: [PageBody]) {
        pages.withLock { $0 = bodies }
        stream.withLock { $0 = nil }
    }

    func serve(_ records: [StreamRecord], url: String) {
        var response = Response(
            status: 200, headers: ResponseHeaders([]), body: [], digest: 0, isUnchanged: false, url: url, received: 0)
        response.records = ReplayRecords(records)
        stream.withLock { $0 = response }
    }

    private func answer(to request: Request) -> Result<Response, FetchError> {
        if let response = stream.withLock({ $0 }) { return .success(response) }
        let next = pages.withLock { pages in pages.isEmpty ? nil : pages.removeFirst() }
        guard let page = next else { return .failure(FetchError(.notFound, "no body is given for this page")) }
        let digest = StableHash.of(page.bytes)
        let isUnchanged = digest == request.knownDigest
        var response = Response(
            status: 200, headers: page.headers, body: isUnchanged ? [] : page.bytes, digest: digest,
            isUnchanged: isUnchanged, url: page.url, received: page.bytes.count)
        response.isFromPrivate = true
        return .success(response)
    }

    func start(
        _ request: Request, ended: @escaping @Sendable (Result<Response, FetchError>) -> Void
    ) -> any FetchHandle {
        let answer = answer(to: request)
        if let actor = owner.withLock({ $0.actor }) { Task { await call(ended, answer, on: actor) } }
        return AnsweredRequest()
    }

    private func call(
        _ ended: @Sendable (Result<Response, FetchError>) -> Void, _ answer: Result<Response, FetchError>,
        on actor: isolated any Actor
    ) { ended(answer) }
}

/// Cannot be cancelled: its answer is there.
private struct AnsweredRequest: FetchHandle {
    func cancel() {}
}

/// Hands over all records at once, then ends.
private final class ReplayRecords: RecordStream {
    private let records: Mutex<[StreamRecord]?>
    let retry: Duration? = nil

    init(_ records: [StreamRecord]) { self.records = Mutex(records) }

    func next() async throws(FetchError) -> RecordBatch? {
        records.withLock { $0.take() }.map { RecordBatch($0) }
    }

    func interrupt() {}
    func close() {}
}
