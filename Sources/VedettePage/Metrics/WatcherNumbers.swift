// SPDX-License-Identifier: Apache-2.0

public import VedetteCore

/// What metrics show besides the numbers that the engine counts: read when they are asked for, so that nothing is
/// counted twice.
public struct WatcherNumbers: Sendable {
    public struct Source: Sendable {
        public var name: String
        /// As `status` names it.
        public var health: String
        public var isFailing: Bool
        public var items: Int

        public init(name: String, health: String, isFailing: Bool, items: Int) {
            (self.name, self.health, self.isFailing, self.items) = (name, health, isFailing, items)
        }
    }

    public struct Sink: Sendable {
        public var name: String
        public var sentToday: Int
        public var pending: Int
        public var dead: Int

        public init(name: String, sentToday: Int, pending: Int, dead: Int) {
            (self.name, self.sentToday, self.pending, self.dead) = (name, sentToday, pending, dead)
        }
    }

    public var version: String
    public var sources: [Source] = []
    public var sinks: [Sink] = []
    /// Nil where the journal could not be read.
    public var journalBytes: Int64?
    /// Nil where the journal could not be read.
    public var isStalled: Bool?
    /// When this process started; nil when the system does not tell it.
    public var start: Timestamp?
    /// User and system time of this process, in seconds.
    public var processorTime: Double?
    /// In bytes.
    public var residentMemory: Int64?

    public init(version: String) { self.version = version }

    /// Reads what the journal holds of a configuration.
    /// - Parameters:
    ///   - today: the first moment of the local day.
    ///   - age: how long the watcher has run.
    public mutating func read(
        _ journal: any JournalAccess, _ configuration: ConfigurationFacts, now: Timestamp, today: Timestamp,
        age: Duration
    ) async throws(JournalError) {
        let reader = try await journal.reader()
        let counts = Dictionary(try await reader.sinkCounts().map { ($0.sink, $0) }) { _, last in last }
        let activities = try await reader.activity(of: configuration.sinks.map(\.name), since: today)
        let statuses = configuration.statuses(try await reader.sourceRecords())
        sources = statuses.map { status in
            Source(
                name: status.name, health: status.health.rawValue, isFailing: status.health == .failing,
                items: status.record?.snapshot?.count ?? 0)
        }
        sinks = activities.map { activity in
            let count = counts[activity.sink]
            return Sink(
                name: activity.sink, sentToday: activity.sent, pending: count?.pending ?? 0, dead: count?.dead ?? 0)
        }
        isStalled = JournalStall.since(statuses.compactMap(\.record), watcherAge: age, now: now) != nil
    }

    public var families: [MetricFamily] {
        let healths = Dictionary(grouping: sources, by: \.health).map { (label: $0.key, value: $0.value.count) }
        var families = [
            MetricFamily(.buildInfo, byLabel: [(version, 1)]),
            MetricFamily(.sources, byLabel: healths.sorted { $0.label < $1.label }),
            MetricFamily(.sourceFailing, byLabel: sources.map { ($0.name, $0.isFailing ? 1 : 0) }),
            MetricFamily(.sourceItems, byLabel: sources.map { ($0.name, $0.items) }),
            MetricFamily(.sentToday, byLabel: sinks.map { ($0.name, $0.sentToday) }),
            MetricFamily(.pending, byLabel: sinks.map { ($0.name, $0.pending) }),
            MetricFamily(.dead, byLabel: sinks.map { ($0.name, $0.dead) }),
        ]
        if let journalBytes { families.append(MetricFamily(.journalBytes, Double(journalBytes))) }
        if let isStalled { families.append(MetricFamily(.journalStalled, isStalled ? 1 : 0)) }
        if let start { families.append(MetricFamily(.startTime, Double(start.milliseconds) / 1000)) }
        if let processorTime { families.append(MetricFamily(.processorTime, processorTime)) }
        if let residentMemory { families.append(MetricFamily(.residentMemory, Double(residentMemory))) }
        return families
    }
}
