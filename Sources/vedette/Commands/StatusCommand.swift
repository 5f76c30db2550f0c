// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import VedetteConfig
import VedetteCore
import VedetteSinks

struct StatusCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status", abstract: "Show each source and each sink: times, counts and problems.",
        discussion: """
            Examples:
              vedette status --watch
              vedette status --json | jq .
            """)

    @Flag(help: "One JSON object a line.")
    var json = false

    @Flag(help: "Print it again whenever something changes.")
    var watch = false

    @OptionGroup var places: Paths
    @OptionGroup var colour: ColourOptions

    func run() async throws {
        let configuration = try KindRegistry.configuration(places, readsSecrets: false)
        let journal = places.journal
        var facts = try await StatusFacts.read(journal, configuration)
        try show(facts, configuration)
        guard watch else { return }
        for await isTime in ticks(try journal.changes()) {
            // The ages of a table grow though nothing changes.
            if !isTime { facts = try await StatusFacts.read(journal, configuration) }
            if !isTime || !json { try show(facts, configuration) }
        }
    }

    /// Yields true when a table is out of date by its ages, and false when the journal changed, at most four times a
    /// second.
    private func ticks(_ changes: AsyncStream<Void>) -> AsyncStream<Bool> {
        AsyncStream(bufferingPolicy: .bufferingNewest(2)) { continuation in
            let clock = SystemClock()
            func pause(_ length: Duration) async throws {
                try await clock.sleep(until: clock.now().boot.advanced(by: length))
            }
            let tasks = [
                Task {
                    for await _ in changes {
                        continuation.yield(false)
                        try await pause(.milliseconds(250))
                    }
                },
                Task {
                    while true {
                        try await pause(.seconds(2))
                        continuation.yield(true)
                    }
                },
            ]
            continuation.onTermination = { _ in for task in tasks { task.cancel() } }
        }
    }

    private func show(_ facts: StatusFacts, _ configuration: Configuration) throws {
        let lines = report(facts, configuration)
        if watch, !json { try Output.clearScreen() }
        for line in lines { try Output.print(line) }
    }

    private func report(_ facts: StatusFacts, _ configuration: Configuration) -> [StyledText] {
        var remarks = facts.remarks.mapValues { [$0] }
        for sink in configuration.sinks where sink.isInsecure {
            remarks[sink.name, default: []].insert("TLS is not checked (insecure)", at: 0)
        }
        let stuck = JournalStall.since(
            configuration.sources.compactMap { facts.records[$0.name] },
            watcherAge: facts.watcherAge, now: SystemClock().now().wall)
        let rules = RuleSet(configuration.rules)
        let lines = configuration.sources.map { SourceLine(source: $0, record: facts.records[$0.name]) }
        if json {
            var objects = lines.map { $0.json.text }
            objects += configuration.sinks.map { sinkJSON($0.name, facts.sinks[$0.name], remarks[$0.name] ?? []) }
            objects += facts.timers.map { timerJSON($0, rules) }
            if let stuck { objects.append(stallJSON(stuck)) }
            objects += facts.unmatched.map {
                JSON.members(["rule": .string($0.rule), "warning": .string($0.text)]).text
            }
            return objects.map { StyledText($0) }
        }
        var report = [StyledText(facts.watcher.map(Self.text(of:)) ?? "no watcher runs")]
        if let stuck {
            report.append(
                StyledText("it has stored nothing since \(stuck.rfc3339): is the disk full? Its log tells the cause"))
        }
        report += table(lines) + [StyledText("")] + table(configuration.sinks.map(\.name), facts.sinks, remarks)
        report += table(facts.timers, rules)
        if !facts.unmatched.isEmpty { report.append(StyledText("")) }
        report += facts.unmatched.map { colour.palette.paint("warning", .doubtful) + StyledText(": \($0.text)") }
        return report
    }

    private static func text(of watcher: WatcherProcess) -> String {
        "a watcher runs (pid \(watcher.pid)\(watcher.host.map { " on \($0)" } ?? ""))"
    }

    private func stallJSON(_ since: Timestamp) -> String {
        JSON.members(["journal": .string("stalled"), "since": .string(since.rfc3339)]).text
    }

    /// Lists what rules wait for.
    private func table(_ timers: [RuleMemory], _ rules: RuleSet) -> [StyledText] {
        guard !timers.isEmpty else { return [] }
        let now = SystemClock().now().wall
        var table = TextTable(["RULE", "WAITS", "DUE"], colour.palette)
        for timer in timers {
            let text = timer.waitingText(of: rules.rule(named: timer.key.rule), at: now) ?? ""
            let due = timer.due.map { $0 > now ? "\(LocalTime.text($0, now: now)), \($0.relative(to: now))" : "now" }
            table.add([timer.key.rule, text, due ?? ""])
        }
        return [StyledText("")] + table.lines
    }

    private func timerJSON(_ timer: RuleMemory, _ rules: RuleSet) -> String {
        let text = timer.waitingText(of: rules.rule(named: timer.key.rule), at: SystemClock().now().wall)
        return JSON.members([
            "rule": .string(timer.key.rule), "waits": timer.waitingReason.map(JSON.string),
            "text": text.map(JSON.string), "due": timer.due.map { .string($0.rfc3339) },
            "event": timer.event.map { .string($0.id.description) },
        ]).text
    }

    private func table(_ lines: [SourceLine]) -> [StyledText] {
        let now = SystemClock().now().wall
        var table = TextTable(["SOURCE", "HEALTH", "ITEMS", "STATES", "LAST", "NEXT", "REMARK"], colour.palette)
        for line in lines {
            var cells = line.columns(now: now).map { StyledText($0, limit: TextTable.limit) }
            cells[1] = colour.palette.paint(line.health.rawValue, Palette.role(of: line.health))
            table.add(cells)
        }
        return table.lines
    }

    private func table(_ names: [String], _ counts: [String: SinkCount], _ remarks: [String: [String]])
        -> [StyledText]
    {
        var table = TextTable(["SINK", "PENDING", "DEAD", "REMARK"], colour.palette)
        for name in names {
            table.add([
                name, "\(counts[name]?.pending ?? 0)", "\(counts[name]?.dead ?? 0)",
                (remarks[name] ?? []).joined(separator: "; "),
            ])
        }
        return table.lines
    }

    private func sinkJSON(_ name: String, _ count: SinkCount?, _ remarks: [String]) -> String {
        JSON.members([
            "sink": .string(name), "pending": .number(count?.pending ?? 0), "dead": .number(count?.dead ?? 0),
            "remark": remarks.isEmpty ? nil : .string(remarks.joined(separator: "; ")),
        ]).text
    }
}

/// The part of the journal that `status` shows.
private struct StatusFacts: Sendable {
    /// The process that watches.
    var watcher: WatcherProcess?
    /// How long it has run; nil where none runs.
    var watcherAge: Duration?
    var records: [String: SourceRecord] = [:]
    var sinks: [String: SinkCount] = [:]
    /// By sink: why the first pending message was not delivered yet.
    var remarks: [String: String] = [:]
    /// Rule memories that wait for a time.
    var timers: [RuleMemory] = []
    var unmatched: [UnmatchedRules.Finding] = []

    static func read(
        _ journal: any JournalAccess, _ configuration: Configuration
    ) async throws(JournalError) -> StatusFacts {
        var facts = StatusFacts()
        facts.watcher = await journal.watcher()
        facts.watcherAge = facts.watcher.flatMap { $0.host == nil ? ProcessAge.of($0.pid) : nil }
        do throws(JournalError) {
            let reader = try await journal.reader()
            for record in try await reader.sourceRecords() { facts.records[record.name] = record }
            for count in try await reader.sinkCounts() {
                facts.sinks[count.sink] = count
                facts.remarks[count.sink] = try await remark(on: count, reader)
            }
            for stop in facts.records.values.compactMap(StoppedSink.init) {
                facts.remarks[stop.sink] = "\(stop.kind.word): \(stop.reason)"
            }
            let memories = try await reader.ruleMemories()
            facts.timers = memories.filter { $0.waitingReason != nil }
            facts.unmatched = try await UnmatchedRules(
                reader: reader, rules: configuration.rules, sources: configuration.sources.map(\.name),
                files: configuration.files, now: SystemClock().now().wall
            ).find(records: facts.records, memories: memories)
        } catch {
            if error.reason != .missing { throw error }
        }
        return facts
    }

    private static func remark(
        on count: SinkCount, _ reader: any JournalReader
    ) async throws(JournalError) -> String? {
        for (state, number) in [(DeliveryState.paused, count.paused), (.retry, count.retrying)] where number > 0 {
            let filter = DeliveryFilter(.only(state), sink: count.sink)
            let first = try await reader.deliveries(filter, after: 0, limit: 1).first
            if let reason = first?.delivery.reason { return state == .paused ? "paused: \(reason)" : reason }
        }
        return nil
    }
}

/// The word of `status` for the health of a source; part of its JSON.
enum SourceHealth: String {
    case ok
    /// Some polls failed, not yet enough for `failing`.
    case retrying
    case failing
    /// Its last poll is probably wrong.
    case suspect
    /// It was never polled.
    case new
}

/// A source as `status` shows it.
private struct SourceLine {
    let source: Source
    let record: SourceRecord?

    var health: SourceHealth {
        guard let record else { return .new }
        if record.health.isFailing { return .failing }
        if record.snapshot?.emptiness != nil { return .suspect }
        return record.health.failures > 0 ? .retrying : .ok
    }

    private var states: String {
        (record?.snapshot?.states ?? [:]).sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }
            .joined(separator: ", ")
    }

    /// The time of the next poll, where it is the server's Retry-After that delays it.
    private func retryAfter(now: Timestamp) -> Timestamp? {
        record?.notBefore.flatMap { $0 > now && $0 > record?.due ?? now ? $0 : nil }
    }

    private var nextPoll: Timestamp? { [record?.due, record?.notBefore].compactMap { $0 }.max() }

    /// How long an entry that was not announced is a remark of the table.
    private static let recent = Duration.seconds(7 * 86_400)

    private func remark(now: Timestamp) -> String {
        var remarks: [String] = []
        if source.server.tls.insecure { remarks.append("TLS is not checked (insecure)") }
        if let problem = record?.health.problem { remarks.append("\(problem.failure): \(problem.detail)") }
        if let until = retryAfter(now: now) { remarks.append("no request before \(until.rfc3339) (Retry-After)") }
        if let unannounced = record?.snapshot?.unannounced, unannounced.at.advanced(by: SourceLine.recent) > now {
            remarks.append("\(unannounced.count) older than the window, not announced; last '\(unannounced.last)'")
        }
        return remarks.joined(separator: "; ")
    }

    func columns(now: Timestamp) -> [String] {
        [
            source.name, health.rawValue, record?.snapshot.map { "\($0.count)" } ?? "-", states.isEmpty ? "-" : states,
            record?.health.lastPollAt?.relative(to: now) ?? "-", nextPoll?.relative(to: now) ?? "-", remark(now: now),
        ]
    }

    var json: JSON {
        .members([
            "source": .string(source.name), "kind": .string(source.kindName), "health": .string(health.rawValue),
            "items": record?.snapshot.map { .number($0.count) },
            "states": record?.snapshot.map { head in
                .object(head.states.sorted { $0.key < $1.key }.map { .init(name: $0.key, value: .number($0.value)) })
            },
            "lastPoll": (record?.health.lastPollAt).map { .string($0.rfc3339) },
            "lastGood": (record?.snapshot?.goodAt).map { .string($0.rfc3339) },
            "nextPoll": nextPoll.map { .string($0.rfc3339) },
            "failures": (record?.health.failures).map { .number($0) },
            "error": (record?.health.problem).map {
                .members(["class": .string($0.failure), "detail": .string($0.detail)])
            },
            "unannounced": (record?.snapshot?.unannounced).map {
                .members(["count": .number($0.count), "last": .string($0.last), "at": .string($0.at.rfc3339)])
            },
            "insecure": source.server.tls.insecure ? .bool(true) : nil,
        ])
    }
}
