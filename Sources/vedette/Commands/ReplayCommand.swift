// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import VedetteConfig
import VedetteCore
import VedetteEngine
import VedetteSinks
import VedetteText

struct ReplayCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "replay",
        abstract: "Read bodies on disk as successive polls and print the events and what would be sent.",
        discussion: """
            Each FILE is one poll; further pages of the same poll follow it with a plus sign: poll1.xml+poll1-page2.xml. Of a \
            source with 'stream' each FILE is what one connection sent, server-sent events or lines, as `curl -N` writes it. \
            Nothing is fetched and nothing is written. With --json the events go to stdout as NDJSON, what would be sent to stderr.

            Examples:
              vedette replay lab-systems monday.json tuesday.json
              vedette replay --kind feed page1.xml+page2.xml --json
              vedette replay alerts alerts.ndjson
            """)

    @Option(help: "Kind of the bodies, when no configured source is named.", completion: Completions.kinds)
    var kind: String?

    @Option(help: ArgumentHelp("Time of the first poll (RFC 3339); else now.", valueName: "time"))
    var at: String?

    @Option(help: ArgumentHelp("Time from poll to poll; else the source's own interval.", valueName: "duration"))
    var every: String?

    @Flag(help: "Events as NDJSON.")
    var json = false

    @Argument(help: "The source (unless --kind is given), then the files.", completion: .file())
    var arguments: [String]

    @OptionGroup var places: Paths
    @OptionGroup var colour: ColourOptions

    func run() async throws {
        let (source, rules, files) = try subject()
        var time = try start()
        let step = try every.map(duration) ?? source.interval.every
        let replay = Replay(
            source, rules: rules, civil: ZoneTime(), random: SystemRandomGenerator(), log: StderrLog(level: .error),
            transformer: JQTransformer())
        var problem: Exit?
        var waiting = Set<RuleMemory>()
        for (number, file) in files.enumerated() {
            // Bodies of no configured source are files, whose relative links stay relative.
            let pages = try pages(file, url: kind == nil ? source.url : nil)
            let poll =
                if let stream = try recordedStream(pages, file, of: source) {
                    await replay.connect(stream.records, at: time)
                } else {
                    await replay.poll(pages, at: time)
                }
            if let failure = poll.failure {
                Output.diagnose("poll \(number + 1): \(failure.failure): \(failure.detail)")
                let end =
                    source.stream == nil ? "its snapshot was not touched" : "what came before that record was read"
                problem = Exit(.data, "poll \(number + 1) failed; \(end)")
            }
            if let count = poll.baseline, poll.events.isEmpty {
                let remedy = files.count == 1 ? "; name a second file to see what changed" : ""
                Output.diagnose("poll \(number + 1): baseline of \(counted(count, "item"))\(remedy)")
            }
            for remark in poll.remarks { Output.diagnose("poll \(number + 1): \(remark)") }
            try show(poll.earlier)
            let known = Set(poll.events.map(\.id))
            let deliveries = Dictionary(grouping: poll.deliveries) { $0.message.event.id }
            for var event in poll.events {
                event.poll = "p-\(number + 1)"
                if json {
                    try Output.print(event.json.text)
                } else {
                    try Output.printSentence(colour.palette.line(of: event), hanging: 2)
                }
                try show(deliveries[event.id] ?? [])
            }
            try show(poll.deliveries.filter { !known.contains($0.message.event.id) })
            let memories = await replay.memories
            try show(memories.filter { !waiting.contains($0) }, rules, at: time)
            waiting = Set(memories)
            time = time.advanced(by: step)
        }
        if let problem { throw problem }
    }

    private func subject() throws -> (Source, RuleSet, [String]) {
        if let kind {
            guard let entry = KindRegistry.sourceKinds.first(where: { $0.name == kind }) else {
                throw Exit.unknown("kind", kind, among: KindRegistry.sourceKinds.map(\.name))
            }
            let source = Source(
                name: kind, kindName: kind, kind: try entry.make(Options()), server: Server(name: ""),
                url: "https://replay.example.org", interval: PollInterval(every: entry.every))
            return (source, RuleSet([]), arguments)
        }
        let configuration = try UserConfiguration.load(places, secrets: .none)
        let source = try UserConfiguration.source(arguments[0], in: configuration)
        if arguments.count < 2 { throw Exit(.usage, "name at least one file after the source") }
        return (source, RuleSet(configuration.rules), Array(arguments.dropFirst()))
    }

    private func start() throws -> Timestamp {
        guard let at else { return SystemClock().now().wall }
        guard let time = Timestamp(rfc3339: at) else {
            throw Exit(.usage, "'\(at)' is no time; write it as 2026-11-21T12:00:00Z")
        }
        return time
    }

    private func duration(_ text: String) throws -> Duration {
        guard let duration = Duration(configured: text) else {
            throw Exit(.usage, "'\(text)' is no duration; write it as 200ms, 15s, 5m, 1h or 30d")
        }
        return duration
    }

    private func pages(_ file: String, url: String?) throws -> [PageBody] {
        // A file whose own name has a plus sign is one page.
        let paths = FileManager.default.fileExists(atPath: file) ? [file[...]] : file.split(separator: "+")
        return try paths.map { path in
            PageBody(
                bytes: try InputFile.bytes(String(path)), url: url ?? URL(filePath: String(path)).absoluteString)
        }
    }

    /// Returns what a connection of a source with a stream sent; nil for a complete body, which its server may send, too.
    private func recordedStream(_ pages: [PageBody], _ file: String, of source: Source) throws -> RecordedStream? {
        guard let settings = source.stream, pages.count == 1 else { return nil }
        do throws(FetchError) {
            return try RecordedStream(pages[0].bytes, format: settings.format)
        } catch {
            throw Exit(.data, "\(file): \(error.detail)")
        }
    }

    private func show(_ deliveries: [Delivery]) throws {
        for delivery in deliveries {
            let message = delivery.message
            let reason = LocalTime.localized(delivery.reason ?? "", now: delivery.created)
            let end = delivery.state == .suppressed ? " (suppressed: \(reason))" : ""
            try show("    → \(message.sink) (\(message.rule)): \(message.title)\(end)")
        }
    }

    /// Shows what rules began to hold back at this poll.
    private func show(_ memories: [RuleMemory], _ rules: RuleSet, at now: Timestamp) throws {
        for memory in memories {
            guard let line = memory.waitingLine(of: rules.rule(named: memory.key.rule), at: now) else { continue }
            try show("    … \(memory.key.rule): \(line)")
        }
    }

    private func show(_ line: String) throws {
        if json { Output.diagnose(line) } else { try Output.printSentence(StyledText(line), hanging: 6) }
    }
}
