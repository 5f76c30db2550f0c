// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import VedetteConfig
import VedetteCore
import VedetteSinks
import VedetteText

struct TailCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tail", abstract: "Print the last events, then each new one as it is committed.",
        discussion: """
            It reads the journal beside a running watcher, survives its restarts, and waits where there is none yet.

            Examples:
              vedette tail --source lab-systems --since 1h
              vedette tail --json | jq -r .data.item.title
            """)

    @Option(name: .shortAndLong, help: ArgumentHelp("Events of the past to begin with.", valueName: "count"))
    var number = 20

    @Flag(name: .customLong("no-follow"), help: "Print the stored events and end.")
    var noFollow = false

    @Option(help: ArgumentHelp("Only events younger than this, all of them: 1h, 7d.", valueName: "duration"))
    var since: String?

    @Option(help: "Only events of this source.", completion: Completions.sources)
    var source: String?

    @Option(help: "Only events that this rule matched.", completion: Completions.rules)
    var rule: String?

    @Flag(help: "NDJSON, one CloudEvents object a line.")
    var json = false

    @Option(help: "Print each event by this template, for example '{{item.title}}: {{change.to}}'.")
    var template: String?

    @OptionGroup var places: Paths
    @OptionGroup var colour: ColourOptions

    func validate() throws {
        if number < 0 { throw ValidationError("-n takes a number from 0") }
        if json, template != nil { throw ValidationError("--json and --template exclude each other") }
    }

    func run() async throws {
        let printer = try EventPrinter(json: json, template: template, colour: colour)
        try await checkNames()
        let filter = EventFilter(source: source, rule: rule, since: try age())
        let last = try await printPast(filter, with: printer)
        if noFollow { return }
        Output.endWhenUnread()
        let news = EventFilter(source: source, rule: rule)
        for try await batch in JournalFollower(places.journal, after: last, news) {
            for event in batch { try printer.print(event) }
        }
    }

    /// Refuses a source or rule that is neither configured nor named by an event of the journal, since nothing would ever be
    /// printed. Without a configuration here, every name is accepted.
    private func checkNames() async throws {
        let names = KindRegistry.loader(places).names()
        guard !names.sources.isEmpty else { return }
        let reader = try? await places.journal.reader()
        let sources = names.sources.union(names.sinks).union([Event.watcher])
        let wanted = [
            ("source", source, sources, EventFilter(source: source)),
            ("rule", rule, names.rules, EventFilter(rule: rule)),
        ]
        for (noun, name, known, filter) in wanted {
            guard let name, !known.contains(name) else { continue }
            if let reader, try await !reader.lastEvents(1, filter).isEmpty { continue }
            let guess = suggestion(for: name, among: known).map { "; did you mean '\($0)'?" } ?? ""
            throw Exit(.usage, "there is no \(noun) '\(name)'\(guess)")
        }
    }

    private func age() throws -> Timestamp? {
        guard let since else { return nil }
        guard let age = Duration(configured: since) else {
            throw Exit(.usage, "'\(since)' is not a duration; write it as 90s, 30m, 1h or 7d")
        }
        return SystemClock().now().wall.advanced(by: .zero - age)
    }

    /// Prints the events that are there.
    /// - Returns: the seq after which to follow.
    private func printPast(_ filter: EventFilter, with printer: EventPrinter) async throws -> Int64 {
        guard let reader = try await openJournal() else { return 0 }
        // The seq first: an event that is committed meanwhile belongs to the past or to the new, never to neither.
        let last = try await reader.lastSeq()
        if filter.since == nil {
            for event in try await reader.lastEvents(number, filter) where event.seq <= last {
                try printer.print(event)
            }
        } else {
            for try await page in reader.allEvents(filter) {
                for event in page where event.seq <= last { try printer.print(event) }
            }
        }
        return last
    }

    /// Opens the journal; nil where there is none yet and one may still come.
    private func openJournal() async throws -> (any JournalReader)? {
        let journal = places.journal
        do throws(JournalError) {
            return try await journal.reader()
        } catch {
            if noFollow || error.reason != .missing { throw error }
            Output.diagnose("no journal in \(journal.location) yet; waiting for a watcher")
            return nil
        }
    }
}

/// Prints events in the requested form.
struct EventPrinter {
    private let line: (Event) -> StyledText

    init(json: Bool, template: String?, colour: ColourOptions) throws {
        if let template {
            let template = try EventPrinter.parse(template)
            line = { StyledText(template.render($0.templateContext(rule: "", field: nil))) }
        } else if json {
            line = { StyledText($0.json.text) }
        } else {
            let palette = colour.palette
            line = { palette.line(of: $0) }
        }
    }

    private static func parse(_ template: String) throws -> MustacheTemplate {
        do throws(TemplateError) {
            return try MustacheTemplate(template, names: .message)
        } catch {
            throw Exit(.usage, "--template: \(error)")
        }
    }

    func print(_ event: Event) throws { try Output.print(line(event)) }
}
