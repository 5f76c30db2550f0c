// SPDX-License-Identifier: Apache-2.0

import VedetteConfig
import VedetteCore
import VedetteEngine
import VedetteSystem

/// Reads secrets again when their files change, so that nothing that was refused waits for its next attempt.
struct SecretWatch {
    /// Kubernetes replaces all files of a directory at once, by a link of this name.
    private static let link = "..data"

    private let app: App

    init(_ app: App) { self.app = app }

    /// Watches the files of a configuration until its task is cancelled.
    func run(_ configuration: Configuration) async {
        let watched = configuration.watchedSecrets
        var versions = watched.map(\.secret.version)
        guard !watched.isEmpty, let watch = watch(watched) else { return }
        for await _ in watch.changes {
            let next = app.clock.now().boot.advanced(by: DaemonTriggers.settling)
            guard (try? await app.clock.sleep(until: next)) != nil else { return }
            for secret in watched.map(\.secret) { _ = await secret.refresh() }
            // By versions: a poll that was refused may have read it first.
            let now = watched.map(\.secret.version)
            let changed = zip(watched, zip(versions, now)).filter { $1.0 != $1.1 }.map { ObjectIdentifier($0.0.secret) }
            versions = now
            if !changed.isEmpty { await retry(Set(changed), configuration) }
        }
    }

    private func watch(_ watched: [WatchedSecret]) -> DirectoryWatch? {
        let (directories, names) = (Set(watched.map(\.directory)), Set(watched.map(\.name)))
        let log = app.log
        return DirectoryWatch(directories.sorted(), files: names.sorted() + [SecretWatch.link]) { directory, _ in
            log.log(.info, "failed to watch \(directory); secrets in it are read again when they are refused")
        }
    }

    /// Lets everything that was refused with another value of these secrets try again.
    private func retry(_ changed: Set<ObjectIdentifier>, _ configuration: Configuration) async {
        func uses(_ secrets: [Secret]) -> Bool { secrets.contains { changed.contains(ObjectIdentifier($0)) } }
        app.log.log(.notice, "read \(counted(changed.count, "secret")) again, whose file changed")
        if let token = configuration.listen?.token, uses([token]), let problem = PageToken.problem(of: token.value) {
            app.log.log(.error, "the page lets in nobody until it has another token: 'token' \(problem)")
        }
        for source in configuration.sources where uses(source.server.secrets) {
            await app.watcher.poll(source.name, onlyIfRefused: true)
        }
        for sink in configuration.sinks where uses(sink.secrets) {
            do throws(JournalError) {
                try await app.dispatcher.retry(sink: sink.name, onlyIfStopped: true)
            } catch {
                app.log.log(error.logLevel, "failed to resume the sink \(sink.name): \(error.detail)")
            }
        }
    }
}
