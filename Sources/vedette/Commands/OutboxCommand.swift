// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import VedetteConfig
import VedetteCore
import VedetteJournal
import VedetteSinks

struct OutboxCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "outbox",
        abstract: "What is owed and what is dead: list it, look at it, try it again, or drop it.",
        subcommands: [List.self, Show.self, Retry.self, Drop.self], defaultSubcommand: List.self)

    /// Which deliveries are meant.
    struct Choice: ParsableArguments {
        @Option(help: "Of one sink.")
        var sink: String?

        @Option(help: "Of one rule.")
        var rule: String?

        @Option(help: ArgumentHelp("Older than this: 30m, 2h, 3d.", valueName: "duration"))
        var olderThan: String?

        var isEmpty: Bool { sink == nil && rule == nil && olderThan == nil }

        /// Those in one of the states, in the order of their release.
        func deliveries(
            _ states: [DeliveryState], _ reader: JournalReader, at now: Timestamp
        ) async throws -> [DeliveryStatus] {
            let before = try olderThan.map { text in
                guard let age = Duration(configured: text) else {
                    throw Exit(.usage, "'\(text)' is no duration; write it as 30m, 2h or 3d")
                }
                return now.advanced(by: .zero - age)
            }
            var found: [DeliveryStatus] = []
            for state in states {
                var after: Int64 = 0
                while true {
                    let filter = DeliveryFilter(state: state, sink: sink, rule: rule)
                    let page = try await reader.deliveries(filter, after: after, limit: 1000)
                    guard let last = page.last else { break }
                    after = last.delivery.id
                    found += page.filter { status in before.map { status.delivery.created < $0 } ?? true }
                }
            }
            return found.sorted { $0.delivery.id < $1.delivery.id }
        }
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list", abstract: "Deliveries that are owed or dead, the oldest first.")

        @OptionGroup var places: Paths
        @OptionGroup var choice: Choice

        @Option(name: .short, help: "At most so many.")
        var number = 100

        @Flag(help: "One JSON object per line.")
        var json = false

        func run() async throws {
            let now = SystemClock().now().wall
            let reader = try JournalReader.open(directory: places.journal())
            let all = try await choice.deliveries([.pending, .retry, .paused, .dead], reader, at: now)
            var table = TextTable(["ID", "STATE", "SINK", "RULE", "AGE", "TRIES", "MESSAGE", "REASON"])
            for status in all.prefix(number) {
                if json { try Output.print(status.json.text) } else { table.add(status.row(at: now)) }
            }
            if !json, !all.isEmpty { for line in table.lines { try Output.print(line) } }
            if all.count > number { Output.diagnose("and \(all.count - number) more; -n \(all.count) prints them all") }
        }
    }

    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "show", abstract: "One message: what it says, about what, and what came of each attempt.")

        @OptionGroup var places: Paths
        @OptionGroup var style: Style

        @Argument(help: "Its id, as `vedette outbox` and `vedette explain` print it.")
        var id: Int64

        @Flag(help: "One JSON object.")
        var json = false

        func run() async throws {
            let reader = try JournalReader.open(directory: places.journal())
            guard id > 0, let status = try await reader.deliveries(DeliveryFilter(), after: id - 1, limit: 1).first,
                status.delivery.id == id
            else {
                throw Exit(.data, "no delivery \(id) is in the journal; `vedette outbox` lists what is owed or dead")
            }
            let attempts = try await reader.attempts(of: id)
            if json { return try Output.print(status.json(attempts).text) }
            let now = SystemClock().now().wall
            try Output.print(style.eventLine.text(status.delivery.message.event))
            for line in status.lines(attempts, at: now) { try Output.print(TerminalText.safe(line, limit: 4000)) }
        }
    }

    /// The deliveries that a command changes.
    struct Chosen: ParsableArguments {
        @OptionGroup var places: Paths
        @OptionGroup var choice: Choice

        @Argument(
            help: "Ids as `vedette outbox` prints them; none with --sink, --rule or --older-than for all of those.")
        var ids: [Int64] = []

        /// - Returns: their ids, their sinks, and when the person said it.
        func found(_ states: [DeliveryState]) async throws -> (ids: [Int64], sinks: Set<String>, now: Timestamp) {
            guard !ids.isEmpty || !choice.isEmpty else {
                throw Exit(.usage, "name deliveries by their ids, or choose them by --sink, --rule or --older-than")
            }
            let now = SystemClock().now().wall
            let reader = try JournalReader.open(directory: places.journal())
            var found = try await choice.deliveries(states, reader, at: now)
            if !ids.isEmpty {
                found.removeAll { !ids.contains($0.delivery.id) }
                let missing = Set(ids).subtracting(found.map(\.delivery.id)).sorted()
                guard missing.isEmpty else {
                    let names = missing.map(String.init).joined(separator: ", ")
                    throw Exit(.data, "no such delivery is owed: \(names); `vedette outbox` lists what is")
                }
            }
            return (found.map(\.delivery.id), Set(found.map(\.delivery.message.sink)), now)
        }
    }

    struct Retry: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "retry", abstract: "Try dead, paused and waiting deliveries again, from now.")

        @OptionGroup var chosen: Chosen

        func run() async throws {
            let (ids, sinks, now) = try await chosen.found([.dead, .paused, .retry])
            let count = try JournalEdit(directory: chosen.places.journal(), at: now).retry(ids, sinks: sinks)
            try Output.print("\(counted(count, "message")) will be tried again")
        }
    }

    struct Drop: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "drop", abstract: "Give up deliveries that are owed: they are dead, dropped by hand.")

        @OptionGroup var chosen: Chosen

        func run() async throws {
            let (ids, sinks, now) = try await chosen.found([.pending, .paused, .retry])
            let count = try JournalEdit(directory: chosen.places.journal(), at: now).drop(ids, sinks: sinks)
            try Output.print("\(counted(count, "message")) dropped")
        }
    }
}

extension DeliveryStatus {
    fileprivate func row(at now: Timestamp) -> [String] {
        let age = MessageFormatter.duration(seconds: max(0, now.seconds(since: delivery.created)))
        return [
            String(delivery.id), state.rawValue, delivery.message.sink, delivery.message.rule, age,
            String(delivery.attempts), delivery.message.title, delivery.reason ?? "",
        ]
    }

    fileprivate func lines(_ attempts: [Attempt], at now: Timestamp) -> [String] {
        let message = delivery.message
        var lines = [
            "\(delivery.id) to '\(message.sink)' by rule '\(message.rule)': \(state.rawValue)"
                + (delivery.reason.map { ", \($0)" } ?? ""),
            "title    \(message.title)",
        ]
        lines += message.text.isEmpty ? [] : ["text     \(message.text)"]
        lines += message.suppressed > 0 ? ["before   \(counted(message.suppressed, "message")) held back"] : []
        lines += ["id       \(message.id)", "created  \(delivery.created.relative(to: now))"]
        if let endedAt { lines.append("ended    \(endedAt.relative(to: now))") }
        if state.isPending, delivery.due > now { lines.append("due      \(delivery.due.relative(to: now))") }
        return lines
            + attempts.map { attempt in
                "attempt \(attempt.attempts), \(attempt.at.relative(to: now))"
                    + (attempt.reason.map { ": \($0)" } ?? "")
            }
    }

    fileprivate func json(_ attempts: [Attempt]) -> JSON {
        let more: [(String, JSON)] = [
            ("text", .string(delivery.message.text)),
            (
                "tries",
                .array(
                    attempts.map {
                        .members([
                            "number": .number($0.attempts), "at": .string($0.at.rfc3339),
                            "state": .string($0.state.rawValue), "reason": $0.reason.map(JSON.string),
                        ])
                    })
            ),
        ]
        return .object((json.members ?? []) + more.map { JSON.Member(name: $0.0, value: $0.1) })
    }

    fileprivate var json: JSON {
        .members([
            "id": .number(delivery.id), "message": .string(delivery.message.id), "state": .string(state.rawValue),
            "sink": .string(delivery.message.sink), "rule": .string(delivery.message.rule),
            "created": .string(delivery.created.rfc3339), "due": .string(delivery.due.rfc3339),
            "attempts": .number(delivery.attempts), "title": .string(delivery.message.title),
            "reason": delivery.reason.map(JSON.string), "event": .string(delivery.message.event.id.description),
        ])
    }
}
