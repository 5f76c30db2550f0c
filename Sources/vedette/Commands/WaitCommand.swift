// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Glibc
import VedetteConfig
import VedetteCore
import VedetteEngine

struct WaitCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "wait",
        abstract: "Wait until items are in a state: exit 0 reached, 1 gone or failed, 124 timeout.",
        discussion: """
            It checks the state, not the changes: an item that is in the state already ends it at once. Where a watcher runs \
            it reads its journal, else it polls the source itself. With --timeout it also waits for an item that is not \
            listed yet, and for a server that does not answer yet; without it, both are errors. With --gone an item that a good \
            poll does not list is gone.

            Examples:
              vedette wait lab-systems Billing --to 'Ready for use' && ./deploy
              vedette wait ci-runs 'nightly-*' --to success --any
            """)

    @Argument(help: "The source.", completion: Completions.sources)
    var source: String

    @Argument(
        help:
            "The item's key, or its title when it is unique; several, or a glob such as 'web-*', wait for all of them.",
        completion: Completions.items)
    var key: [String]

    @Option(name: .long, help: ArgumentHelp("The state to wait for; may be repeated.", valueName: "state"))
    var to: [String] = []

    @Option(help: ArgumentHelp("A state that ends the waiting with exit 1; may be repeated.", valueName: "state"))
    var fail: [String] = []

    @Flag(help: "Wait until the items exist, in whatever state.")
    var appears = false

    @Flag(help: "Wait until the items are gone from the list.")
    var gone = false

    @Flag(help: "End when one of the items is there; the default is all.")
    var any = false

    @Option(help: ArgumentHelp("Give up after this long, with exit 124.", valueName: "duration"))
    var timeout: String?

    @OptionGroup var places: Paths

    func validate() throws {
        switch (to.isEmpty, appears, gone) {
        case (true, false, false): throw ValidationError("--to STATE is missing; or wait with --appears or --gone")
        case (false, false, false), (true, true, false), (true, false, true): break
        default: throw ValidationError("--to, --appears and --gone exclude each other")
        }
        if to.isEmpty, !fail.isEmpty { throw ValidationError("--fail needs --to") }
        if let both = to.first(where: fail.contains) { throw ValidationError("'\(both)' is in --to and in --fail") }
        if key.isEmpty { throw ValidationError("KEY is missing: the key or the title of an item") }
        if let timeout, Duration(configured: timeout) == nil {
            throw ValidationError("'\(timeout)' is not a duration; write it as 90s, 20m or 1h")
        }
    }

    func run() async throws {
        let source = try UserConfiguration.source(source, in: try UserConfiguration.readable(places))
        if gone, source.kind.mode == .window {
            throw Exit(
                .usage, "\(source.name) is a window: an entry that leaves it is not gone, so --gone would never end")
        }
        for state in to + fail {
            if let problem = AwaitedState.problem(with: state, in: [source]) { throw Exit(.usage, problem) }
        }
        let limit = timeout.flatMap { Duration(configured: $0) }
        let progress = Progress(
            WaitProgress(goal: appears ? "there" : gone ? "gone" : to.joined(separator: " or "), limit: limit))
        let result: Result<End, any Error>
        do { result = .success(try await end(of: source, within: limit, progress)) } catch { result = .failure(error) }
        // Before an error is printed, too.
        await progress.clear()
        switch try result.get() {
        case .decided(.reached(let lines)): for line in lines { Output.diagnose(line) }
        case .decided(.failed(let reason)):
            Output.diagnose(reason)
            throw ExitCode(Exit.unwanted)
        case .decided(.pending), .timedOut:
            for line in await progress.progress.timedOut { Output.diagnose(line) }
            throw ExitCode(Exit.timedOut)
        }
    }

    /// Whether it looks once, and waits for nothing.
    private var looksOnce: Bool { timeout.flatMap { Duration(configured: $0) } == .zero }

    /// Waits until the goal is reached or cannot be, or the time is over.
    private func end(of source: Source, within limit: Duration?, _ progress: Progress) async throws -> End {
        try await withThrowingTaskGroup(of: End.self) { group in
            group.addTask { .decided(try await wait(for: source, progress)) }
            if let limit {
                group.addTask {
                    let clock = SystemClock()
                    // The first look ends by itself, unless a stream brings nothing.
                    let limit = looksOnce ? FetchLimits().total : limit
                    try await clock.sleep(until: clock.now().boot.advanced(by: limit))
                    return .timedOut
                }
            }
            group.addTask { try await progress.run() }
            defer { group.cancelAll() }
            return try await group.next() ?? .timedOut
        }
    }

    private enum End: Sendable {
        case decided(WaitGoal.Verdict)
        case timedOut
    }

    /// Shows what the items are on the last line of a terminal, and for how long that has lasted.
    private actor Progress {
        private(set) var progress: WaitProgress
        private let clock = SystemClock()
        private let start = SystemClock().now().boot

        init(_ progress: WaitProgress) { self.progress = progress }

        /// Shows the line again each second, until the wait ends.
        func run() async throws -> End {
            while true {
                show()
                try await clock.sleep(until: clock.now().boot.advanced(by: .seconds(1)))
            }
        }

        /// Shows what the items are now, and why the source is not read. Without a terminal a new reason is a line.
        func show(_ pending: [String], _ problem: Event.Problem?, of source: String) {
            let before = progress.problem
            progress.pending = pending
            progress.problem = problem.map { "\($0.failure): \($0.detail)" }
            if let now = progress.problem, now != before, isatty(STDERR_FILENO) == 0 {
                Output.diagnose("\(source): \(now)")
            }
            show()
        }

        private func show() {
            guard let size = TerminalSize.of(STDERR_FILENO) else { return }
            Output.Progress.clear()
            Output.Progress.show(
                progress.line(after: clock.now().boot.duration(since: start), width: size.columns).text)
        }

        func warn(_ text: String) {
            clear()
            Output.diagnose(text)
        }

        func clear() { if isatty(STDERR_FILENO) == 1 { Output.Progress.clear() } }
    }

    private var goal: WaitGoal {
        WaitGoal(
            key, appears ? .appears : gone ? .gone : .state(to: to, fail: fail), isAny: any,
            mayCome: timeout != nil)
    }

    private func wait(for source: Source, _ progress: Progress) async throws -> WaitGoal.Verdict {
        let journal = try places.journal
        let verdict = try await follow(source, journal, progress) { await journal.watcher() != nil }
        if let verdict { return verdict }
        return try await watchAlone(progress)
    }

    /// Watches the source with its secrets, but without rules or sinks, as a running watcher would.
    private func watchAlone(_ progress: Progress) async throws -> WaitGoal.Verdict {
        var configuration = try UserConfiguration.load(places, secrets: .ofSources)
        var awaited = try UserConfiguration.source(source, in: configuration)
        // Somebody waits for it now.
        awaited.interval.calendar = nil
        let source = awaited
        (configuration.sources, configuration.rules, configuration.sinks) = ([source], [], [])
        let journal = MemoryJournal()
        let app = try await App(configuration, journal: journal, access: journal, log: StderrLog(level: .error))
        let watching = Task { await app.watcher.run() }
        let retrying = Task { try await pollWhileFailing(source, app.watcher, journal) }
        let result: Result<WaitGoal.Verdict?, any Error>
        do { result = .success(try await follow(source, journal, progress)) } catch { result = .failure(error) }
        retrying.cancel()
        await app.watcher.stop()
        await app.close(after: watching)
        guard let verdict = try result.get() else { throw CancellationError() }
        return verdict
    }

    /// Polls a source that fails at its usual interval: a person waits for it, and the backoff grows to an hour.
    private func pollWhileFailing(_ source: Source, _ watcher: Watcher, _ journal: MemoryJournal) async throws {
        let clock = SystemClock()
        while true {
            try await clock.sleep(until: clock.now().boot.advanced(by: source.interval.every))
            if journal.sourceRecord(of: source.name)?.health.problem != nil { await watcher.poll(source.name) }
        }
    }

    /// Checks the snapshot after each change of the journal: the state, not the events, so nothing can be missed. The
    /// first snapshot may still be to come.
    /// - Parameter hasWatcher: returns whether a watcher still writes the journal; nil for the watcher of this command,
    ///   which ends a wait without a time-out when its first poll fails.
    /// - Returns: nil when no watcher writes the journal.
    private func follow(
        _ source: Source, _ journal: any JournalAccess, _ progress: Progress, hasWatcher: (() async -> Bool)? = nil
    ) async throws -> WaitGoal.Verdict? {
        var (goal, isChecked) = (goal, false)
        var changes = try journal.changes().makeAsyncIterator()
        while await hasWatcher?() != false {
            // A source may have 100,000 items, and change every second.
            let keys = goal.decidingKeys
            if let snapshot = try await ItemLookup.snapshot(of: source.name, in: journal, withKeys: keys) {
                let verdict = try await goal.evaluate(
                    snapshot.items, absent: snapshot.absent, of: source.name,
                    isWhole: source.stream == nil || source.stream?.initial != nil || snapshot.record.isPolledInstead
                ) { key in
                    let reader = try await journal.reader()
                    return try await reader.history(source: source.name, key: key, limit: 1).last?.kind == .disappeared
                }
                guard case .pending(let lines) = verdict else { return verdict }
                if !isChecked {
                    isChecked = true
                    let seen = snapshot.record.snapshot?.states.keys.map { $0 } ?? []
                    await warnOfSpelling(source, seen: Set(seen), progress)
                }
                await progress.show(lines, snapshot.record.health.problem, of: source.name)
                if looksOnce { return verdict }
            } else if hasWatcher == nil, let problem = try await firstProblem(of: source, in: journal) {
                guard timeout != nil else {
                    throw Exit(.unavailable, "\(source.name): \(problem.failure): \(problem.detail)")
                }
                await progress.show([], problem, of: source.name)
                if looksOnce { return .pending([]) }
            } else if hasWatcher != nil, looksOnce {
                return .pending([])
            }
            guard await changes.next() != nil else { throw CancellationError() }
        }
        return nil
    }

    /// Warns of states that no item has now, where an item has one that is spelt nearly so.
    private func warnOfSpelling(_ source: Source, seen: Set<String>, _ progress: Progress) async {
        for state in to + fail where AwaitedState.isUnseen(state, in: [source], seen: seen) {
            guard let guess = didYouMean(state, among: seen) else { continue }
            await progress.warn(AwaitedState.warning(about: state, guess))
        }
    }

    private func firstProblem(of source: Source, in journal: any JournalAccess) async throws -> Event.Problem? {
        try await journal.reader().sourceRecord(of: source.name)?.health.problem
    }
}

extension SourceRecord {
    /// Whether a source with a stream is polled, so that its snapshot shows every item.
    fileprivate var isPolledInstead: Bool {
        if case .polled = connection { return true }
        return false
    }
}
