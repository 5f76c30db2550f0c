// SPDX-License-Identifier: Apache-2.0

import VedetteConfig
import VedetteCore

/// Reloads the configuration beside the daemon's loop, one reload at a time: what is asked for meanwhile is one more.
struct ConfigurationReload {
    /// What a reload brought into force.
    struct Outcome: Sendable {
        /// Nil when the previous one stays.
        var configuration: Configuration?
        var sinks: SinkRegistry
    }

    let app: App
    let loader: ConfigurationLoader
    let triggers: DaemonTriggers
    /// The settings with which the watcher started.
    private let started: Settings
    /// The reload that is under way.
    private(set) var task: Task<Void, Never>?
    private var isAskedAgain = false

    /// - Parameter start: the settings with which the watcher started.
    init(_ app: App, _ loader: ConfigurationLoader, _ triggers: DaemonTriggers, since start: Settings) {
        (self.app, self.loader, self.triggers, started) = (app, loader, triggers, start)
    }

    /// Loads and applies the configuration, all or nothing: with any error the previous one stays active. Cancelling it
    /// ends the programs of secrets. Its outcome is a trigger.
    /// - Parameter pruning: is cancelled first: it must not delete the snapshot of a source that comes back.
    mutating func start(_ sinks: SinkRegistry, after pruning: Task<Void, Never>?) {
        isAskedAgain = task != nil
        guard !isAskedAgain else { return }
        pruning?.cancel()
        task = Task { [app, loader, triggers, started] in
            await pruning?.value
            triggers.post(.reloaded(await Self.reload(app, loader, sinks, since: started)))
        }
    }

    /// The outcome was taken; begins the next reload where one was asked for meanwhile.
    mutating func ended(_ sinks: SinkRegistry, after pruning: Task<Void, Never>?) {
        task = nil
        if isAskedAgain { start(sinks, after: pruning) }
    }

    /// Reads the configuration beside the caller, and logs what is wrong with it.
    /// - Returns: nil when it has errors, or the reading was interrupted.
    static func load(_ loader: ConfigurationLoader, _ log: any Log) async -> Configuration? {
        guard let loaded = await loader.loadOnThread(), !Task.isCancelled else {
            log.log(.warning, "the configuration was not reloaded: its reading was interrupted")
            return nil
        }
        for diagnostic in loaded.diagnostics {
            log.log(diagnostic.severity == .warning ? .warning : .error, diagnostic.text)
        }
        if loaded.configuration == nil {
            log.log(.error, "failed to reload the configuration: it has errors; the previous one stays active")
        }
        return loaded.configuration
    }

    /// - Parameter start: the settings with which the watcher started.
    private static func reload(
        _ app: App, _ loader: ConfigurationLoader, _ sinks: SinkRegistry, since start: Settings
    ) async -> Outcome {
        let unchanged = Outcome(configuration: nil, sinks: sinks)
        guard let configuration = await load(loader, app.log) else { return unchanged }
        do throws(JournalError) {
            let sinks = try await app.reload(configuration, sinks: sinks)
            let (sources, rules) = (configuration.sources.count, configuration.rules.count)
            app.log.log(.notice, "reloaded: \(counted(sources, "source")), \(counted(rules, "rule"))")
            for key in configuration.settings.keysForRestart(since: start) {
                app.log.log(.warning, "'settings.\(key)' has changed, which takes effect after a restart")
            }
            return Outcome(configuration: configuration, sinks: sinks)
        } catch {
            app.log.log(.error, "failed to apply the new configuration: \(error.detail)")
            return unchanged
        }
    }
}
