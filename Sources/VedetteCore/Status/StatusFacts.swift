// SPDX-License-Identifier: Apache-2.0

/// What `status` shows: the configuration with what the journal holds of it, at one time.
public struct StatusFacts: Sendable {
    /// The process that watches.
    public struct Watcher: Sendable, Hashable {
        /// Which process it is.
        public var process: WatcherProcess
        /// When it started; nil when the system does not tell it.
        public var since: Timestamp?

        /// Creates a watcher.
        public init(process: WatcherProcess, since: Timestamp?) { (self.process, self.since) = (process, since) }
    }

    /// The time of these facts.
    public var now: Timestamp
    /// Nil where none runs.
    public var watcher: Watcher?
    /// The watchers that share the journal; empty where it is one watcher's.
    public var watchers: [RegisteredWatcher] = []
    /// The place of the journal.
    public var location = ""
    /// False before the first `run`.
    public var hasJournal = false
    /// How many errors the files of the configuration have. With any, only what the journal has is known.
    public var configurationErrors = 0
    /// Every source that is configured, in the order of the files.
    public var sources: [SourceStatus] = []
    /// Every sink that is configured, in the order of the files.
    public var sinks: [SinkStatus] = []
    /// Every rule, in the order of evaluation.
    public var rules: [Rule] = []
    /// Since when the watcher has stored nothing although polls were due; nil when all is well.
    public var stalledSince: Timestamp?
    /// How late polls started lately, by the watcher's name, which is empty where the journal is one watcher's. A watcher
    /// has none in its first minute.
    public var lateness: [String: PollLateness.Report] = [:]
    /// Those in force.
    public var silences: [Silence] = []
    /// Rule memories that wait for something.
    public var timers: [RuleMemory] = []
    /// Rules that matched no event although there was time.
    public var unmatched: [UnmatchedRule] = []

    /// Creates the facts of an empty configuration.
    public init(now: Timestamp) { self.now = now }

    /// How many sources have each health; those that none has are left out.
    public var healthCounts: [(health: SourceStatus.Health, count: Int)] {
        var counts: [SourceStatus.Health: Int] = [:]
        for source in sources { counts[source.health, default: 0] += 1 }
        return SourceStatus.Health.allCases.compactMap { health in counts[health].map { (health, $0) } }
    }

    /// Whether a watcher runs and nothing is lost or late until a person repairs it.
    public var isWell: Bool { isWatched && !problems.contains { $0.isBad } }

    /// Whether a watcher runs, stores what it finds, and has the configuration of the files.
    public var isWatched: Bool { watcher != nil && stalledSince == nil && configurationErrors == 0 }
}

extension StatusFacts {
    /// Reads the facts of now. A journal that does not exist yet has none.
    /// - Parameters:
    ///   - journal: read beside the watcher.
    ///   - records: of all sources; nil to read them from the journal.
    ///   - today: the first moment of the local day.
    ///   - age: returns how long a process of this machine has run; nil when that is unknown.
    public static func read(
        _ journal: any JournalAccess, _ configuration: ConfigurationFacts, records: [SourceRecord]? = nil,
        now: Timestamp, today: Timestamp, age: @Sendable (Int32) -> Duration?
    ) async throws(JournalError) -> StatusFacts {
        var facts = StatusFacts(now: now)
        facts.location = journal.location
        (facts.rules, facts.configurationErrors) = (configuration.rules, configuration.errors)
        if let process = await journal.watcher() {
            let age = process.host == nil ? age(process.pid) : nil
            facts.watcher = Watcher(process: process, since: age.map { now.advanced(by: .zero - $0) })
        }
        do throws(JournalError) {
            let reader = try await journal.reader()
            // One that watches alone has no name.
            facts.watchers = try await journal.watchers().filter { !$0.name.isEmpty }
            try await facts.read(reader, configuration, records, today: today)
        } catch {
            guard error.reason == .missing else { throw error }
            facts.sources = configuration.statuses([])
            facts.sinks = configuration.sinks.map { SinkStatus(name: $0.name) }
        }
        return facts
    }

    private mutating func read(
        _ reader: any JournalReader, _ configuration: ConfigurationFacts, _ records: [SourceRecord]?, today: Timestamp
    ) async throws(JournalError) {
        hasJournal = true
        let all = if let records { records } else { try await reader.sourceRecords() }
        sources = configuration.statuses(all)
        stalledSince = JournalStall.since(
            sources.lazy.compactMap(\.record),
            watcherAge: watcher?.since.map { .milliseconds(now.milliseconds - $0.milliseconds) },
            now: now)
        lateness = current(try await reader.lateness())
        let stops = try await reader.stoppedSinks()
        let counts = try await reader.sinkCounts()
        var definitions = configuration.sinks
        if configuration.errors > 0 {
            let names = Set(counts.map(\.sink) + stops.map(\.sink)).sorted()
            definitions = names.map { .init(name: $0, kindName: "", isInsecure: false) }
        }
        let activities = try await reader.activity(of: definitions.map(\.name), since: today)
        for (definition, activity) in zip(definitions, activities) {
            var sink = SinkStatus(name: definition.name)
            (sink.isInsecure, sink.activity) = (definition.isInsecure, activity)
            sink.count = counts.first { $0.sink == definition.name } ?? sink.count
            sink.stop = stops.first { $0.sink == definition.name && $0.kind != .failing }
            if sink.count.retrying > 0 { sink.waiting = try await StatusFacts.waiting(definition.name, reader) }
            sinks.append(sink)
        }
        silences = try await reader.silences().filter { !$0.isOver(at: now) }
        let memories = try await reader.ruleMemories()
        timers = memories.filter { $0.waitingReason != nil }
        unmatched = try await UnmatchedRules(
            reader: reader, rules: configuration.rules, sources: sources,
            editedAt: configuration.editedAt, now: now
        ).find(memories)
    }

    /// Returns the reports of polls that watchers made since they started, and not too long ago.
    private func current(_ reports: [String: PollLateness.Report]) -> [String: PollLateness.Report] {
        let named = Dictionary(watchers.map { ($0.name, Optional($0.started)) }) { _, last in last }
        let starts = named.isEmpty ? watcher.map { ["": $0.since] } ?? [:] : named
        let oldest = now.advanced(by: .zero - PollLateness.longestAge)
        return reports.filter { name, report in
            guard let start = starts[name], report.polls > 0 else { return false }
            return report.at >= max(start ?? oldest, oldest)
        }
    }

    private static func waiting(
        _ sink: String, _ reader: any JournalReader
    ) async throws(JournalError) -> SinkStatus.Waiting? {
        let filter = DeliveryFilter(.only(.retry), sink: sink)
        guard let first = try await reader.deliveries(filter, after: 0, limit: 1).first else { return nil }
        return SinkStatus.Waiting(reason: first.delivery.reason ?? "the attempt failed", due: first.delivery.due)
    }
}
