// SPDX-License-Identifier: Apache-2.0

import VedetteConfig
import VedetteCore
import VedetteEngine
import VedetteHTTP
import VedetteJournal
import VedetteText

/// The assembled program: the watcher, the dispatcher and their dependencies. Only this folder names concrete types.
struct App: Sendable {
    let client: HTTPClient
    let journal: any Journal & JournalMaintenance & CookieStore
    let watcher: Watcher
    let dispatcher: Dispatcher
    let log: StderrLog
    let clock = SystemClock()
    /// The sinks of the start.
    let rack: SinkRegistry
    private let services: SinkServices
    private let buttons: NotificationActions

    /// Opens the journal in the state directory, takes its lock, and restores the state of earlier runs.
    init(_ configuration: Configuration, state directory: String, log: StderrLog) async throws {
        let journal = try SQLiteJournal.open(directory: directory)
        self.journal = journal
        client = try HTTPClient(cookies: journal)
        self.log = log
        buttons = NotificationActions()
        services = SinkServices(
            fetcher: client, clock: clock, userAgent: KindRegistry.userAgent, silencer: buttons, mail: client)
        let dependencies = Dependencies(
            fetcher: FileFetcher(web: client), journal: journal, clock: clock, random: SystemRandomGenerator(),
            log: log,
            userAgent: KindRegistry.userAgent, executor: client.executor, transformer: JQTransformer(),
            civil: ZoneTime())
        rack = SinkRegistry().replaced(by: configuration.sinks, services).rack
        dispatcher = Dispatcher(dependencies, sinks: rack.sinks, policy: rack.policy)
        watcher = Watcher(App.watch(configuration), dependencies, dispatcher: dispatcher)
        // Rules first: what a sink refuses is an event, and they must remember what they knew.
        try await watcher.restore()
        try await dispatcher.restore()
        let access: any JournalAccess = SQLiteJournalAccess(directory: directory)
        buttons.connect { [watcher, log] silence in
            do throws(JournalError) {
                _ = try await access.add(silence)
                await watcher.silencesChanged()
                log.log(.notice, "silent: \(silence.description)")
            } catch {
                log.log(.error, "failed to write the silence of a button: \(error.detail)")
            }
        }
    }

    /// All or nothing; a sink that is written as before goes on undisturbed.
    func reload(_ configuration: Configuration, rack: SinkRegistry) async throws(JournalError) -> SinkRegistry {
        let (fresh, kept) = rack.replaced(by: configuration.sinks, services)
        // New sinks first, since a new rule may speak at once; old ones are let go of last, since the watcher may refuse.
        await dispatcher.add(sinks: fresh.sinks, policy: fresh.policy)
        do throws(JournalError) {
            try await watcher.reload(App.watch(configuration))
        } catch {
            await dispatcher.reload(sinks: rack.sinks, policy: rack.policy, keeping: Set(rack.sinks.keys))
            throw error
        }
        await dispatcher.reload(sinks: fresh.sinks, policy: fresh.policy, keeping: kept)
        return fresh
    }

    /// Deletes events older than `retain.events`, and sources that were removed from the configuration a week ago. Where
    /// the journal is still larger than `retain.size`, deletes younger events too, but none of the last hour. Returns
    /// early when its task is cancelled.
    func prune(_ configuration: Configuration) async {
        var age = configuration.settings.keepEvents
        let most = configuration.settings.keepBytes
        do throws(JournalError) {
            try await prune(olderThan: age, configuration)
            while !Task.isCancelled, age > .seconds(3600), try await journal.size() > most {
                age = max(age / 2, .seconds(3600))
                try await prune(olderThan: age, configuration)
            }
        } catch {
            log.log(.warning, "failed to prune the journal: \(error.detail)")
        }
    }

    private func prune(olderThan age: Duration, _ configuration: Configuration) async throws(JournalError) {
        let now = clock.now().wall
        let kept = configuration.sources.filter { $0.server.cookies == .journal }.map(\.session)
        try await journal.forgetCookies(keeping: Set(kept))
        try await journal.prune(
            Retention(
                eventsBefore: now.advanced(by: .zero - age), sources: Set(configuration.sources.map(\.name)),
                sourcesBefore: now.advanced(by: .seconds(-7 * 86_400))))
    }

    /// Stops the dispatcher, then closes the connections and the journal.
    func close() async {
        await dispatcher.stop(by: clock.now().boot.advanced(by: .seconds(5)))
        await client.shutdown()
        do throws(JournalError) { try await journal.close() } catch { log.log(.error, error.detail) }
    }

    private static func watch(_ configuration: Configuration) -> WatchConfiguration {
        WatchConfiguration(sources: configuration.sources, rules: RuleSet(configuration.rules))
    }
}
