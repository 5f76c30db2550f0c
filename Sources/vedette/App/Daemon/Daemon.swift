// SPDX-License-Identifier: Apache-2.0

import Glibc
import VedetteConfig
import VedetteCore
import VedetteEngine

/// `run` in the foreground: watches until SIGTERM or SIGINT, and reloads on SIGHUP or a changed file. Its loop alone changes
/// it, one trigger after another.
struct Daemon {
    private let app: App
    private let triggers: DaemonTriggers
    private let notifier = ServiceNotifier()
    private let announcer: JournalAnnouncer
    private let heartbeat: HeartbeatSender
    private let page: PageService
    private var configuration: Configuration
    private var sinks: SinkRegistry
    private var reload: ConfigurationReload
    /// The tasks that end with the configuration: the ticks of the heartbeat, and the watch of its secrets.
    private var followers: [Task<Void, Never>] = []
    private var pruning = WorkLane()
    private var measuring = WorkLane()
    private var beating = WorkLane()
    private var announcing = WorkLane()
    private var isStoring = true
    /// Why the watcher ends by itself.
    private var damage: JournalError?

    /// - Parameters:
    ///   - configuration: the one that the program was assembled from.
    ///   - access: the journal as commands use it, for the page.
    ///   - start: the settings with which the watcher started, and whose journal is open.
    init(
        _ app: App, _ configuration: Configuration, _ loader: ConfigurationLoader, access: any JournalAccess,
        since start: Settings
    ) {
        (self.app, self.configuration, sinks) = (app, configuration, app.sinks)
        triggers = DaemonTriggers(app.clock)
        reload = ConfigurationReload(app, loader, triggers, since: start)
        announcer = JournalAnnouncer(
            log: app.log, notifier: notifier, clock: app.clock, random: SystemRandomGenerator())
        heartbeat = app.heartbeat
        page = PageService(app, configuration, loader, access)
    }

    /// - Parameters:
    ///   - signals: received since before the program was assembled.
    ///   - stop: ends the process where stopping takes too long.
    mutating func run(_ signals: Signals, _ stop: StopDeadline) async throws {
        let forwarders = triggers.forward(signals, reload.loader, app)
        // Before deadlines run down: a match that was acknowledged meanwhile gets no reminder.
        await ControlRequests(app).carryOutWaiting()
        let watching = Task { [app] in await app.watcher.run() }
        let requests = Task { [app] in await ControlRequests(app).run() }
        let sharing = app.sharing.map { sharing in Task { await sharing.run() } }
        let check = Task { [app, triggers] in
            do throws(JournalError) {
                try await app.journal.checkInBackground()
            } catch {
                triggers.post(.journalUnusable(error))
            }
        }
        await follow()
        notifier.ready(status)
        app.log.log(.notice, status)
        for await trigger in triggers.all { await act(on: trigger) }
        notifier.stopping()
        app.log.log(.notice, "stopping")
        let deliveriesEnd = stop.begin(damage.map { Exit($0).code.rawValue } ?? Exit.ended(by: SIGTERM))
        defer { stop.cancel() }
        let ended = [requests, check, sharing, beating.last, pruning.last, measuring.last, reload.task]
        for task in ended.compactMap(\.self) + followers { task.cancel() }
        await reload.task?.value
        await page.stop()
        await app.watcher.stop()
        for task in [watching, requests, check, pruning.last, measuring.last, beating.last, announcing.last] {
            await task?.value
        }
        await app.close(after: sharing, by: deliveriesEnd)
        for forwarder in forwarders { forwarder.cancel() }
        if let damage { throw damage }
    }

    private var status: String { "watching \(counted(configuration.sources.count, "source"))" }

    private mutating func act(on trigger: DaemonTriggers.Trigger) async {
        switch trigger {
        case .request(.stop): triggers.finish()
        case .journalUnusable(let error): end(with: error)
        case .request(.reload), .filesChanged:
            if reload.task == nil { notifier.reloading() }
            reload.start(sinks, after: pruning.last)
        case .reloaded(let outcome):
            sinks = outcome.sinks
            if let new = outcome.configuration {
                configuration = new
                await follow()
            }
            reload.ended(sinks, after: pruning.last)
            if reload.task == nil { notifier.ready(status) }
        // From this loop; a watcher that stores nothing delivers nothing, which its monitor must notice.
        case .heartbeatDue:
            guard isStoring, let settings = configuration.heartbeat else { return }
            beating.add { [heartbeat] in await heartbeat.beat(settings) }
        case .journalChanged(let announcement):
            if case .recovered = announcement { isStoring = true } else { isStoring = false }
            announcing.add { [announcer, sinks, configuration] in
                await announcer.tell(announcement, sinks: sinks.sinks, of: configuration)
            }
            // Pages that are damaged are not put right by trying again.
            if case .failing(let error) = announcement, error.reason == .corrupt { end(with: error) }
        // Sent from this loop, since it proves that the loop goes on.
        case .minutePassed:
            notifier.alive()
            app.monitored.remind()
            guard reload.task == nil else { return }
            measuring.add { [app] in await app.storeLateness() }
            // Thousands of events a second fill a disk within the hour.
            pruning.add { [app, configuration] in
                if await app.pruner.isBeyondSize(configuration) { await app.prune(configuration) }
            }
        case .hourPassed:
            guard reload.task == nil else { return }
            pruning.add { [app, configuration] in await app.prune(configuration) }
        }
    }

    private mutating func end(with error: JournalError) {
        damage = error
        triggers.finish()
    }

    /// Brings the page, the heartbeat and the watch of secrets in line with the configuration.
    private mutating func follow() async {
        await page.apply(configuration)
        for task in followers { task.cancel() }
        followers = [Task { [app, configuration] in await SecretWatch(app).run(configuration) }]
        if let heartbeat = configuration.heartbeat {
            followers.append(triggers.tick(every: heartbeat.every, .heartbeatDue))
        }
    }
}
