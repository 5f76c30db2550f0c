// SPDX-License-Identifier: Apache-2.0

import Glibc
import VedetteConfig
import VedetteCore
import VedetteEngine
import VedetteSystem

/// What the daemon acts on, in the order in which it happens.
struct DaemonTriggers: Sendable {
    enum Trigger: Sendable {
        case request(Signals.Request)
        case filesChanged
        case hourPassed
        case minutePassed
        case heartbeatDue
        /// The journal is damaged, or another watcher has it.
        case journalUnusable(JournalError)
        case journalChanged(JournalAlarm.Announcement)
        case reloaded(ConfigurationReload.Outcome)
    }

    /// From the first change of a file to the reload: an editor writes a file in several steps.
    static let settling = Duration.milliseconds(200)
    /// How often systemd's watchdog hears of the daemon, and the size of the journal is checked.
    private static let minute = Duration.seconds(60)

    let all: AsyncStream<Trigger>
    private let continuation: AsyncStream<Trigger>.Continuation
    private let clock: SystemClock

    init(_ clock: SystemClock) {
        (all, continuation) = AsyncStream.makeStream(of: Trigger.self)
        self.clock = clock
    }

    func post(_ trigger: Trigger) { continuation.yield(trigger) }

    /// Ends the triggers after those that were posted.
    func finish() { continuation.finish() }

    /// Posts what happens, until the tasks are cancelled.
    func forward(_ signals: Signals, _ loader: ConfigurationLoader, _ app: App) -> [Task<Void, Never>] {
        let (directories, files) = loader.watched
        @Sendable func warn(_ what: String, _ code: Int32) {
            // inotify(7): the limit of watches is reported as a full disk.
            let cause = code == ENOSPC ? "fs.inotify.max_user_watches is reached" : String(cString: strerror(code))
            app.log.log(
                .warning, "failed to watch \(what) for changes: \(cause); SIGHUP still reloads the configuration")
        }
        let watch: DirectoryWatch? = DirectoryWatch(directories, files: files, unwatched: warn)
        if watch == nil { warn("the configuration", errno) }
        return [
            Task { for await request in signals.requests { post(.request(request)) } },
            Task {
                guard let watch else { return }
                for await _ in watch.changes {
                    guard (try? await clock.sleep(until: clock.now().boot.advanced(by: Self.settling))) != nil
                    else { return }
                    post(.filesChanged)
                }
            },
            Task { for await change in app.monitored.announcements { post(.journalChanged(change)) } },
            Task {
                guard let losses = app.losses else { return }
                for await loss in losses { post(.journalUnusable(loss)) }
            },
            tick(every: JournalPruner.interval, .hourPassed), tick(every: Self.minute, .minutePassed),
        ]
    }

    /// Posts a trigger now and after each interval, until the task is cancelled.
    func tick(every interval: Duration, _ trigger: Trigger) -> Task<Void, Never> {
        Task {
            while !Task.isCancelled {
                post(trigger)
                guard (try? await clock.sleep(until: clock.now().boot.advanced(by: interval))) != nil else { return }
            }
        }
    }
}
