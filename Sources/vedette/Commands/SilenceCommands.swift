// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import VedetteConfig
import VedetteCore
import VedetteSinks
import VedetteText

/// The rule, source or item of a silence.
struct SilenceSubject: ParsableArguments {
    @Option(help: "A rule.", completion: Completions.rules)
    var rule: String?

    @Option(help: "A source, or a glob: 'web-*'.", completion: Completions.sources)
    var source: String?

    @Option(help: "An item: its key or title.", completion: Completions.items)
    var item: String?

    @Option(
        name: .customLong("where"),
        help: ArgumentHelp(
            "Items whose value matches: name=prod-*, state=Failed, key=59. Several must all match.",
            valueName: "field=glob"))
    var fields: [String] = []

    @Option(help: "Only the messages to this sink.", completion: Completions.sinks)
    var sink: String?

    /// - Throws: a usage error when nothing is named, or a name is unknown.
    func silence(
        _ configuration: Configuration, _ journal: any JournalAccess, at now: Timestamp
    ) async throws -> Silence {
        guard rule != nil || source != nil || item != nil || sink != nil || !fields.isEmpty else {
            throw Exit(.usage, "name what to silence: --rule, --source, --item, --where, --sink or several of them")
        }
        let patterns = try fields.map { text in
            guard let pattern = Silence.FieldPattern(text), !text.contains(where: \.isNewline) else {
                throw Exit(.usage, "'\(text)' is no pattern; write --where 'name=prod-*'")
            }
            return pattern
        }
        if let sink, !configuration.sinks.contains(where: { $0.name == sink }) {
            throw Exit.unknown("sink", sink, among: configuration.sinks.map(\.name))
        }
        var silence = Silence(rule: rule, source: source, item: item, sink: sink, created: now)
        silence.fields = patterns
        if let source, !configuration.sources.contains(where: { silence.covers(source: $0.name) }) {
            throw Exit.unknown("source", source, among: configuration.sources.map(\.name))
        }
        if let rule { _ = try UserConfiguration.rule(rule, in: configuration) }
        let sources = sources(of: configuration, silence)
        if let item { try await check(item: item, in: sources, journal) }
        if !patterns.isEmpty { try await check(patterns, in: sources, journal) }
        return silence
    }

    /// The sources whose items a silence can be about.
    func sources(of configuration: Configuration, _ silence: Silence) -> [Source] {
        let possible = configuration.rules.first { $0.name == rule }?.when.sources
        return configuration.sources.filter {
            silence.covers(source: $0.name) && possible?.contains($0.name) != false
        }
    }

    /// Refuses fields that no item of these sources can have, and warns of values that none has now.
    private func check(
        _ patterns: [Silence.FieldPattern], in sources: [Source], _ journal: any JournalAccess
    ) async throws {
        if let problem = SilencePatterns.problem(with: patterns, fields: sources.map(\.kind.fieldNames)) {
            throw Exit(.usage, problem)
        }
        guard let reader = try await SilenceSubject.reader(journal) else { return }
        var items: [Item] = []
        for source in sources { items += try await reader.items(of: source.name).values.compactMap(\.item) }
        if let warning = SilencePatterns.warning(about: patterns, among: items) {
            Output.diagnose("warning: \(warning)")
        }
    }

    /// Refuses an item that no snapshot of these sources has or had lately.
    private func check(item: String, in sources: [Source], _ journal: any JournalAccess) async throws {
        guard let reader = try await SilenceSubject.reader(journal) else { return }
        var known: [String] = []
        for source in sources {
            for stored in try await reader.items(of: source.name).values {
                let names = [stored.key] + (stored.item?.title.map { [$0] } ?? [])
                if names.contains(item) { return }
                known += names
            }
        }
        guard !known.isEmpty else {
            return Output.diagnose("no item is known yet, so that \(quoted(item)) was not checked")
        }
        let remedy = didYouMean(item, among: known) ?? "; `vedette list SOURCE` prints the keys"
        throw Exit(.usage, "there is no item \(quoted(item))\(remedy)")
    }

    /// Opens the journal; nil where there is none yet.
    static func reader(_ journal: any JournalAccess) async throws -> (any JournalReader)? {
        do throws(JournalError) {
            return try await journal.reader()
        } catch {
            if error.reason == .missing { return nil }
            throw error
        }
    }
}

struct SnoozeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "snooze", abstract: "Suppress the messages of a rule, source, item or sink for a while.",
        discussion: """
            All named options must match. A running watcher applies it within a second. What was suppressed and is still so \
            at the end is told then in one message, unless --drop is given.

            Examples:
              vedette snooze --source lab-systems --for 2h
              vedette snooze --source lab-systems --item 59 --until "Ready for use"
              vedette snooze --where 'name=prod-*' --from 22:00 --until 23:30
            """)

    @OptionGroup var subject: SilenceSubject

    @Option(name: .customLong("for"), help: ArgumentHelp("How long: 30m, 1h, 2d.", valueName: "duration"))
    var duration: String?

    @Option(
        help: ArgumentHelp(
            "When it begins, as a local time or day; else at once. --for counts from then.", valueName: "time"))
    var from: String?

    @Option(
        help: ArgumentHelp(
            "Until a local time or day (07:00, tomorrow, 2026-11-22 07:00), or until the item has this state.",
            valueName: "time or state"))
    var until: String?

    @Flag(help: "Do not send at the end what is still true.")
    var drop = false

    @OptionGroup var places: Paths

    func run() async throws {
        let now = SystemClock().now().wall
        let configuration = try UserConfiguration.readable(places)
        var silence = try await subject.silence(configuration, places.journal, at: now)
        silence.drops = drop
        silence.from = try from.map { text in
            guard let time = try SnoozeCommand.time(text, now: now) else {
                throw Exit(.usage, "'\(text)' is no time; write --from 07:00, 'tomorrow 07:00' or '2026-11-22 07:00'")
            }
            return time
        }
        let begin = silence.from ?? now
        switch (duration, until) {
        case (let duration?, nil):
            guard let length = Duration(configured: duration), length > .zero else {
                throw Exit(.usage, "'\(duration)' is not a duration; write it as 30m, 1h or 2d")
            }
            silence.until = begin.advanced(by: length)
        case (nil, let until?):
            let sources = subject.sources(of: configuration, silence)
            let seen = try await states(of: sources)
            let isState =
                SnoozeCommand.isState(until, seen: seen)
                || sources.contains { $0.kind.stateNames?.contains(until) == true }
            silence.until = try SnoozeCommand.time(until, now: now, from: silence.from, isState: isState)
            if silence.until == nil {
                if let problem = AwaitedState.problem(with: until, in: sources) { throw Exit(.usage, problem) }
                if AwaitedState.isUnseen(until, in: sources, seen: seen) {
                    Output.diagnose(AwaitedState.warning(about: until, didYouMean(until, among: seen)))
                }
                silence.untilState = until
            }
        case (nil, nil): silence.until = begin.advanced(by: Silence.usualLength)
        case (_?, _?): throw Exit(.usage, "--for and --until exclude each other")
        }
        try await silence.keep(in: places.journal)
    }

    /// Returns the time of `--until`; nil when it is a state.
    /// - Parameters:
    ///   - from: when the silence begins; nil for at once.
    ///   - isState: whether a text that only resembles a time is a state that there is.
    /// - Throws: for a time in the past or before `from`, and for a text that was meant as a time.
    static func time(
        _ text: String, now: Timestamp, from: Timestamp? = nil, isState: Bool = false,
        _ reader: LocalTimeReader = LocalTimeReader()
    ) throws -> Timestamp? {
        // A day is named as a person sees it today: of a silence from Saturday 02:00, Saturday 04:00 is not the one in a week.
        let soon = reader.time(text, now: now).flatMap { time in from.map { time > $0 } ?? true ? time : nil }
        guard let time = soon ?? reader.time(text, now: from ?? now) else {
            guard !isState, LocalTimeReader.resemblesTime(text) else { return nil }
            let remedy =
                Duration(configured: text) == nil
                ? "write a local time as 07:00, 'tomorrow 07:00', 2026-11-22 or '2026-11-22 07:00', with a zone as '07:00 Europe/Vienna', or how long with --for 2h"
                : "write how long with --for \(text)"
            throw Exit(.usage, "'\(text)' is no time; \(remedy)")
        }
        guard time > from ?? now else {
            throw Exit(
                .usage,
                "'\(text)' is \(LocalTime.text(time, now: now)), which is \(from == nil ? "in the past" : "not after --from"); write a later time"
            )
        }
        return time
    }

    /// Returns whether items have the state, or have numbers as states where the text is one.
    static func isState(_ text: String, seen: Set<String>) -> Bool {
        func isNumber(_ text: String) -> Bool { !text.isEmpty && text.allSatisfy(\.isNumber) }
        return seen.contains(text) || (isNumber(text) && seen.contains(where: isNumber))
    }

    /// Returns the states that items of these sources have now.
    private func states(of sources: [Source]) async throws -> Set<String> {
        guard let reader = try await SilenceSubject.reader(places.journal) else { return [] }
        let wanted = Set(sources.map(\.name))
        return Set(
            try await reader.sourceRecords().filter { wanted.contains($0.name) }
                .flatMap { $0.snapshot?.states.keys.map { $0 } ?? [] })
    }
}

struct MuteCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "mute",
        abstract: "Suppress the messages of a rule, source, item or sink until `vedette silences end`.",
        discussion: """
            Examples:
              vedette mute --rule ready
              vedette mute --source lab-systems --item "Nightly build cell-1"
            """)

    @OptionGroup var subject: SilenceSubject

    @OptionGroup var places: Paths

    func run() async throws {
        let now = SystemClock().now().wall
        let configuration = try UserConfiguration.readable(places)
        try await subject.silence(configuration, places.journal, at: now).keep(in: places.journal)
    }
}

extension Silence {
    fileprivate func keep(in journal: any JournalAccess) async throws {
        let number = try await journal.add(self)
        let end = until == nil && untilState == nil ? ", until `vedette silences end \(number)`" : ""
        try Output.print("silence \(number): \(LocalTime.localized(description, now: created))\(end)")
    }
}

struct SilencesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "silences", abstract: "List silences, or end them.",
        discussion: """
            Examples:
              vedette silences
              vedette silences end 3
            """, subcommands: [List.self, End.self],
        defaultSubcommand: List.self)

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list", abstract: "List silences with their ends.")

        @Flag(help: "One JSON object per line.")
        var json = false

        @OptionGroup var places: Paths

        func run() async throws {
            let now = SystemClock().now().wall
            let reader = try await places.journal.reader()
            let silences = try await reader.silences().filter { !$0.isOver(at: now) }
            if silences.isEmpty { Output.diagnose("no silence is set") }
            for silence in silences {
                try Output.print(
                    json ? silence.json.text : "\(silence.id)  \(LocalTime.localized(silence.description, now: now))")
            }
        }
    }

    struct End: AsyncParsableCommand {
        static let configuration = CommandConfiguration(commandName: "end", abstract: "End silences by their numbers.")

        @Argument(help: "Numbers as `vedette silences` prints them.")
        var numbers: [Int64]

        @OptionGroup var places: Paths

        func run() async throws {
            let journal = try places.journal
            let known = Set(try await journal.reader().silences().map(\.id))
            let unknown = numbers.filter { !known.contains($0) }
            let count = try await journal.endSilences(numbers, at: SystemClock().now().wall)
            if count > 0 { try Output.print("ended \(counted(count, "silence"))") }
            guard unknown.isEmpty else {
                let names = unknown.map(String.init).joined(separator: " or ")
                throw Exit(.data, "no silence has the number \(names); `vedette silences` lists them")
            }
        }
    }
}
