// SPDX-License-Identifier: Apache-2.0

import Glibc
import VedetteConfig
import VedetteCore
import VedetteEngine
import VedetteSystem

/// `run` in the foreground: watches until SIGTERM or SIGINT, and reloads on SIGHUP or a changed file.
struct Daemon {
    /// From the first change of a file to the reload: an editor writes a file in several steps.
    static let settling = Duration.milliseconds(200)
    /// How often systemd's watchdog hears of it, and the size of the journal is checked.
    private static let minute = Duration.seconds(60)

    private enum Trigger: Sendable {
        case request(Signals.Request)
        case filesChanged
        case hourPassed
        case minutePassed
        case heartbeatDue
        case journalDamaged(JournalError)
        case journalLost(JournalError)
        case journalChanged(JournalAlarm.Announcement)
        case reloaded(Reload)
    }

    /// What a reload brought into force.
    private struct Reload: Sendable {
        /// Nil when the previous one stays.
        var configuration: Configuration?
        var sinks: SinkRegistry
    }

    let app: App
    let loader: ConfigurationLoader
    /// The journal as commands use it, for the page.
    let access: any JournalAccess

    /// - Parameters:
    ///   - configuration: the one that the program was assembled from.
    ///   - signals: received since before the program was assembled.
    ///   - stop: ends the process where stopping takes too long.
    func run(_ configuration: Configuration, _ signals: Signals, _ stop: StopDeadline) async throws {
        let notifier = ServiceNotifier()
        let announcer = JournalAnnouncer(
            log: app.log, notifier: notifier, clock: app.clock, random: SystemRandomGenerator())
        let (triggers, continuation) = AsyncStream.makeStream(of: Trigger.self)
        var (configuration, sinks) = (configuration, app.sinks)
        let forwarders = forward(signals, to: continuation)
        // Before deadlines run down: a match that was acknowledged meanwhile gets no reminder.
        await ControlRequests(app).carryOutWaiting()
        let watching = Task { await app.watcher.run() }
        let requests = Task { await ControlRequests(app).run() }
        let sharing = app.sharing.map { sharing in Task { await sharing.run() } }
        let check = Task {
            do throws(JournalError) {
                try await app.journal.checkInBackground()
            } catch {
                continuation.yield(.journalDamaged(error))
            }
        }
        var pruning: Task<Void, Never>?
        var measuring: Task<Void, Never>?
        var announcing: Task<Void, Never>?
        var reloading: Task<Void, Never>?
        var mustReload = false
        var damage: JournalError?
        let heartbeat = HeartbeatSender(
            fetcher: app.client, clock: app.clock, log: app.log, userAgent: UserAgent.standard)
        var heartbeats = heartbeatTicker(configuration, to: continuation)
        var beating: Task<Void, Never>?
        var isStoring = true
        let page = PageService(
            configuration, journal: access, clock: app.clock, log: app.log, metrics: app.metrics,
            numbers: { [app, access] in await app.numbers($0, access) },
            durations: { [app] in await app.watcher.pollDurations(of: $0) })
        await page.apply(configuration)
        var secrets = watchSecrets(of: configuration)
        notifier.ready(Daemon.status(configuration))
        app.log.log(.notice, Daemon.status(configuration))
        for await trigger in triggers {
            switch trigger {
            case .request(.reload), .filesChanged:
                // Beside this loop, so that signals overtake it; one at a time.
                mustReload = reloading != nil
                if mustReload { continue }
                notifier.reloading()
                reloading = reload(sinks, after: pruning, to: continuation)
            case .reloaded(let fresh):
                (configuration, sinks) = (fresh.configuration ?? configuration, fresh.sinks)
                if fresh.configuration != nil {
                    await page.apply(configuration)
                    heartbeats?.cancel()
                    heartbeats = heartbeatTicker(configuration, to: continuation)
                    secrets.cancel()
                    secrets = watchSecrets(of: configuration)
                }
                reloading = mustReload ? reload(sinks, after: pruning, to: continuation) : nil
                if !mustReload { notifier.ready(Daemon.status(configuration)) }
                mustReload = false
            case .request(.stop): continuation.finish()
            case .journalDamaged(let error), .journalLost(let error):
                damage = error
                continuation.finish()
            // From this loop too; a watcher that stores nothing delivers nothing, which its monitor must notice.
            case .heartbeatDue:
                guard isStoring, let settings = configuration.heartbeat else { continue }
                beating = task(after: beating) { await heartbeat.beat(settings) }
            case .journalChanged(let announcement):
                if case .recovered = announcement { isStoring = true } else { isStoring = false }
                let (previous, sinks, current) = (announcing, sinks.sinks, configuration)
                announcing = Task {
                    await previous?.value
                    await announcer.tell(announcement, sinks: sinks, of: current)
                }
                // Pages that are damaged are not put right by trying again.
                if case .failing(let error) = announcement, error.reason == .corrupt {
                    damage = error
                    continuation.finish()
                }
            // Sent from this loop, since it proves that the loop goes on.
            case .minutePassed:
                notifier.alive()
                app.monitored.remind()
                guard reloading == nil else { continue }
                // Thousands of events a second fill a disk within the hour.
                let current = configuration
                measuring = task(after: measuring) { await app.storeLateness() }
                pruning = task(after: pruning) {
                    if await app.pruner.isBeyondSize(current) { await app.pruner.prune(current) }
                }
            case .hourPassed where reloading != nil: continue
            case .hourPassed:
                // Beside this loop, so that signals and reloads overtake it; one at a time.
                let current = configuration
                pruning = task(after: pruning) { await app.pruner.prune(current) }
            }
        }
        notifier.stopping()
        app.log.log(.notice, "stopping")
        let deliveriesEnd = stop.begin(damage.map { Exit($0).code.rawValue } ?? Exit.ended(by: SIGTERM))
        defer { stop.cancel() }
        for task in [requests, check, sharing].compactMap({ $0 }) { task.cancel() }
        heartbeats?.cancel()
        secrets.cancel()
        beating?.cancel()
        pruning?.cancel()
        measuring?.cancel()
        reloading?.cancel()
        await reloading?.value
        await page.stop()
        await app.watcher.stop()
        await watching.value
        await requests.value
        await check.value
        await pruning?.value
        await measuring?.value
        await beating?.value
        await announcing?.value
        await app.close(after: sharing, by: deliveriesEnd)
        for forwarder in forwarders { forwarder.cancel() }
        if let damage { throw damage }
    }

    /// Starts a task that waits for the previous one. Cancelling it cancels both.
    private func task(
        after previous: Task<Void, Never>?, _ work: @escaping @Sendable () async -> Void
    ) -> Task<Void, Never> {
        Task {
            if let previous {
                await withTaskCancellationHandler {
                    await previous.value
                } onCancel: {
                    previous.cancel()
                }
            }
            if !Task.isCancelled { await work() }
        }
    }

    private static func status(_ configuration: Configuration) -> String {
        "watching \(counted(configuration.sources.count, "source"))"
    }

    private func forward(
        _ signals: Signals, to continuation: AsyncStream<Trigger>.Continuation
    ) -> [Task<Void, Never>] {
        let (directories, files) = loader.watched
        @Sendable func warn(_ what: String, _ code: Int32) {
            // inotify(7): the limit of watches is reported as a full disk.
            let cause = code == ENOSPC ? "fs.inotify.max_user_watches is reached" : String(cString: strerror(code))
            app.log.log(
                .warning, "failed to watch \(what) for changes: \(cause); SIGHUP still reloads the configuration")
        }
        let watch: DirectoryWatch? = DirectoryWatch(directories, files: files, unwatched: warn)
        if watch == nil { warn("the configuration", errno) }
        let (clock, requests) = (app.clock, signals.requests)
        return [
            Task { for await request in requests { continuation.yield(.request(request)) } },
            Task {
                guard let watch else { return }
                for await _ in watch.changes {
                    guard (try? await clock.sleep(until: clock.now().boot.advanced(by: Daemon.settling))) != nil
                    else { return }
                    continuation.yield(.filesChanged)
                }
            },
            Task { for await change in app.monitored.announcements { continuation.yield(.journalChanged(change)) } },
            Task {
                guard let losses = app.losses else { return }
                for await loss in losses { continuation.yield(.journalLost(loss)) }
            },
            ticker(JournalPruner.interval) { continuation.yield(.hourPassed) },
            ticker(Daemon.minute) { continuation.yield(.minutePassed) },
        ]
    }

    private func watchSecrets(of configuration: Configuration) -> Task<Void, Never> {
        Task { await SecretWatch(app).run(configuration) }
    }

    private func heartbeatTicker(
        _ configuration: Configuration, to continuation: AsyncStream<Trigger>.Continuation
    ) -> Task<Void, Never>? {
        configuration.heartbeat.map { settings in ticker(settings.every) { continuation.yield(.heartbeatDue) } }
    }

    private func ticker(_ interval: Duration, _ tick: @escaping @Sendable () -> Void) -> Task<Void, Never> {
        let clock = app.clock
        return Task {
            while !Task.isCancelled {
                tick()
                guard (try? await clock.sleep(until: clock.now().boot.advanced(by: interval))) != nil else { return }
            }
        }
    }

    /// Loads and applies the configuration, all or nothing: with any error the previous one stays active. Cancelling it
    /// ends the programs of secrets.
    /// - Parameter pruning: is cancelled first: it must not delete the snapshot of a source that comes back.
    private func reload(
        _ sinks: SinkRegistry, after pruning: Task<Void, Never>?, to continuation: AsyncStream<Trigger>.Continuation
    ) -> Task<Void, Never> {
        pruning?.cancel()
        return Task {
            await pruning?.value
            continuation.yield(.reloaded(await reloaded(sinks)))
        }
    }

    private func reloaded(_ sinks: SinkRegistry) async -> Reload {
        let unchanged = Reload(configuration: nil, sinks: sinks)
        guard let loaded = await loader.loadOnThread(), !Task.isCancelled else {
            app.log.log(.warning, "the configuration was not reloaded: its reading was interrupted")
            return unchanged
        }
        for diagnostic in loaded.diagnostics {
            app.log.log(diagnostic.severity == .warning ? .warning : .error, diagnostic.text)
        }
        guard let configuration = loaded.configuration else {
            app.log.log(.error, "failed to reload the configuration: it has errors; the previous one stays active")
            return unchanged
        }
        do throws(JournalError) {
            let sinks = try await app.reload(configuration, sinks: sinks)
            app.log.log(
                .notice,
                "reloaded: \(counted(configuration.sources.count, "source")), \(counted(configuration.rules.count, "rule"))"
            )
            return Reload(configuration: configuration, sinks: sinks)
        } catch {
            app.log.log(.error, "failed to apply the new configuration: \(error.detail)")
            return unchanged
        }
    }
}
