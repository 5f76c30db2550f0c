// SPDX-License-Identifier: Apache-2.0

public import VedetteCore

/// Everything a watcher watches, as it is configured.
public struct Watch: Sendable {
    public var sources: [Source]
    public var rules: RuleSet

    public init(sources: [Source], rules: RuleSet) { (self.sources, self.rules) = (sources, rules) }
}

/// What the shells of the engine work with.
public struct Surroundings: Sendable {
    public var fetcher: any Fetcher
    public var journal: any Journal
    public var clock: any Clock
    public var chance: any Chance
    public var log: any Log
    public var userAgent: String
    /// The thread that the fetcher sleeps on: with the shells on it too, an unchanged poll crosses no thread.
    public var executor: any SerialExecutor

    public init(
        fetcher: any Fetcher, journal: any Journal, clock: any Clock, chance: any Chance, log: any Log,
        userAgent: String, executor: any SerialExecutor
    ) {
        (self.fetcher, self.journal, self.clock, self.chance) = (fetcher, journal, clock, chance)
        (self.log, self.userAgent, self.executor) = (log, userAgent, executor)
    }
}

/// The poll shell: starts what is due, commits what it brought, schedules the next.
public actor Watcher {
    /// Polls whose bodies are being read or compared; more wait, so that bodies in memory stay bounded.
    static let mostUnfinished = 512
    /// Due times closer than this are served by one wake-up.
    static let tick = Duration.milliseconds(10)
    /// Polls that changed nothing are written at most this late.
    static let touchDelay = Duration.seconds(5)

    let surroundings: Surroundings
    let courier: Courier
    let committer: Committer
    var rules: RuleSet
    var entries: [Entry] = []
    private var numbers: [String: Int] = [:]
    private var scheduler = Scheduler()
    private var unfinished = 0
    private var isStopping = false
    private var sleeper: Task<Void, Never>?
    private var wakeAt: BootTime?
    private var dirty = Set<Int>()
    private var touchDue: BootTime?
    private var idle: [CheckedContinuation<Void, Never>] = []
    private var suspects = Set<String>()

    public nonisolated var unownedExecutor: UnownedSerialExecutor {
        surroundings.executor.asUnownedSerialExecutor()
    }

    public init(_ watch: Watch, _ surroundings: Surroundings, courier: Courier) {
        (self.surroundings, self.courier) = (surroundings, courier)
        committer = Committer(journal: surroundings.journal, log: surroundings.log, executor: surroundings.executor)
        rules = watch.rules
        for source in watch.sources {
            numbers[source.name] = entries.count
            entries.append(Entry(source))
        }
    }

    /// One source and what is remembered of it.
    final class Entry {
        var source: Source
        var record: SourceRecord
        var poll: Task<Void, Never>?
        var origin: String
        var isRemoved = false
        var lastResult: OnceResult?

        init(_ source: Source) {
            self.source = source
            record = SourceRecord(name: source.name)
            origin = WebURL(source.url)?.origin ?? source.url
        }
    }

    // MARK: Life

    /// Reads what the journal remembers and schedules every source.
    public func restore() async throws(JournalError) {
        let records = try await surroundings.journal.sourceRecords()
        for record in records {
            if let number = numbers[record.name] { entries[number].record = record }
        }
        let now = surroundings.clock.now()
        for number in entries.indices { schedule(number, at: firstDue(entries[number], now: now)) }
    }

    /// Watches until `stop`.
    public func run() async {
        while !isStopping {
            startDue()
            await flushTouches(ifDue: true)
            await sleepUntilNext()
        }
        for entry in entries { entry.poll?.cancel() }
        while unfinished > 0 { await withCheckedContinuation { idle.append($0) } }
        await flushTouches(ifDue: false)
        await committer.finish()
    }

    public func stop() {
        isStopping = true
        wakeUp()
    }

    /// Takes another set of sources and rules. What is unchanged goes on undisturbed; a poll of a source that went away is
    /// cancelled.
    public func reload(_ watch: Watch) async throws(JournalError) {
        rules = watch.rules
        let names = Set(watch.sources.map(\.name))
        for (name, number) in numbers where !names.contains(name) {
            entries[number].isRemoved = true
            entries[number].poll?.cancel()
            scheduler.remove(number)
            numbers[name] = nil
        }
        let remembered = Dictionary(
            uniqueKeysWithValues: try await surroundings.journal.sourceRecords().map { ($0.name, $0) })
        let now = surroundings.clock.now()
        for source in watch.sources {
            if let number = numbers[source.name] {
                let entry = entries[number]
                let moved = entry.source.pace != source.pace
                entry.source = source
                entry.origin = WebURL(source.url)?.origin ?? source.url
                if moved, scheduler.due(of: number) != nil { schedule(number, at: firstDue(entry, now: now)) }
            } else {
                let entry = Entry(source)
                if let record = remembered[source.name] { entry.record = record }
                numbers[source.name] = entries.count
                entries.append(entry)
                schedule(entries.count - 1, at: firstDue(entry, now: now))
            }
        }
        wakeUp()
    }

    /// Stored deadlines hold over a restart, clamped; what is overdue is polled soon, spread a little.
    private func firstDue(_ entry: Entry, now: Moment) -> BootTime {
        let pace = entry.source.pace
        guard let stored = [entry.record.due, entry.record.notBefore].compactMap({ $0 }).max() else { return now.boot }
        let asked = entry.record.notBefore.map { $0 > now.wall } ?? false
        let due = now.boot(at: stored, most: asked ? Pace.longestRetryAfter : pace.longestDelay(entry.record.health))
        guard due == now.boot else { return due }
        let spread = min(pace.every * 0.1, .seconds(5))
        return now.boot.advanced(by: spread * surroundings.chance.fraction())
    }

    // MARK: Time

    private func schedule(_ number: Int, at due: BootTime) {
        scheduler.schedule(number, at: due)
        if let wakeAt, due < wakeAt { wakeUp() }
    }

    private func startDue() {
        let now = surroundings.clock.now().boot
        while unfinished < Watcher.mostUnfinished || scheduler.next == nil, let number = scheduler.startNext(at: now) {
            start(number)
        }
    }

    private func sleepUntilNext() async {
        let now = surroundings.clock.now().boot
        let earliest = now.advanced(by: Watcher.tick)
        // With every place taken, a finished poll wakes us.
        let next = unfinished < Watcher.mostUnfinished ? scheduler.next : nil
        let candidates = [next, touchDue].compactMap { $0 }
        let deadline = max(earliest, candidates.min() ?? now.advanced(by: .seconds(3600)))
        guard !isStopping else { return }
        wakeAt = deadline
        let clock = surroundings.clock
        let sleeper = Task { () -> Void in _ = try? await clock.sleep(until: deadline) }
        self.sleeper = sleeper
        await sleeper.value
        (self.sleeper, wakeAt) = (nil, nil)
    }

    private func wakeUp() {
        wakeAt = nil
        sleeper?.cancel()
    }

    // MARK: One poll

    private func start(_ number: Int) {
        let entry = entries[number]
        unfinished += 1
        entry.poll = Task {
            await self.poll(entry)
            self.finished(number)
        }
    }

    private func finished(_ number: Int) {
        let entry = entries[number]
        entry.poll = nil
        unfinished -= 1
        if !entry.isRemoved, !isStopping, let due = entry.record.due {
            let now = surroundings.clock.now()
            let stored = max(due, entry.record.notBefore ?? due)
            schedule(number, at: now.boot(at: stored, most: .seconds(90_000)))
        }
        if unfinished == Watcher.mostUnfinished - 1 { wakeUp() }
        if unfinished == 0 {
            for waiter in idle { waiter.resume() }
            idle = []
        }
    }

    private func poll(_ entry: Entry) async {
        let reader = PollReader(
            source: entry.source, head: entry.record.snapshot, fetcher: surroundings.fetcher,
            journal: surroundings.journal, clock: surroundings.clock,
            lane: suspects.contains(entry.origin) ? .suspects : .polls, userAgent: surroundings.userAgent)
        do throws(JournalError) {
            let result = try await reader.read()
            if case .cancelled = result { return }
            try await settle(entry, result, poll: pollIdentifier(random: surroundings.chance.next()))
        } catch {
            // Nothing advanced: the same poll is made again at the usual pace.
            surroundings.log.log(.error, "\(entry.source.name): \(error.detail)")
            entry.lastResult = .unwritten(error.detail)
            let now = surroundings.clock.now()
            entry.record.due = now.wall.advanced(
                by: entry.source.pace.delay(states: [:], freshFor: nil, chance: surroundings.chance.fraction()))
        }
    }

    private func settle(_ entry: Entry, _ result: PollResult, poll: String) async throws(JournalError) {
        let now = surroundings.clock.now().wall
        var verdict = Settlement(source: entry.source, record: entry.record, now: now, chance: surroundings.chance)
        switch result {
        case .cancelled: return
        case .failed(let failure, let detail, let retryAfter, let timedOut):
            if timedOut { suspects.insert(entry.origin) } else { suspects.remove(entry.origin) }
            if failure == .unauthorized { refreshSecrets(of: entry) }
            verdict.failed(failure, detail: detail, retryAfter: retryAfter)
            surroundings.log.log(.warning, "\(entry.source.name): \(failure.rawValue): \(detail)")
        case .unchanged(let validators, let freshFor):
            suspects.remove(entry.origin)
            let pending = entry.record.snapshot?.pendingAbsences ?? 0
            let stored = pending > 0 ? try await surroundings.journal.items(of: entry.source.name) : [:]
            verdict.unchanged(validators, stored: stored, freshFor: freshFor)
        case .read(let difference, let warnings, let freshFor):
            suspects.remove(entry.origin)
            for warning in warnings { surroundings.log.log(.info, "\(entry.source.name): \(warning)") }
            verdict.read(difference, freshFor: freshFor)
        }
        guard !entry.isRemoved else { return }
        if verdict.isTouch {
            entry.record = verdict.record
            entry.lastResult = .good(items: verdict.record.snapshot?.count ?? 0, isBaseline: false, events: 0)
            if let number = numbers[entry.source.name] { dirty.insert(number) }
            if touchDue == nil { touchDue = surroundings.clock.now().boot.advanced(by: Watcher.touchDelay) }
            return
        }
        try await commit(verdict, of: entry, poll: poll, at: now)
    }

    private func commit(
        _ verdict: Settlement, of entry: Entry, poll: String, at now: Timestamp
    ) async throws(JournalError) {
        let chance = surroundings.chance
        var record = PollRecord(
            record: verdict.record, isNewBaseline: verdict.isNewBaseline, writes: verdict.writes,
            deletions: verdict.deletions)
        record.events = verdict.events.map {
            $0.event(id: chance.identifier(at: now), source: entry.source, poll: poll, at: now)
        }
        record.deliveries = record.events.flatMap { event in
            rules.deliveries(of: event, at: now) { chance.identifier(at: now) }
        }
        let committed = try await committer.commit(record)
        if let number = numbers[entry.source.name] { dirty.remove(number) }
        let wasBaseline = entry.record.snapshot == nil || verdict.isNewBaseline
        entry.record = verdict.record
        entry.lastResult = verdict.onceResult(isBaseline: wasBaseline)
        if wasBaseline, verdict.record.snapshot != nil {
            surroundings.log.log(
                .notice, "\(entry.source.name): baseline of \(verdict.record.snapshot?.count ?? 0) items")
        }
        if !committed.deliveries.isEmpty { await courier.owe(committed.deliveries) }
    }

    /// Off this thread: a `command:` secret may take seconds.
    private func refreshSecrets(of entry: Entry) {
        let secrets = entry.source.server.secrets
        guard !secrets.isEmpty, entry.record.health.failures == 0 else { return }
        Task { @concurrent in for secret in secrets { _ = secret.refresh() } }
    }

    private func flushTouches(ifDue: Bool) async {
        guard !dirty.isEmpty, let due = touchDue else { return }
        if ifDue, surroundings.clock.now().boot < due { return }
        let records = dirty.map { entries[$0].record }
        (dirty, touchDue) = ([], nil)
        do throws(JournalError) {
            try await surroundings.journal.touch(records)
        } catch {
            surroundings.log.log(.warning, "due times were not written: \(error.detail)")
        }
    }
}

extension Watcher {
    /// Polls every source once, those under Retry-After or backoff only when `force`d, and says what came of each.
    public func runOnce(force: Bool) async -> [OnceResult] {
        let now = surroundings.clock.now().wall
        var results: [OnceResult] = []
        await withTaskGroup { group in
            for entry in entries {
                let isHeld = entry.record.notBefore.map { $0 > now } ?? false
                let isBackingOff = entry.record.health.failures > 0 && (entry.record.due ?? now) > now
                if !force, isHeld || isBackingOff {
                    results.append(.held(entry.source.name))
                    continue
                }
                let name = entry.source.name
                group.addTask { await self.pollNow(name) }
            }
        }
        for entry in entries { if let result = entry.lastResult { results.append(result) } }
        await flushTouches(ifDue: false)
        await committer.finish()
        return results
    }

    private func pollNow(_ name: String) async {
        guard let entry = entries.first(where: { $0.source.name == name }) else { return }
        await poll(entry)
    }
}

/// What `run --once` says of a source.
public enum OnceResult: Sendable, Hashable {
    case good(items: Int, isBaseline: Bool, events: Int)
    case failed(source: String, detail: String)
    /// Under Retry-After or backoff: not polled.
    case held(String)
    /// The journal could not be written.
    case unwritten(String)
}

extension Server {
    var secrets: [Secret] {
        headers.compactMap { if case .secret(let secret) = $0.content { secret } else { nil } }
            + (credentials.map { [$0.password] } ?? [])
    }
}
