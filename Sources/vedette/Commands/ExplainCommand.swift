// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import VedetteConfig
import VedetteCore
import VedetteSinks

struct ExplainCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "explain",
        abstract: "Explain why an event led to a message or not: every rule, every gate, every attempt.",
        discussion: "The rules are those of the current files; the deliveries are those that were made.")

    @OptionGroup var places: Paths
    @OptionGroup var colour: ColourOptions

    @Argument(help: "The event: its id, the beginning of its id, or its seq, as `vedette tail --json` prints them.")
    var event: String

    func run() async throws {
        let configuration = try KindRegistry.configuration(places)
        let reader = try await places.journal.reader()
        let event = try await found(reader)
        try Output.print(colour.palette.line(of: event))
        let deliveries = try await reader.deliveries(DeliveryFilter(event: event.seq), after: 0, limit: 1000)
        let memories = try await reader.ruleMemories().filter {
            $0.event?.id == event.id || $0.events.contains(event.id.description)
        }
        for evaluation in RuleSet(configuration.rules).evaluateAll(event) {
            try Output.print("\(evaluation.rule.name): \(ExplainCommand.words(evaluation.result))")
            for memory in memories where memory.key.rule == evaluation.rule.name {
                try Output.print("    \(memory.words)")
            }
            for status in deliveries where status.delivery.message.rule == evaluation.rule.name {
                try await show(status, reader)
            }
        }
        let known = Set(configuration.rules.map(\.name))
        for status in deliveries where !known.contains(status.delivery.message.rule) {
            try Output.print("\(status.delivery.message.rule): this rule is no longer configured")
            try await show(status, reader)
        }
    }

    private func found(_ reader: any JournalReader) async throws -> Event {
        let events = try await reader.events(matching: event)
        if events.count == 1 { return events[0] }
        guard !events.isEmpty else {
            throw Exit(.data, "no event '\(event)' is in the journal; `vedette tail --json` prints their ids")
        }
        let ids = events.map(\.id.description).joined(separator: ", ")
        throw Exit(.data, "'\(event)' is the beginning of several ids: \(ids)")
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
        var line = "    → \(delivery.message.sink): \(status.state.rawValue)"
        switch status.state {
        case .sent, .dead, .suppressed: line += status.endedAt.map { " \($0.relative(to: now))" } ?? ""
        case .retry, .pending: line += delivery.due > now ? ", due \(delivery.due.relative(to: now))" : ""
        case .paused: break
        }
        if let reason = delivery.reason { line += ": \(reason)" }
        try Output.print(TerminalText.safe(line, limit: 1000))
        for attempt in try await reader.attempts(of: delivery.id) {
            let reason = attempt.reason.map { ": \($0)" } ?? ""
            try Output.print(
                TerminalText.safe(
                    "        attempt \(attempt.attempts), \(attempt.at.relative(to: now))\(reason)", limit: 1000))
        }
    }
}

extension RuleMemory {
    /// Describes what the rule waits for.
    fileprivate var words: String {
        let time = due.map { LocalTime.text($0, now: SystemClock().now().wall) } ?? "its time"
        return switch key.slot {
        case .pending: "held until \(time), and a good poll after it"
        case .deferred: "deferred until \(time)"
        case .digest: "in the digest of \(time), with \(counted(count, "event"))"
        case .limit: "counted by its limit until \(time)"
        case .limited: "suppressed by its limit; the last one follows"
        case .silenced: "silenced; told at the end if it is still so"
        case .blocked: "told when the source that it depends on is back, if it is still so"
        case .grouped, .outage: "told with the others of its server at \(time)"
        case .told: "\(lines.first ?? "") was told last"
        case .once: "sent once"
        case .active: "sent; repeated at \(time) if the state lasts"
        case .failed: "failed: \(lines.first ?? "")"
        }
    }
}
