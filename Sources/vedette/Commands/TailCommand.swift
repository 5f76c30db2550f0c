// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import VedetteConfig
import VedetteCore
import VedetteText

struct TailCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tail", abstract: "Print the last events, then each new one as it is committed.",
        discussion: """
            It reads the journal beside a running watcher, survives its restarts, and waits where there is none yet. The \
            number in front of an event is what `vedette explain` takes. An asterisk marks an event of which a message was \
            sent, or will be; an exclamation mark one whose messages all died.

            Examples:
              vedette tail --source lab-systems --since 1h
              vedette tail --json | jq -r .data.item.title
            """)

    @Option(name: .shortAndLong, help: ArgumentHelp("Events of the past to begin with.", valueName: "count"))
    var number: Int?

    @Flag(name: .customLong("no-follow"), help: "Print the stored events and end.")
    var noFollow = false

    @OptionGroup var selection: EventSelection

    @Flag(help: "NDJSON, one CloudEvents object a line.")
    var json = false

    @Option(help: "Print each event by this template, for example '{{item.title}}: {{change.to}}'.")
    var template: String?

    @OptionGroup var places: Paths
    @OptionGroup var colour: ColourOptions

    /// Events of the past without `-n`, `--since` and `--until`.
    private static let defaultNumber = 20

    func validate() throws {
        if let number, number < 0 { throw ValidationError("-n takes a number from 0") }
        if json, template != nil { throw ValidationError("--json and --template exclude each other") }
    }

    func run() async throws {
        let now = SystemClock().now().wall
        let journal = try places.journal
        let reader = try await openJournal()
        // Read first: an event that is committed meanwhile belongs to the past or to the new, never to neither.
        let last = try await reader?.lastSeq() ?? 0
        var printer = try EventPrinter(
            json: json, template: template,
            EventLayout(colour.palette, links: colour.links, numbers: last, now: now), journal)
        if let template { warn(of: template) }
        var filter = try await selection.filter(places, now: now)
        if let reader {
            let start = try await start(filter, reader)
            for try await page in reader.allEvents(filter, after: start) {
                try await printer.print(page.filter { $0.seq <= last })
            }
        }
        if noFollow || filter.until != nil { return }
        Output.endWhenUnread()
        filter.since = nil
        for try await batch in JournalFollower(journal, after: last, filter) { try await printer.print(batch) }
    }

    /// Warns of a name that no item of the configured sources can have. Stored events may be of sources that are gone, so it
    /// is no error.
    private func warn(of template: String) {
        let loaded = UserConfiguration.loader(places, secrets: .none).load()
        guard let names = loaded.configuration?.templateNames else { return }
        do throws(TemplateError) {
            _ = try MustacheTemplate(template, names: names)
        } catch {
            Output.diagnose("warning: --template: \(error)")
        }
    }

    /// Returns the seq after which the events of the past begin.
    private func start(_ filter: EventFilter, _ reader: any JournalReader) async throws -> Int64 {
        let hasTimes = filter.since != nil || filter.until != nil
        guard let count = number ?? (hasTimes ? nil : TailCommand.defaultNumber) else { return 0 }
        return try await reader.seq(before: count, filter)
    }

    /// Opens the journal; nil where there is none yet and one may still come.
    private func openJournal() async throws -> (any JournalReader)? {
        let journal = try places.journal
        do throws(JournalError) {
            return try await journal.reader()
        } catch {
            if noFollow || selection.until != nil || error.reason != .missing { throw error }
            Output.diagnose("no journal in \(journal.location) yet; waiting for a watcher")
            return nil
        }
    }
}
