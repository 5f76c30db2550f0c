// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import VedetteConfig
import VedetteCore
import VedetteSinks

struct StatusCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status", abstract: "Show whether it works: the watcher, problems, sinks, silences and sources.",
        discussion: """
            More than \(StatusScreen.mostSources) sources are only counted: --all lists them, and a name tells all of one.

            Examples:
              vedette status --watch
              vedette status --check > /dev/null || echo "look at vedette status"
            """)

    @Argument(help: "Show everything about these sources.", completion: Completions.sources)
    var sources: [String] = []

    @Flag(help: "List everything, however much it is.")
    var all = false

    @Flag(help: "End with 1 unless a watcher runs and nothing fails, for scripts.")
    var check = false

    @Flag(help: "One JSON object a line.")
    var json = false

    @Flag(help: "Show it again whenever something changes.")
    var watch = false

    @OptionGroup var places: Paths
    @OptionGroup var colour: ColourOptions

    func validate() throws {
        if check, watch { throw ValidationError("--check and --watch exclude each other") }
        if all, !sources.isEmpty { throw ValidationError("--all and the names of sources exclude each other") }
    }

    func run() async throws {
        // Beside the configuration: with a thousand sources each takes its time. An error comes again below.
        let known = places.journalIfKnown
        let records = Task { try? await known?.reader().sourceRecords() }
        let configuration = try UserConfiguration.facts(places)
        let journal = try known ?? places.journal
        var facts = try await StatusFacts.read(journal, configuration, records: records.value)
        let names = sources.isEmpty ? [] : facts.sources.map(\.name)
        for name in sources where !names.contains(name) { throw Exit.unknown("source", name, among: names) }
        try show(facts)
        if check, !isWell(facts) { throw ExitCode(Exit.unwanted) }
        guard watch else { return }
        for await isTime in ticks(try journal.changes()) {
            // The ages of a table grow though nothing changes.
            if isTime {
                facts.now = SystemClock().now().wall
            } else {
                facts = try await StatusFacts.read(journal, configuration)
            }
            if !isTime || !json { try show(facts) }
        }
    }

    /// Of named sources their own health counts alone, beside the watcher's.
    private func isWell(_ facts: StatusFacts) -> Bool {
        guard !sources.isEmpty else { return facts.isWell }
        let isBad = facts.sources.contains { source in
            sources.contains(source.name) && [.failing, .suspect].contains(source.health)
        }
        return facts.isWatched && !isBad
    }

    private func show(_ facts: StatusFacts) throws {
        guard !json else {
            for line in facts.json(only: sources.isEmpty ? nil : Set(sources)) { try Output.print(Array(line.utf8)) }
            return
        }
        let (size, now) = (TerminalSize.current, facts.now)
        let screen = StatusScreen(
            facts: facts, palette: colour.palette, width: size?.columns, isWhole: all,
            time: { LocalTime.text($0, now: now) }, localized: { LocalTime.localized($0, now: now) })
        let lines = sources.isEmpty ? screen.lines : screen.lines(of: sources)
        if watch, let size { return try Output.redraw(lines, in: size) }
        for line in lines { try Output.print(line) }
    }

    /// Yields true when the screen is out of date by its ages, and false when the journal changed, at most four times a
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
                        try await pause(.seconds(1))
                        continuation.yield(true)
                    }
                },
            ]
            continuation.onTermination = { _ in for task in tasks { task.cancel() } }
        }
    }
}
