// SPDX-License-Identifier: Apache-2.0

import VedetteConfig
import VedetteCore
import VedetteEngine
import VedetteSinks
import VedetteText

/// `explain --now RULE KEY`: what each sink was told of a subject, what is true now, and what would happen now. It asks a copy
/// of the engine that nothing is written from.
extension ExplainCommand {
    func explainNow(
        _ rule: Rule, _ key: String, _ configuration: Configuration, _ reader: any JournalReader
    ) async throws {
        let now = SystemClock().now().wall
        let rows = try await reader.ruleMemories()
        let (subject, stored) = try await found(key, rule, configuration, rows, reader)
        let engine = try await engine(
            configuration, rows, reader, missing: stored?.absentSince == nil ? nil : subject.subject, now)
        let row = rows.first { $0.key.rule == rule.name && $0.subject == subject.subject && $0.key.slot == .match }
        let made = try await deliveries(of: rule, subject.subject, row, reader)

        let health = try await reader.sourceRecord(of: subject.subject.source)?.health
        try printLine(state(of: subject, stored, health, now))
        try printLine(match(of: row, rule, now), 2)
        let outlooks = engine.outlook(of: rule, subject.subject, at: RuleTime(steady: now, wall: now))
        let others = (outlooks.map(\.sink) + made.map(\.delivery.message.sink)).filter { sink in
            !rule.allTargets.contains { $0.sink == sink }
        }
        for sink in rule.allTargets.map(\.sink) + Set(others).sorted() {
            let ofSink = made.filter { $0.delivery.message.sink == sink }
            let told = ofSink.last { $0.state != .suppressed }
            let past = told.map { ExplainCommand.words($0, subject.subject, now) } ?? "told nothing"
            try printLine("→ \(sink): \(past)", 2)
            let lines = outlooks.filter { $0.sink == sink }.map { ExplainCommand.words($0, now) }
            for line in lines { try printLine("now: \(line)", 6) }
            guard lines.isEmpty else { continue }
            let last = ofSink.last.flatMap { $0.state == .suppressed ? $0.delivery.reason : nil }
            let reason = last ?? (told == nil ? "there is no match that it is to be told" : "it was told")
            try printLine("now: settled: \(LocalTime.localized(reason, now: now))", 6)
        }
    }

    /// Finds the subject among what the rule remembers, and among the stored items of its sources.
    private func found(
        _ key: String, _ rule: Rule, _ configuration: Configuration, _ rows: [RuleMemory], _ reader: any JournalReader
    ) async throws -> (RuleSubject, StoredItem?) {
        let sources = configuration.sources.map(\.name).filter { rule.when.sources?.contains($0) != false }
        var stored: [Subject: StoredItem] = [:]
        for source in sources {
            for item in try await reader.items(of: source).values {
                stored[Subject(source: source, key: item.key)] = item
            }
        }
        var subjects: [Subject: RuleSubject] = [:]
        for row in rows where row.key.rule == rule.name && row.key.slot == .match {
            if let event = row.waitingEvent ?? row.firingMatch { subjects[Subject(event)] = RuleSubject(event) }
        }
        for (subject, row) in stored {
            if let item = row.item { subjects[subject] = RuleSubject(item, of: subject.source) }
        }
        for source in sources { subjects[Subject(source: source, key: nil)] = RuleSubject(source: source) }
        guard let found = try RuleSubject.find(key, source: source, among: Array(subjects.values), of: rule) else {
            let near = didYouMean(key, among: subjects.values.flatMap { [$0.name, $0.subject.key ?? $0.name] })
            throw Exit(.data, "the sources of rule \(quoted(rule.name)) have no item \(quoted(key))\(near ?? "")")
        }
        return (found, stored[found.subject])
    }

    /// Returns the engine as the watcher has it by the journal.
    private func engine(
        _ configuration: Configuration, _ rows: [RuleMemory], _ reader: any JournalReader, missing: Subject?,
        _ now: Timestamp
    ) async throws -> RuleEngine {
        var engine = RuleEngine(RuleSet(configuration.rules), civil: ZoneTime())
        let records = try await reader.sourceRecords()
        for record in records where record.snapshot != nil && engine.factSources.contains(record.name) {
            let items = try await reader.items(of: record.name).values.compactMap(\.item)
            engine.addStoredFacts(of: record.name, items)
        }
        let changes = Dictionary(rows.map { ($0.key, Optional($0)) }) { _, last in last }
        engine.take(changes, at: RuleTime(steady: now, wall: now))
        let watched = Dictionary(configuration.sources.map { ($0.name, $0) }) { first, _ in first }
        engine.take(
            SourceHealth(records, watched: watched), of: Set(records.map(\.name)),
            uncertain: Set(records.filter { $0.health.failures > 0 }.map(\.name)))
        engine.setSilences(try await reader.silences())
        if let missing, let key = missing.key { engine.setMissing([key], of: missing.source) }
        return engine
    }

    /// Reads what the rule made of the subject lately, in the order in which it was made.
    private func deliveries(
        of rule: Rule, _ subject: Subject, _ row: RuleMemory?, _ reader: any JournalReader
    ) async throws -> [DeliveryStatus] {
        var events = try await reader.lastEvents(
            20, EventFilter(source: subject.source, rule: rule.name, key: subject.key))
        if let match = row?.firingMatch { events += try await reader.events(matching: match.id.description) }
        var made: [Int64: DeliveryStatus] = [:]
        for event in events where Subject(event) == subject {
            for status in try await reader.deliveries(
                DeliveryFilter(rule: rule.name, event: event.seq), after: 0, limit: 1000)
            {
                made[status.delivery.id] = status
            }
        }
        // Ends, reminders and messages about several have no event of their own.
        var after = made.keys.min() ?? 0
        while true {
            let page = try await reader.deliveries(
                DeliveryFilter(rule: rule.name, event: 0), after: after, limit: 1000)
            for status in page where status.delivery.message.event.concerns(subject) {
                made[status.delivery.id] = status
            }
            guard page.count == 1000, let last = page.last else { break }
            after = last.delivery.id
        }
        return made.values.sorted { $0.delivery.id < $1.delivery.id }
    }

    /// `Billing: ready since 10:42`
    private func state(of subject: RuleSubject, _ stored: StoredItem?, _ health: Health?, _ now: Timestamp) -> String {
        guard subject.subject.key != nil else {
            let cause = health?.isFailing == true ? health?.problem?.detail : nil
            return subject.name + (cause.map { ": failing: \($0)" } ?? ": not failing")
        }
        guard let stored, let item = stored.item else { return "\(subject.name): its source does not show it" }
        let since = item.state.map { ": \($0) since \(LocalTime.text(stored.stateSince, now: now))" } ?? ""
        let missing = stored.absentSince == nil ? "" : ", not in the last list"
        return subject.name + since + missing
    }

    private func match(of row: RuleMemory?, _ rule: Rule, _ now: Timestamp) -> String {
        guard let row else { return "the rule remembers no match of it" }
        if let line = row.waitingLine(of: rule, at: now) { return line }
        return row.firingMatch.map { "a match that was told is true: event \($0.id)" } ?? "no match of it is true"
    }

    private static func words(_ status: DeliveryStatus, _ subject: Subject, _ now: Timestamp) -> String {
        let (message, event) = (status.delivery.message, status.delivery.message.event)
        let part = event.summary?.parts.last { $0.source == subject.source && $0.key == subject.key }
        let isOver = part?.tellsEnd ?? event.isEnd
        return "told '\(message.title)' (\(isOver ? "over" : "firing")), made at "
            + "\(LocalTime.text(status.delivery.created, now: now)), \(DeliverySentence(status, now: now).outcome)"
    }

    private static func words(_ outlook: RuleEngine.Outlook, _ now: Timestamp) -> String {
        let content =
            switch outlook.content {
            case .match: "the match"
            case .end: "the end"
            case .state: "the latest state"
            case .reminder: "the reminder"
            case .escalation: "the escalation"
            }
        func until(_ time: Timestamp?) -> String { time.map { " until \(LocalTime.text($0, now: now))" } ?? "" }
        return switch outlook.outcome {
        case .told: "\(content) would be told"
        case .waits(let gate, let reason, let time):
            "\(content) waits\(until(time))" + (gate.isEmpty ? "" : " [\(gate)]")
                + (reason.isEmpty ? "" : ": \(LocalTime.localized(reason, now: now))")
        case .dropped(let reason): "\(content) would not be told: \(LocalTime.localized(reason, now: now))"
        case .listed(let time):
            "\(content) is told in the digest" + (time.map { " of \(LocalTime.text($0, now: now))" } ?? "")
        }
    }
}

extension Event {
    /// Whether a message that a rule made is about the subject, alone or with others.
    fileprivate func concerns(_ subject: Subject) -> Bool {
        guard let parts = summary?.parts, !parts.isEmpty else { return kind != .digest && Subject(self) == subject }
        return parts.contains { $0.source == subject.source && $0.key == subject.key }
    }
}
