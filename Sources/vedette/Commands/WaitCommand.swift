// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Glibc
import VedetteCore

struct WaitCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "wait",
        abstract: "Wait until items are in a state: exit 0 reached, 1 gone or failed, 124 timeout.",
        discussion: """
            It checks the state, not the changes: an item that is in the state already ends it at once. Where a watcher runs \
            it reads its journal, else it polls the source itself.

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
        let source = try KindRegistry.source(source, in: try KindRegistry.configuration(places, readsSecrets: false))
        if gone, source.kind.mode == .window {
            throw Exit(
                .usage, "\(source.name) is a window: an entry that leaves it is not gone, so --gone would never end")
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
            throw ExitCode(1)
        case .decided(.pending), .timedOut:
            for line in await progress.progress.timedOut { Output.diagnose(line) }
            throw ExitCode(124)
        }
    }

    /// Waits until the goal is reached or cannot be, or the time is over.
    private func end(of source: Source, within limit: Duration?, _ progress: Progress) async throws -> End {
        try await withThrowingTaskGroup(of: End.self) { group in
            group.addTask { .decided(try await wait(for: source, progress)) }
            if let limit {
                group.addTask {
                    let clock = SystemClock()
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

        func show(_ pending: [String], _ problem: Event.Problem? = nil) {
            progress.pending = pending
            self.problem(problem.map { "\($0.failure): \($0.detail)" })
        }

        func problem(_ problem: String?) {
            progress.problem = problem
            show()
        }

        private func show() {
            guard let size = TerminalSize.of(STDERR_FILENO) else { return }
            Output.Progress.clear()
            Output.Progress.show(
                progress.line(after: clock.now().boot.duration(since: start), width: size.columns).text)
        }

        func clear() { if isatty(STDERR_FILENO) == 1 { Output.Progress.clear() } }
    }

    private var goal: WaitGoal {
        WaitGoal(key, appears ? .appears : gone ? .gone : .state(to: to, fail: fail), isAny: any)
    }

    private func wait(for source: Source, _ progress: Progress) async throws -> WaitGoal.Verdict {
        let journal = try places.journal
        return await journal.watcher() != nil
            ? try await follow(source, journal, progress) : try await poll(progress)
    }

    /// Checks the snapshot of the watcher after each change of the journal: the state, not the events, so nothing can be
    /// missed. The first snapshot may still be to come.
    private func follow(
        _ source: Source, _ journal: any JournalAccess, _ progress: Progress
    ) async throws -> WaitGoal.Verdict {
        var goal = goal
        var changes = try journal.changes().makeAsyncIterator()
        while await journal.watcher() != nil {
            // A source may have 100,000 items, and change every second.
            let keys = goal.decidingKeys
            if let snapshot = try await ItemLookup.snapshot(of: source.name, in: journal, withKeys: keys) {
                let verdict = try await goal.evaluate(snapshot.items, absent: snapshot.absent, of: source.name) { key in
                    let reader = try await journal.reader()
                    return try await reader.history(source: source.name, key: key, limit: 1).last?.kind == .disappeared
                }
                guard case .pending(let lines) = verdict else { return verdict }
                await progress.show(lines, snapshot.record.health.problem)
            }
            guard await changes.next() != nil else { throw CancellationError() }
        }
        return try await poll(progress)
    }

    /// Polls the source itself, with its secrets.
    private func poll(_ progress: Progress) async throws -> WaitGoal.Verdict {
        let source = try KindRegistry.source(source, in: try KindRegistry.configuration(places))
        let clock = SystemClock()
        var goal = goal
        var before: [Item]?
        while true {
            var states: [String: Int] = [:]
            if let items = try await items(of: source, isFirst: before == nil, progress) {
                // As the watcher does: an item absent from two good polls is gone, and an empty list is suspect.
                let isSuspect = items.isEmpty && before?.isEmpty == false
                let present = Set(items.map(\.key))
                let absent = (before ?? []).filter { !present.contains($0.key) }
                let verdict = try await goal.evaluate(items, absent: absent, of: source.name) { _ in false }
                guard case .pending(let lines) = verdict else { return verdict }
                await progress.show(lines)
                if !isSuspect { before = items }
                for state in items.compactMap(\.state) { states[state, default: 0] += 1 }
            }
            let delay = source.interval.delay(states: states, freshFor: nil, random: SystemRandomGenerator().fraction())
            try await clock.sleep(until: clock.now().boot.advanced(by: delay))
        }
    }

    /// Polls the source; nil when a poll after the first failed: an error is not a state, so the wait continues.
    private func items(of source: Source, isFirst: Bool, _ progress: Progress) async throws -> [Item]? {
        do {
            return try await ItemLookup.live(source)
        } catch let error as Exit where !isFirst {
            await progress.clear()
            Output.diagnose("\(error)")
            return nil
        }
    }
}
