// SPDX-License-Identifier: Apache-2.0

import Glibc
import VedetteConfig
import VedetteCore
import VedetteEngine
import VedetteHTTP
import VedetteJournal
import VedettePage
import VedettePostgres
import VedetteSystem
import VedetteText

/// The composition root: a watcher with its journal, network, sinks and clock. Only here concrete types meet.
struct App: Sendable {
    let client: HTTPClient
    let journal: any Journal & JournalMaintenance & CookieStore
    /// The journal as the engine uses it.
    let monitored: MonitoredJournal
    let watcher: Watcher
    let dispatcher: Dispatcher
    /// Divides sources and sinks with other watchers; nil where this one has the journal for itself.
    let sharing: ShareCoordinator?
    let log: StderrLog
    let clock = SystemClock()
    /// The numbers that the engine counts.
    let metrics = MetricRegistry()
    /// When this process started, on the wall clock of then.
    let start: Timestamp
    /// The sinks of the first configuration.
    let sinks: SinkRegistry
    /// Deletes old events, sources and sessions.
    let pruner: JournalPruner
    /// Signs the links of messages; nil where the page serves none.
    let links: (any ActionLinkStore)?
    private let services: SinkServices
    private let actions: NotificationActions

    /// Restores the state of earlier runs.
    /// - Parameters:
    ///   - journal: open for this process.
    ///   - access: the same journal, for buttons of notifications.
    ///   - links: signs the links of messages; nil for none.
    init(
        _ configuration: Configuration, journal: any Journal & JournalMaintenance & CookieStore,
        access: any JournalAccess, links: (any ActionLinkStore)? = nil, log: StderrLog
    ) async throws {
        (self.journal, self.links) = (journal, links)
        client = try HTTPClient(cookies: journal, pages: HTMLLoginPage())
        self.log = log
        start = clock.now().wall.advanced(by: .zero - (ProcessAge.of(getpid()) ?? .zero))
        actions = NotificationActions()
        actions.take(configuration.rules)
        services = SinkServices(
            fetcher: client, clock: clock, userAgent: UserAgent.standard, silencer: actions, mail: client,
            links: links)
        monitored = MonitoredJournal(journal, clock: clock)
        (journal as? PostgresJournal)?.reportAway { [monitored] in monitored.failed($0) }
        let dependencies = Dependencies(
            fetcher: SourceFetcher(web: client), journal: monitored, clock: LoopClock(client),
            random: SystemRandomGenerator(), log: log, userAgent: UserAgent.standard, transformer: JQTransformer(),
            civil: ZoneTime(), memory: App.pollMemory(journal), meter: metrics)
        sinks = SinkRegistry().replaced(by: configuration.sinks, services).registry
        dispatcher = Dispatcher(
            dependencies, on: client.executor, sinks: sinks.sinks, policy: sinks.policy,
            fingerprints: sinks.fingerprints)
        watcher = Watcher(App.watch(configuration), dependencies, on: client.executor, dispatcher: dispatcher)
        sharing = journal.shares.map { [watcher, dispatcher, clock] shares in
            ShareCoordinator(shares, SharedNames(configuration), watcher, dispatcher, log: log, clock: clock)
        }
        // Rules first: a sink that refuses messages makes an event, which the restored rules must see.
        try await watcher.restore()
        let newestStored = await watcher.newestStored
        try await dispatcher.restore(after: newestStored)
        let trust = ClockTrust(newestStored: newestStored, start: clock.now().boot)
        pruner = JournalPruner(journal: journal, clock: clock, trust: trust, log: log)
        actions.connect { [watcher, log, clock] request in
            do throws(JournalError) {
                switch request {
                case .silence(let silence):
                    _ = try await access.add(silence)
                    await watcher.silencesChanged()
                    log.log(.notice, "silenced: \(silence.description)")
                case .acknowledge(let rule, let subject, let match):
                    let now = clock.now().wall
                    let acknowledgement = Acknowledgement.ofUser(match, at: now)
                    try await access.acknowledge(rule: rule, subject, acknowledgement, at: now)
                    log.log(.notice, "acknowledged: \(subject.key ?? subject.source) of rule '\(rule)'")
                }
            } catch {
                log.log(.error, "failed to store what a button asks for: \(error.detail)")
            }
        }
    }

    private static func pollMemory(_ journal: any Journal) -> PollMemory {
        PollMemory(returnFreeMemory: { Allocator.returnFreeMemory() }) {
            await (journal as? SQLiteJournal)?.releaseMemory()
            ProgramPages.release()
        }
    }

    var heartbeat: HeartbeatSender {
        HeartbeatSender(fetcher: client, clock: clock, log: log, userAgent: UserAgent.standard)
    }

    /// The end of the right to write the journal: another watcher has it, and this one must end.
    var losses: AsyncStream<JournalError>? { (journal as? PostgresJournal)?.losses }

    /// Applies a configuration, all or nothing. A sink with unchanged options keeps its connections and notifications.
    /// - Parameter sinks: the sinks in use.
    /// - Returns: the sinks of the new configuration.
    func reload(_ configuration: Configuration, sinks: SinkRegistry) async throws(JournalError) -> SinkRegistry {
        let (fresh, kept) = sinks.replaced(by: configuration.sinks, services)
        // New sinks come first, since a new rule may need them at once; old ones go last, since the watcher may refuse.
        await dispatcher.add(sinks: fresh.sinks, policy: fresh.policy, fingerprints: fresh.fingerprints)
        do throws(JournalError) {
            try await watcher.reload(App.watch(configuration))
        } catch {
            await dispatcher.reload(
                sinks: sinks.sinks, policy: sinks.policy, fingerprints: sinks.fingerprints,
                keeping: Set(sinks.sinks.keys))
            throw error
        }
        await dispatcher.reload(
            sinks: fresh.sinks, policy: fresh.policy, fingerprints: fresh.fingerprints, keeping: kept)
        await sharing?.configure(SharedNames(configuration))
        actions.take(configuration.rules)
        return fresh
    }

    /// Deletes what the journal keeps no longer. A watcher that stands by leaves that to those with the newest configuration,
    /// who know which sources and sessions are in use.
    func prune(_ configuration: Configuration) async {
        if await sharing?.takesPart ?? true { await pruner.prune(configuration) }
    }

    /// Stores how late polls start, for `status`, and with it that the watcher runs, for the next start.
    func storeLateness() async {
        do throws(JournalError) {
            try await journal.store(await watcher.lateness(), of: journal.shares?.name ?? "")
        } catch {
            log.log(.warning, "failed to store how late polls start: \(error.detail)")
        }
    }

    /// Stops the dispatcher, then closes the connections and the journal.
    /// - Parameters:
    ///   - task: is waited for before the journal is closed; it may itself wait for the dispatcher.
    ///   - deadline: when deliveries that are under way are cancelled; nil for five seconds from now.
    func close(after task: Task<Void, Never>? = nil, by deadline: BootTime? = nil) async {
        await dispatcher.stop(by: deadline ?? clock.now().boot.advanced(by: .seconds(5)))
        await task?.value
        await client.shutdown()
        do throws(JournalError) { try await journal.close() } catch {
            log.log(.error, "failed to close the journal: \(error.detail)")
        }
    }

    private static func watch(_ configuration: Configuration) -> WatchConfiguration {
        WatchConfiguration(sources: configuration.sources, rules: RuleSet(configuration.rules))
    }
}
