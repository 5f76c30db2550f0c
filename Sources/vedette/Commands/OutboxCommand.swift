// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import VedetteConfig
import VedetteCore
import VedetteSinks

struct OutboxCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "outbox",
        abstract: "List pending and dead messages, show one, retry it, drop it, or clear dead ones.",
        discussion: """
            Examples:
              vedette outbox
              vedette outbox retry --sink team-chat
              vedette outbox clear --all
            """,
        subcommands: [List.self, Show.self, Retry.self, Drop.self, Clear.self], defaultSubcommand: List.self)

    /// Selects deliveries.
    struct Choice: ParsableArguments {
        @Option(help: "Of one sink.", completion: Completions.sinks)
        var sink: String?

        @Option(help: "Of one rule.", completion: Completions.rules)
        var rule: String?

        @Option(help: ArgumentHelp("Older than this: 30m, 2h, 3d.", valueName: "duration"))
        var olderThan: String?

        var isEmpty: Bool { sink == nil && rule == nil && olderThan == nil }

        func filter(at now: Timestamp) throws -> DeliveryFilter {
            let before = try olderThan.map { text in
                guard let age = Duration(configured: text) else {
                    throw Exit(.usage, "'\(text)' is not a duration; write it as 30m, 2h or 3d")
                }
                return now.advanced(by: .zero - age)
            }
            return DeliveryFilter(.unsent, sink: sink, rule: rule, before: before)
        }

        /// Refuses a name that is neither configured nor in the journal, where messages stay when their sink or rule is removed.
        /// Without a configuration here, every name is accepted.
        func checkNames(_ places: Paths, _ reader: any JournalReader) async throws {
            let names = UserConfiguration.loader(places).names()
            let wanted = [
                ("sink", sink, names.sinks, DeliveryFilter(sink: sink)),
                ("rule", rule, names.rules, DeliveryFilter(rule: rule)),
            ]
            for (noun, name, known, filter) in wanted {
                guard let name, !known.isEmpty, !known.contains(name) else { continue }
                guard try await reader.deliveries(filter, after: 0, limit: 1).isEmpty else { continue }
                throw Exit.unknown(noun, name, among: known)
            }
        }
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list", abstract: "List pending and dead deliveries, the oldest first.")

        @OptionGroup var choice: Choice

        @Option(name: .short, help: "How many at most.")
        var number = 100

        @Flag(help: "One JSON object per line.")
        var json = false

        @OptionGroup var places: Paths
        @OptionGroup var colour: ColourOptions

        func validate() throws {
            if number < 1 { throw ValidationError("-n takes a number from 1") }
        }

        func run() async throws {
            let now = SystemClock().now().wall
            let reader = try await places.journal.reader()
            let screen = OutboxScreen(
                palette: colour.palette, width: TerminalSize.current?.columns, now: now,
                localized: { LocalTime.localized($0, now: now) })
            // A queue may hold 250,000: each page is a table with columns of its own.
            var left = number
            for try await page in reader.allDeliveries(try choice.filter(at: now), page: min(number, 1000)) {
                let shown = Array(page.prefix(left))
                if json {
                    for status in shown { try Output.print(status.json.text) }
                } else if !shown.isEmpty {
                    for line in screen.lines(shown) { try Output.print(line) }
                }
                left -= shown.count
                guard shown.count == page.count else {
                    Output.diagnose("there are more; -n \(number * 10) prints up to \(number * 10)")
                    break
                }
            }
            if left == number {
                try await choice.checkNames(places, reader)
                Output.diagnose("no message is \(choice.isEmpty ? "" : "selected that is ")pending or dead")
            }
        }
    }

    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "show", abstract: "Show one message: its text, its event, and the outcome of each attempt.")

        @Argument(help: "Its id, as `vedette outbox` and `vedette explain` print it.")
        var id: Int64

        @Flag(help: "One JSON object.")
        var json = false

        @OptionGroup var places: Paths
        @OptionGroup var colour: ColourOptions

        func run() async throws {
            let reader = try await places.journal.reader()
            guard id > 0, let status = try await reader.deliveries(DeliveryFilter(), after: id - 1, limit: 1).first,
                status.delivery.id == id
            else {
                throw Exit(
                    .data, "no delivery \(id) is in the journal; `vedette outbox` lists the pending and dead ones")
            }
            let attempts = try await reader.attempts(of: id)
            if json { return try Output.print(status.json(attempts).text) }
            let now = SystemClock().now().wall
            try Output.printSentence(colour.palette.line(of: status.delivery.message.event), hanging: 2)
            for line in status.lines(attempts, at: now) {
                try Output.printSentence(StyledText(line, limit: 4000), hanging: 9)
            }
        }
    }

    /// The deliveries that a command changes.
    struct Chosen: ParsableArguments {
        @OptionGroup var choice: Choice

        @Argument(
            help: "Ids as `vedette outbox` prints them; none with --sink, --rule or --older-than for all of those.")
        var ids: [Int64] = []

        @Flag(help: "All of them.")
        var all = false

        @OptionGroup var places: Paths

        /// Returns the selected deliveries.
        /// - Parameter states: those in which a delivery named by its id must be.
        func selection(_ states: Set<DeliveryState>, at now: Timestamp) async throws -> DeliverySelection {
            guard !ids.isEmpty || !choice.isEmpty || all else {
                throw Exit(
                    .usage, "name messages by their ids, choose them by --sink, --rule or --older-than, or take --all")
            }
            guard !all || (ids.isEmpty && choice.isEmpty) else {
                throw Exit(.usage, "--all excludes ids, --sink, --rule and --older-than")
            }
            let filter = try choice.filter(at: now)
            let reader = try await places.journal.reader()
            try await choice.checkNames(places, reader)
            guard !ids.isEmpty else { return .all(filter) }
            for id in ids {
                guard id > 0, let found = try await reader.deliveries(filter, after: id - 1, limit: 1).first,
                    found.delivery.id == id
                else {
                    throw Exit(.data, "no pending or dead message \(id) is selected; `vedette outbox` lists them")
                }
                guard states.contains(found.state) else {
                    let words = states.map(\.rawValue).sorted().joined(separator: " or ")
                    throw Exit(.data, "message \(id) is \(found.state.rawValue), not \(words)")
                }
            }
            return .ids(ids)
        }
    }

    struct Retry: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "retry", abstract: "Deliver dead, paused and retrying messages again, from now.",
            discussion: "With --sink alone a paused sink takes messages again, also when none is pending.")

        @OptionGroup var chosen: Chosen

        func run() async throws {
            let now = SystemClock().now().wall
            let selection = try await chosen.selection([.dead, .paused, .retry], at: now)
            let journal = try chosen.places.journal
            let stopped = try await journal.reader().stoppedSinks()
            let count = try await journal.retry(selection, at: now)
            try Output.print("\(counted(count, "message")) will be tried again")
            if let sink = stopped.first(where: { $0.sink == selection.wholeSink && $0.kind != .failing }) {
                try Output.print("the sink '\(sink.sink)', which is \(sink.kind.word), takes messages again")
            }
        }
    }

    struct Drop: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "drop", abstract: "Drop pending messages: they are dead, with the reason 'dropped by hand'.")

        @OptionGroup var chosen: Chosen

        func run() async throws {
            let now = SystemClock().now().wall
            let selection = try await chosen.selection([.pending, .paused, .retry], at: now)
            let count = try await chosen.places.journal.drop(selection, at: now)
            try Output.print("\(counted(count, "message")) dropped")
        }
    }

    struct Clear: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "clear", abstract: "Delete dead messages for good; `vedette status` no longer counts them.")

        @OptionGroup var chosen: Chosen

        func run() async throws {
            let now = SystemClock().now().wall
            let selection = try await chosen.selection([.dead], at: now)
            let count = try await chosen.places.journal.clear(selection, at: now)
            try Output.print("\(counted(count, "dead message")) cleared")
        }
    }
}

extension DeliveryStatus {
    fileprivate func lines(_ attempts: [Attempt], at now: Timestamp) -> [String] {
        let message = delivery.message
        var lines = [
            "\(delivery.id) to '\(message.sink)' by rule '\(message.rule)': \(state.rawValue)"
                + (delivery.reason.map { ", \(LocalTime.localized($0, now: now))" } ?? ""),
            "title    \(message.title)",
        ]
        lines += message.text.isEmpty ? [] : ["text     \(message.text)"]
        lines += message.suppressed > 0 ? ["before   \(counted(message.suppressed, "message")) suppressed"] : []
        lines += ["id       \(message.id)", "created  \(delivery.created.relative(to: now))"]
        if let endedAt { lines.append("ended    \(endedAt.relative(to: now))") }
        if state.isPending, delivery.due > now { lines.append("due      \(delivery.due.relative(to: now))") }
        return lines
            + attempts.map { attempt in
                "attempt \(attempt.attempts), \(attempt.at.relative(to: now))"
                    + (attempt.reason.map { ": \(LocalTime.localized($0, now: now))" } ?? "")
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
}
