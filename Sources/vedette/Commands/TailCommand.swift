// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import VedetteCore
import VedetteSinks
import VedetteJournal
import VedetteText

struct TailCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tail", abstract: "Print the last events, then each new one as it is committed.",
        discussion:
            "It reads the journal beside a running watcher, survives its restarts, and waits where there is none yet.")

    @OptionGroup var places: Paths
    @OptionGroup var style: Style

    @Option(name: .shortAndLong, help: ArgumentHelp("Events of the past to begin with.", valueName: "count"))
    var number = 20

    @Flag(name: .customLong("no-follow"), help: "Print what is there and end.")
    var noFollow = false

    @Option(help: ArgumentHelp("Only events younger than this, all of them: 1h, 7d.", valueName: "duration"))
    var since: String?

    @Option(help: "Only events of this source.")
    var source: String?

    @Option(help: "Only events that this rule matched.")
    var rule: String?

    @Flag(help: "NDJSON, one CloudEvents object a line.")
    var json = false

    @Option(help: "Print each event by this template, for example '{{item.title}}: {{change.to}}'.")
    var template: String?

    func validate() throws {
        if number < 0 { throw ValidationError("-n takes a number from 0") }
        if json, template != nil { throw ValidationError("--json and --template exclude each other") }
    }

    func run() async throws {
        let printer = try EventPrinter(json: json, template: template, style: style)
        let filter = EventFilter(source: source, rule: rule, since: try age())
        let last = try await printPast(filter, with: printer)
        if noFollow { return }
        Output.endWhenUnread()
        let news = EventFilter(source: source, rule: rule)
        for try await batch in JournalFollower(directory: places.journal(), after: last, news) {
            for event in batch { try printer.print(event) }
        }
    }

    private func age() throws -> Timestamp? {
        guard let since else { return nil }
        guard let age = Duration(configured: since) else {
            throw Exit(.usage, "'\(since)' is no duration; write it as 90s, 30m, 1h or 7d")
        }
        return SystemClock().now().wall.advanced(by: .zero - age)
    }

    /// - Returns: the seq behind which what follows begins.
    private func printPast(_ filter: EventFilter, with printer: EventPrinter) async throws -> Int64 {
        guard let reader = try openJournal() else { return 0 }
        // The seq first: what is committed meanwhile is among the past or among the new, never between.
        let last = try await reader.lastSeq()
        for event in try await past(reader, filter, upTo: last) { try printer.print(event) }
        return last
    }

    /// Nil where there is none yet and one may still come.
    private func openJournal() throws -> JournalReader? {
        do throws(JournalError) {
            return try JournalReader.open(directory: places.journal())
        } catch {
            if noFollow || error.reason != .missing { throw error }
            Output.diagnose("no journal in \(places.journal()) yet; waiting for a watcher")
            return nil
        }
    }

    private func past(
        _ reader: JournalReader, _ filter: EventFilter, upTo last: Int64
    ) async throws(JournalError) -> [Event] {
        if filter.since == nil { return try await reader.lastEvents(number, filter).filter { $0.seq <= last } }
        var all: [Event] = []
        while true {
            let batch = try await reader.events(after: all.last?.seq ?? 0, filter, limit: 1000)
            all += batch.filter { $0.seq <= last }
            if batch.count < 1000 { return all }
        }
    }
}

/// Prints events in the form that was asked for.
struct EventPrinter {
    private let line: (Event) -> [UInt8]

    init(json: Bool, template: String?, style: Style) throws {
        if let template {
            let template = try EventPrinter.parse(template)
            line = { Array(template.render($0.templateContext(rule: "", field: nil)).utf8) }
        } else if json {
            line = { $0.json.bytes }
        } else {
            let eventLine = style.eventLine
            line = { Array(eventLine.text($0).utf8) }
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
