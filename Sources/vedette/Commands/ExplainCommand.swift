// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import VedetteConfig
import VedetteCore
import VedetteSinks
import VedetteText

struct ExplainCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "explain",
        abstract: "Explain why an event led to a message or not: every rule, every gate, every attempt.",
        discussion: """
            It applies the rules of the current files, and shows the deliveries that were made.

            A message about several events, such as a digest, is found by the id that its sink got.

            With --now, a rule and an item: what each sink was told of the item, what is true now, and what would happen \
            now, or what is waited for.

            Examples:
              vedette explain 171
              vedette explain --now hosts-down web-3
              vedette tail -n 1 --no-follow --json | jq -r .id | xargs vedette explain
            """)

    @Argument(
        help:
            "The event: its id, the beginning of its id, or its seq, as `vedette tail --json` prints them. With --now a rule."
    )
    var event: String

    @Argument(help: "With --now: an item, by its key or title, or a source.", completion: Completions.items)
    var key: String?

    @Flag(name: .customLong("now"), help: "Tell what would happen now about an item of a rule.")
    var isAboutNow = false

    @Option(help: "With --now: the source, where items of several have the key.", completion: Completions.sources)
    var source: String?

    @OptionGroup var places: Paths
    @OptionGroup var colour: ColourOptions

    func validate() throws {
        guard isAboutNow == (key != nil) else {
            throw ValidationError("write 'explain EVENT' or 'explain --now RULE KEY'")
        }
        guard isAboutNow || source == nil else { throw ValidationError("'--source' is for '--now'") }
    }

    func run() async throws {
        let configuration = try UserConfiguration.readable(places)
        if isAboutNow, let key {
            let rule = try UserConfiguration.rule(event, in: configuration)
            return try await explainNow(rule, key, configuration, try await places.journal.reader())
        }
        let reader = try await places.journal.reader()
        let rules = RuleSet(configuration.rules)
        guard let event = try await found(reader) else {
            return try await explainMessage(try await foundMessage(reader), rules, reader)
        }
        try Output.printSentence(colour.palette.line(of: event), hanging: 2)
        let deliveries = try await reader.deliveries(DeliveryFilter(event: event.seq), after: 0, limit: 1000)
        let memories = try await reader.ruleMemories().filter {
            $0.concerns(event)
        }
        let now = SystemClock().now().wall
        for evaluation in rules.evaluateAll(event) {
            let rule = evaluation.rule
            try printLine("\(rule.name): \(ExplainCommand.words(evaluation.result))")
            let kept = memories.filter { $0.key.rule == rule.name }
            let made = deliveries.filter { $0.delivery.message.rule == rule.name }
            for line in kept.compactMap({ $0.waitingLine(of: rule, at: now) }) { try printLine(line, 4) }
            for status in made { try await show(status, reader) }
            if kept.isEmpty, let last = made.last, last.state == .suppressed {
                try await showGathered(event, rule, after: last, reader)
            }
            if evaluation.result == .matched, kept.isEmpty, made.isEmpty { try simulate(event, rule) }
        }
        for status in deliveries where rules.rule(named: status.delivery.message.rule) == nil {
            try Output.print("\(status.delivery.message.rule): this rule is no longer configured")
            try await show(status, reader)
        }
    }

    /// Shows the message that tells the event with others: a digest, or what a gate held back.
    private func showGathered(
        _ event: Event, _ rule: Rule, after made: DeliveryStatus, _ reader: any JournalReader
    ) async throws {
        let filter = DeliveryFilter(rule: rule.name, event: 0)
        var last = made.delivery.id
        while true {
            let page = try await reader.deliveries(filter, after: last, limit: 1000)
            guard let end = page.last else { return }
            guard let first = page.first(where: { $0.delivery.message.event.gathers(event) }) else {
                last = end.delivery.id
                continue
            }
            let message = first.delivery.message.event
            try Output.print("    gathered into one message:")
            for line in MessageText.lines(of: message) {
                try printLine(line, 8)
            }
            // One delivery for each sink; another page may have begun between them.
            for status in try await reader.deliveries(filter, after: first.delivery.id - 1, limit: 1000)
            where status.delivery.message.event.id == message.id {
                try await show(status, reader)
            }
            return
        }
    }

    /// Shows what the rule would do with the event alone. It may be newer than the event.
    private func simulate(_ event: Event, _ rule: Rule) throws {
        try Output.print("    no message about it is stored; today's rule alone would do this:")
        var simulation = RuleSimulation(RuleSet([rule]), civil: ZoneTime())
        for delivery in simulation.evaluate(event) {
            let reason = LocalTime.localized(delivery.reason ?? "", now: event.time)
            let end = delivery.state == .suppressed ? " (suppressed: \(reason))" : ""
            try printLine("→ \(delivery.message.sink): \(delivery.message.title)\(end)", 4)
        }
        for memory in simulation.memories {
            if let line = memory.waitingLine(of: rule, at: event.time) { try printLine(line, 4) }
        }
    }

    // MARK: Messages whose event is not stored

    /// Explains a message that a rule made of several events, or at a time: what it is about, and its deliveries.
    /// - Parameter made: its deliveries, one for each sink.
    private func explainMessage(
        _ made: [DeliveryStatus], _ rules: RuleSet, _ reader: any JournalReader
    ) async throws {
        guard let message = made.first?.delivery.message else { return }
        try Output.printSentence(colour.palette.line(of: message.event), hanging: 2)
        let isConfigured = rules.rule(named: message.rule) != nil
        try Output.print("\(message.rule): \(isConfigured ? "made this message" : "this rule is no longer configured")")
        if let summary = message.event.summary, !summary.subjects.isEmpty {
            try Output.print("    about \(counted(summary.count, "event")):")
            for subject in summary.subjects {
                let stored = try await reader.events(matching: subject.event).first
                let line = stored.map { StyledText("\($0.seq)  ") + colour.palette.line(of: $0) }
                try Output.printSentence(
                    StyledText("        ") + (line ?? StyledText(subject.text, limit: 500)), hanging: 10)
            }
            let more = summary.count - summary.subjects.count
            if more > 0 { try Output.print("        and \(more) more") }
        }
        for status in made { try await show(status, reader) }
    }

    /// Finds the event in the journal; nil when there is none.
    private func found(_ reader: any JournalReader) async throws -> Event? {
        let events = try await reader.events(matching: event)
        if events.count > 1 { throw ambiguous(events.map(\.id)) }
        return events.first
    }

    /// Finds the deliveries of a message by the id of its event, or the beginning of that id.
    private func foundMessage(_ reader: any JournalReader) async throws -> [DeliveryStatus] {
        let found = Dictionary(grouping: try await reader.deliveries(ofMessage: event)) { $0.delivery.message.event.id }
        guard found.count < 2 else { throw ambiguous(found.keys.sorted { $0.description < $1.description }) }
        guard let message = found.values.first else {
            throw Exit(.data, "no event '\(event)' is in the journal; `vedette tail --json` prints their ids")
        }
        return message
    }

    private func ambiguous(_ ids: [Identifier]) -> Exit {
        let ids = ids.prefix(10).map(\.description).joined(separator: ", ")
        return Exit(.data, "'\(event)' is the beginning of several ids: \(ids)")
    }

    private static func words(_ answer: RuleSet.Evaluation.Result) -> String {
        switch answer {
        case .matched: "matches"
        case .unmatched(let reason): "does not match: \(reason)"
        case .stopped(let rule): "not evaluated: '\(rule)' matches and stops the list"
        case .failed(let detail): "failed to evaluate: \(detail)"
        }
    }

    private func show(_ status: DeliveryStatus, _ reader: any JournalReader) async throws {
        let (delivery, now) = (status.delivery, SystemClock().now().wall)
        try printLine("→ \(delivery.message.sink): \(DeliverySentence(status, now: now).outcome)", 4)
        for attempt in try await reader.attempts(of: delivery.id) {
            let reason = attempt.reason.map { ": \($0)" } ?? ""
            try printLine("attempt \(attempt.attempts) at \(LocalTime.text(attempt.at, now: now))\(reason)", 8)
        }
    }

    func printLine(_ line: String, _ indent: Int = 0) throws {
        try Output.print(WrappedText.hanging(line, indent: indent, width: TerminalSize.current?.columns))
    }
}

extension Event {
    /// Whether this is a message about several events, and the event is one of them.
    fileprivate func gathers(_ event: Event) -> Bool {
        guard kind == .digest, let summary else { return false }
        let id = event.id.description
        return summary.events.contains(id) || summary.parts.contains { $0.event == id }
    }
}
