// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import VedetteCore

struct WaitCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "wait",
        abstract: "Wait until an item is in a state: exit 0 reached, 1 gone or failed, 124 timeout.",
        discussion: """
            It checks the state, not the changes: an item that is in the state already ends it at once. Where a watcher runs \
            it reads its journal, else it polls the source itself.
            """)

    @OptionGroup var places: Paths

    @Argument(help: "The source.")
    var source: String

    @Argument(help: "The item's key, or its title when it is unique.")
    var key: String

    @Option(name: .long, help: ArgumentHelp("The state to wait for; may be repeated.", valueName: "state"))
    var to: [String]

    @Option(help: ArgumentHelp("A state that ends the waiting with exit 1; may be repeated.", valueName: "state"))
    var fail: [String] = []

    @Option(help: ArgumentHelp("Give up after this long, with exit 124.", valueName: "duration"))
    var timeout: String?

    func validate() throws {
        if to.isEmpty { throw ValidationError("--to STATE is missing") }
        if let timeout, Duration(configured: timeout) == nil {
            throw ValidationError("'\(timeout)' is not a duration; write it as 90s, 20m or 1h")
        }
    }

    func run() async throws {
        let source = try KindRegistry.source(source, in: try KindRegistry.configuration(places))
        let limit = timeout.flatMap { Duration(configured: $0) }
        let verdict = try await withThrowingTaskGroup(of: Verdict.self) { group in
            group.addTask { try await self.wait(for: source) }
            if let limit {
                group.addTask {
                    let clock = SystemClock()
                    try await clock.sleep(until: clock.now().boot.advanced(by: limit))
                    return .timedOut
                }
            }
            defer { group.cancelAll() }
            return try await group.next() ?? .timedOut
        }
        switch verdict {
        case .reached(let state): Output.diagnose("\(key): \(state)")
        case .failed(let reason):
            Output.diagnose("\(key): \(reason)")
            throw ExitCode(1)
        case .timedOut:
            Output.diagnose("\(key): not \(to.joined(separator: " or ")) within \(timeout ?? "")")
            throw ExitCode(124)
        }
    }

    private enum Verdict: Sendable {
        case reached(String)
        case failed(String)
        case timedOut
    }

    private func wait(for source: Source) async throws -> Verdict {
        let journal = places.journal
        return await journal.watcher() != nil ? try await follow(source, journal) : try await poll(source)
    }

    /// Checks the snapshot of the watcher after each change of the journal: the state, not the events, so nothing can be
    /// missed. The item may still appear with the first snapshot.
    private func follow(_ source: Source, _ journal: any JournalAccess) async throws -> Verdict {
        var known: String?
        var changes = try journal.changes().makeAsyncIterator()
        while await journal.watcher() != nil {
            if let (items, _) = try await ItemLookup.snapshot(of: source.name, in: journal) {
                let isPresent = items.contains { $0.key == known ?? key }
                if !isPresent, try await isGone(known ?? key, source, journal) { return .failed("gone") }
                // Absent from one poll only: the next one decides.
                if isPresent || known == nil {
                    let item = try ItemLookup.item(known ?? key, among: items, of: source.name)
                    known = item.key
                    if let verdict = verdict(item.state) { return verdict }
                }
            }
            guard await changes.next() != nil else { throw CancellationError() }
        }
        return try await poll(source)
    }

    /// True when the last event of the item is that it disappeared.
    private func isGone(_ key: String, _ source: Source, _ journal: any JournalAccess) async throws -> Bool {
        let reader = try await journal.reader()
        return try await reader.history(source: source.name, key: key, limit: 1).last?.kind == .disappeared
    }

    private func poll(_ source: Source) async throws -> Verdict {
        let clock = SystemClock()
        var known: String?
        var absences = 0
        while true {
            var states: [String: Int] = [:]
            if let items = try await items(of: source, isFirst: known == nil) {
                // As the watcher does: an item absent from two good polls is gone, and an empty list is suspect.
                absences =
                    items.contains(where: { $0.key == known }) || known == nil || items.isEmpty ? 0 : absences + 1
                if absences == 2 { return .failed("gone") }
                let item =
                    absences > 0 || (known != nil && items.isEmpty)
                    ? Item(key: known ?? key) : try ItemLookup.item(known ?? key, among: items, of: source.name)
                known = item.key
                if let verdict = verdict(item.state) { return verdict }
                if let state = item.state { states[state] = 1 }
            }
            let delay = source.pace.delay(states: states, freshFor: nil, random: SystemRandomGenerator().fraction())
            try await clock.sleep(until: clock.now().boot.advanced(by: delay))
        }
    }

    /// Polls the source; nil when a poll after the first failed: an error is not a state, so the wait continues.
    private func items(of source: Source, isFirst: Bool) async throws -> [Item]? {
        do {
            return try await ItemLookup.live(source)
        } catch let error as Exit where !isFirst {
            Output.diagnose("\(error)")
            return nil
        }
    }

    private func verdict(_ state: String?) -> Verdict? {
        guard let state else { return nil }
        if to.contains(state) { return .reached(state) }
        return fail.contains(state) ? .failed(state) : nil
    }
}
