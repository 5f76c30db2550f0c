// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CDelayLoad
import Glibc
import VedetteConfig
import VedetteCore
import VedetteEngine
import VedetteHTTP

struct RunCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run", abstract: "Watch every source until SIGTERM; SIGHUP or a changed file reloads.",
        discussion: """
            In a terminal it prints how each source was read first, then failures and recoveries when they happen; stop it \
            with Ctrl-C. In another terminal `vedette tail` shows events, `vedette status` whether all is well.

            With --once it polls every source once, attempts each pending delivery once, and prints a summary; exit 69 when \
            a source failed, is backing off, or a delivery stays pending.

            Examples:
              vedette run
              vedette run --once    # for cron: exit 69 while something fails
            """)

    @Flag(help: "Poll every source once, deliver, exit.")
    var once = false

    @Flag(help: "With --once: poll sources under Retry-After or backoff too.")
    var force = false

    @Flag(name: .shortAndLong, help: "Log every poll and every message.")
    var verbose = false

    @Option(
        help: ArgumentHelp(
            "Form of the log: text, or json with one object a line that names source, poll, sink and message.",
            valueName: "form"))
    var log = LogStyle.text

    @OptionGroup var places: Paths

    func validate() throws {
        if force, !once { throw ValidationError("--force goes with --once") }
    }

    func run() async throws {
        let loader = UserConfiguration.loader(places)
        if loader.isMissing, let directory = loader.directoryToWrite {
            Output.diagnose("vedette: there is no configuration in \(directory) yet; type one of")
            Output.diagnose("  vedette init              for a first one that you edit")
            Output.diagnose("  vedette init --url URL    for one that watches an address")
            throw ExitCode(Exit.Code.configuration.rawValue)
        }
        let log = StderrLog(level: verbose ? .debug : .info, style: log)
        defer { log.finish() }
        var configuration = try UserConfiguration.load(places, log: log)
        let postgres = configuration.settings.postgres
        let place = try places.journalPlace(postgres)
        let links = LinkFiles(directory: places.linkDirectory, clock: SystemClock(), log: log)
        // A library that is missing, or that an upgrade of the machine replaces later, must not end a watcher in its work.
        delay_load_all()
        OpenFiles.raiseLimit()
        if once {
            let app = try await App(configuration, journal: place.open(), access: place.access, links: links, log: log)
            return try await runOnce(app, configuration, access: place.access)
        }
        let stop = try StopDeadline(SystemClock()) { RunCommand.endLate($0, log) }
        // Before work begins at once, since libpq may wait for a server.
        let signals = try Signals(stop) { code in
            log.finish()
            LineWriter.standardError.flush(within: .milliseconds(500))
            Exit.endProcess(code)
        }
        let opened = try await place.openOrStandBy(configuration, log) {
            await ConfigurationReload.load(loader, log)
        }
        let journal = opened.journal
        configuration = opened.configuration
        // Before the program is assembled, which delivers pending messages at once.
        signals.beginWork()
        // It may have changed since it was read again.
        if opened.stoodBy { signals.reload() }
        let app = try await App(configuration, journal: journal, access: place.access, links: links, log: log)
        if isatty(STDERR_FILENO) == 1, self.log == .text {
            for line in StartScreen(configuration, journal: place.location).lines {
                LineWriter.standardError.write(StyledText(line).text + "\n")
            }
        }
        var started = configuration.settings
        // What was read again before a take-over may name another journal than the one that is open.
        started.postgres = postgres
        var daemon = Daemon(app, configuration, loader, access: place.access, since: started)
        try await daemon.run(signals, stop)
    }

    /// Ends the process when stopping takes too long, for example since a database does not answer. That is like a kill -9:
    /// what is committed stays, and what is pending is delivered next time. The kernel releases the lock of the journal.
    private static func endLate(_ code: Int32, _ log: StderrLog) {
        let limit = DurationText.long(seconds: StopDeadline.longest.inSeconds)
        log.log(.warning, "failed to stop within \(limit): the process ends now; nothing committed is lost")
        LineWriter.standardError.flush(within: .milliseconds(500))
        Exit.endProcess(code)
    }

    private func runOnce(_ app: App, _ configuration: Configuration, access: any JournalAccess) async throws {
        await ControlRequests(app).carryOutWaiting()
        let results = await app.watcher.runOnce(force: force)
        await app.dispatcher.drainOnce()
        var summary = OnceSummary(results)
        summary.sent = await app.dispatcher.sent
        do {
            let sinks = Set(configuration.sinks.map(\.name))
            let counts = try await access.reader().sinkCounts().filter { sinks.contains($0.sink) }
            summary.unsent = await app.dispatcher.died + counts.reduce(0) { $0 + $1.pending }
        } catch {
            await app.close()
            throw error
        }
        // A monitor of cron jobs expects a request after each run that went well.
        if summary.problem == nil, let heartbeat = configuration.heartbeat {
            await app.heartbeat.beat(heartbeat)
        }
        await app.close()
        // Beside the lines of a stdout sink the summary would spoil what a program reads.
        let isShared = configuration.sinks.contains { $0.kindName == "stdout" }
        for line in summary.lines { if isShared { Output.diagnose(line) } else { try Output.print(line) } }
        if let problem = summary.problem { throw problem }
    }
}

/// What `run --once` prints at its end.
struct OnceSummary {
    var sent = 0
    var unsent = 0
    private var (baselineItems, baselineSources) = (0, 0)
    private var (items, sources, events) = (0, 0, 0)
    private var failures: [String] = []
    private var held: [String] = []
    /// Those of `held` whose last poll failed.
    private var stillFailing: [String] = []
    private var unwritten: [String] = []

    init(_ results: [OnceResult]) {
        for result in results {
            switch result {
            case .good(let items, isBaseline: true, let events):
                baselineItems += items
                baselineSources += 1
                self.events += events
            case .good(let items, isBaseline: false, let events):
                self.items += items
                sources += 1
                self.events += events
            case .failed(let source, let detail): failures.append("\(source): \(detail)")
            case .held(let source, let failure):
                held.append(source)
                if let failure { stillFailing.append("\(source): \(failure)") }
            case .unwritten(let detail): unwritten.append(detail)
            }
        }
    }

    var lines: [String] {
        var lines: [String] = []
        if baselineSources > 0 {
            lines.append("baseline: \(counted(baselineItems, "item")) in \(counted(baselineSources, "source"))")
        }
        if sources > 0 {
            lines.append(
                "polled: \(counted(items, "item")) in \(counted(sources, "source")), \(counted(events, "event"))")
        }
        if sent + unsent > 0 { lines.append("messages: \(sent) sent, \(unsent) not") }
        if !held.isEmpty {
            lines.append(
                "not polled, under Retry-After or backoff: \(held.joined(separator: ", ")) (--force polls them)")
        }
        return lines + failures.map { "failed: \($0)" } + stillFailing.map { "still failing: \($0)" }
    }

    var problem: Exit? {
        if let detail = unwritten.first { return Exit(.inputOutput, detail) }
        if !failures.isEmpty { return Exit(.unavailable, "\(counted(failures.count, "source")) failed") }
        if !stillFailing.isEmpty {
            return Exit(.unavailable, "\(counted(stillFailing.count, "source")) still failing, and backing off")
        }
        return unsent > 0 ? Exit(.unavailable, "\(counted(unsent, "message")) not delivered") : nil
    }
}
