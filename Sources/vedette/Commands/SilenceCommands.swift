// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import VedetteConfig
import VedetteCore

/// The rule, source or item of a silence.
struct SilenceSubject: ParsableArguments {
    @Option(help: "A rule.")
    var rule: String?

    @Option(help: "A source.")
    var source: String?

    @Option(help: "An item: its key or title.")
    var item: String?

    @Option(help: "Only the messages to this sink.")
    var sink: String?

    /// - Throws: a usage error when nothing is named, or a name is unknown.
    func silence(_ configuration: Configuration, at now: Timestamp) throws -> Silence {
        guard rule != nil || source != nil || item != nil || sink != nil else {
            throw Exit(.usage, "name what to silence: --rule, --source, --item, --sink or several of them")
        }
        if let sink, !configuration.sinks.contains(where: { $0.name == sink }) {
            let guess = suggestion(for: sink, among: configuration.sinks.map(\.name))
            throw Exit(.usage, "no sink is called '\(sink)'" + (guess.map { "; did you mean '\($0)'?" } ?? ""))
        }
        if let source { _ = try KindRegistry.source(source, in: configuration) }
        if let rule, !configuration.rules.contains(where: { $0.name == rule }) {
            let guess = suggestion(for: rule, among: configuration.rules.map(\.name))
            throw Exit(.usage, "no rule is called '\(rule)'" + (guess.map { "; did you mean '\($0)'?" } ?? ""))
        }
        return Silence(rule: rule, source: source, item: item, sink: sink, created: now)
    }
}

struct SnoozeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "snooze", abstract: "Suppress the messages of a rule, source, item or sink for a while.",
        discussion: """
            All named options must match. A running watcher applies it within a second. What was suppressed and is still so at
            the end is told then in one message, unless --drop is given.
            """)

    @OptionGroup var places: Paths
    @OptionGroup var subject: SilenceSubject

    @Option(name: .customLong("for"), help: ArgumentHelp("How long: 30m, 1h, 2d.", valueName: "duration"))
    var duration: String?

    @Option(
        help: ArgumentHelp("Until a time (RFC 3339), or until the item has this state.", valueName: "time or state"))
    var until: String?

    @Flag(help: "Do not tell at the end what is still so.")
    var drop = false

    func run() async throws {
        let now = SystemClock().now().wall
        var silence = try subject.silence(try KindRegistry.configuration(places), at: now)
        silence.drops = drop
        switch (duration, until) {
        case (let duration?, nil):
            guard let length = Duration(configured: duration), length > .zero else {
                throw Exit(.usage, "'\(duration)' is not a duration; write it as 30m, 1h or 2d")
            }
            silence.until = now.advanced(by: length)
        case (nil, let until?):
            silence.until = Timestamp(rfc3339: until)
            if silence.until == nil { silence.untilState = until }
        case (nil, nil): silence.until = now.advanced(by: .seconds(3600))
        case (_?, _?): throw Exit(.usage, "--for and --until exclude each other")
        }
        try await silence.keep(in: places.journal)
    }
}

struct MuteCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "mute",
        abstract: "Suppress the messages of a rule, source, item or sink until `vedette silences end`.")

    @OptionGroup var places: Paths
    @OptionGroup var subject: SilenceSubject

    func run() async throws {
        let now = SystemClock().now().wall
        try await subject.silence(try KindRegistry.configuration(places), at: now).keep(in: places.journal)
    }
}

extension Silence {
    fileprivate func keep(in journal: any JournalAccess) async throws {
        let number = try await journal.add(self)
        try Output.print("silence \(number): \(description)")
    }
}

struct SilencesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "silences", abstract: "List silences, or end them.", subcommands: [List.self, End.self],
        defaultSubcommand: List.self)

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list", abstract: "List silences with their ends.")

        @OptionGroup var places: Paths

        @Flag(help: "One JSON object per line.")
        var json = false

        func run() async throws {
            let now = SystemClock().now().wall
            let reader = try await places.journal.reader()
            for silence in try await reader.silences() where !silence.isOver(at: now) {
                try Output.print(json ? silence.json.text : "\(silence.id)  \(silence.description)")
            }
        }
    }

    struct End: AsyncParsableCommand {
        static let configuration = CommandConfiguration(commandName: "end", abstract: "End silences by their numbers.")

        @OptionGroup var places: Paths

        @Argument(help: "Numbers as `vedette silences` prints them.")
        var numbers: [Int64]

        func run() async throws {
            let count = try await places.journal.endSilences(numbers, at: SystemClock().now().wall)
            guard count > 0 else { throw Exit(.data, "no silence has that number; `vedette silences` lists them") }
            try Output.print("ended \(counted(count, "silence"))")
        }
    }
}

extension Silence {
    fileprivate var json: JSON {
        .members([
            "id": .number(id), "rule": rule.map(JSON.string), "source": source.map(JSON.string),
            "item": item.map(JSON.string), "until": until.map { .string($0.rfc3339) },
            "until_state": untilState.map(JSON.string), "sink": sink.map(JSON.string),
            "drops": drops ? .bool(true) : nil, "created": .string(created.rfc3339),
        ])
    }
}
