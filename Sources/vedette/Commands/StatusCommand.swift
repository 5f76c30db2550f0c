// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import VedetteConfig
import VedetteCore
import VedetteJournal

struct StatusCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status", abstract: "Each source and each sink: when, how many, and what is wrong.")

    @OptionGroup var places: Paths
    @OptionGroup var style: Style

    @Flag(help: "One JSON object a line.")
    var json = false

    @Flag(help: "Print it again every two seconds.")
    var watch = false

    func run() async throws {
        let configuration = try KindRegistry.configuration(places)
        repeat {
            let report = try await report(configuration)
            if watch, !json {
                try Output.print("\u{1B}[H\u{1B}[2J" + report.joined(separator: "\n"))
            } else {
                for line in report { try Output.print(line) }
            }
            if watch { try await Task.sleep(for: .seconds(2)) }
        } while watch
    }

    private func report(_ configuration: Configuration) async throws -> [String] {
        let directory = places.journal()
        var records: [String: SourceRecord] = [:]
        var sinks: [String: SinkCount] = [:]
        var remarks: [String: [String]] = [:]
        for sink in configuration.sinks where sink.isInsecure {
            remarks[sink.name] = ["TLS is not checked (insecure)"]
        }
        var timers: [RuleMemory] = []
        do throws(JournalError) {
            let reader = try JournalReader.open(directory: directory)
            for record in try await reader.sourceRecords() { records[record.name] = record }
            for count in try await reader.sinkCounts() {
                sinks[count.sink] = count
                guard count.pending > 0, let remark = try await remark(on: count.sink, reader) else { continue }
                remarks[count.sink, default: []].append(remark)
            }
            timers = try await reader.ruleMemories().filter { $0.due != nil }
        } catch {
            if error.reason != .missing { throw error }
        }
        let lines = configuration.sources.map { SourceLine(source: $0, record: records[$0.name]) }
        if json {
            return lines.map { $0.json.text }
                + configuration.sinks.map { sinkJSON($0.name, sinks[$0.name], remarks[$0.name] ?? []) }
                + timers.map(timerJSON)
        }
        let names = configuration.sinks.map(\.name)
        return [watcherLine(directory)] + table(lines) + [""] + table(names, sinks, remarks) + table(timers)
    }

    /// What rules wait for.
    private func table(_ timers: [RuleMemory]) -> [String] {
        guard !timers.isEmpty else { return [] }
        let now = SystemClock().now().wall
        var table = TextTable(["RULE", "WAITS", "DUE", "ABOUT"])
        for timer in timers {
            let about = timer.event.map { MessageFormatter.title(of: $0) } ?? timer.key.name
            table.add([timer.key.rule, timer.key.slot.rawValue, timer.due?.relative(to: now) ?? "", about])
        }
        return [""] + table.lines
    }

    private func timerJSON(_ timer: RuleMemory) -> String {
        JSON.members([
            "rule": .string(timer.key.rule), "waits": .string(timer.key.slot.rawValue),
            "due": timer.due.map { .string($0.rfc3339) }, "event": timer.event.map { .string($0.id.description) },
        ]).text
    }

    /// Why the first of what a sink is owed was not delivered yet.
    private func remark(on sink: String, _ reader: JournalReader) async throws(JournalError) -> String? {
        for state in [DeliveryState.paused, .retry] {
            let first = try await reader.deliveries(DeliveryFilter(state: state, sink: sink), limit: 1).first
            if let reason = first?.delivery.reason { return state == .paused ? "paused: \(reason)" : reason }
        }
        return nil
    }

    private func watcherLine(_ directory: String) -> String {
        SQLiteJournal.holder(directory: directory).map { "a watcher runs (pid \($0))" } ?? "no watcher runs"
    }

    private func table(_ lines: [SourceLine]) -> [String] {
        let now = SystemClock().now().wall
        var table = TextTable(["SOURCE", "HEALTH", "ITEMS", "STATES", "LAST", "NEXT", "REMARK"])
        for line in lines { table.add(line.columns(now: now)) }
        return table.lines
    }

    private func table(_ names: [String], _ counts: [String: SinkCount], _ remarks: [String: [String]]) -> [String] {
        var table = TextTable(["SINK", "OWED", "DEAD", "REMARK"])
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
            "sink": .string(name), "owed": .number(count?.pending ?? 0), "dead": .number(count?.dead ?? 0),
            "remark": remarks.isEmpty ? nil : .string(remarks.joined(separator: "; ")),
        ]).text
    }
}

/// A source as `status` shows it.
private struct SourceLine {
    let source: Source
    let record: SourceRecord?

    private var health: String {
        guard let record else { return "new" }
        if record.health.isFailing { return "failing" }
        if record.snapshot?.emptiness != nil { return "suspect" }
        return record.health.failures > 0 ? "unwell" : "ok"
    }

    private var states: String {
        (record?.snapshot?.states ?? [:]).sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }
            .joined(separator: ", ")
    }

    private var remark: String {
        var remarks: [String] = []
        if source.server.tls.insecure { remarks.append("TLS is not checked (insecure)") }
        if let problem = record?.health.problem { remarks.append("\(problem.failure): \(problem.detail)") }
        return remarks.joined(separator: "; ")
    }

    func columns(now: Timestamp) -> [String] {
        let next = [record?.due, record?.notBefore].compactMap { $0 }.max()
        return [
            source.name, health, record?.snapshot.map { "\($0.count)" } ?? "-", states.isEmpty ? "-" : states,
            record?.health.lastPollAt?.relative(to: now) ?? "-", next?.relative(to: now) ?? "-", remark,
        ]
    }

    var json: JSON {
        .members([
            "source": .string(source.name), "kind": .string(source.kindName), "health": .string(health),
            "items": record?.snapshot.map { .number($0.count) },
            "states": record?.snapshot.map { head in
                .object(head.states.sorted { $0.key < $1.key }.map { .init(name: $0.key, value: .number($0.value)) })
            },
            "lastPoll": (record?.health.lastPollAt).map { .string($0.rfc3339) },
            "lastGood": (record?.snapshot?.goodAt).map { .string($0.rfc3339) },
            "nextPoll": (record?.due).map { .string($0.rfc3339) },
            "failures": (record?.health.failures).map { .number($0) },
            "error": (record?.health.problem).map {
                .members(["class": .string($0.failure), "detail": .string($0.detail)])
            },
            "insecure": source.server.tls.insecure ? .bool(true) : nil,
        ])
    }
}
