// SPDX-License-Identifier: Apache-2.0

import VedetteConfig
import VedetteCore
import VedetteEngine
import VedettePostgres

extension SharedNames {
    /// What watchers with this configuration divide among them. The digest covers what they must agree on, as it is written
    /// and as this version reads it; `settings` may differ from machine to machine.
    init(_ configuration: Configuration) {
        var digest = StableHash()
        digest.add(configuration.sharedDigest)
        for source in configuration.sources.sorted(by: { $0.name < $1.name }) {
            digest.add("source \(source.name) \(source.watcher ?? "") \(source.interval) \(source.fails)")
            digest.add(source.identity)
        }
        for rule in configuration.rules {
            digest.add("rule \(rule.name)")
            digest.add(rule.identity)
        }
        let origins = SharedNames.limitedOrigins(of: configuration.sources)
        for (source, origin) in origins.sorted(by: { $0.key < $1.key }) { digest.add("limits \(source) \(origin)") }
        let sources = configuration.sources.compactMap { source in source.watcher.map { (source.name, $0) } }
        let sinks = configuration.sinks.compactMap { sink in sink.watcher.map { (sink.name, $0) } }
        self.init(
            sources: Set(configuration.sources.map(\.name)), sinks: Set(configuration.sinks.map(\.name)),
            rules: Set(configuration.rules.map(\.name)), pinnedSources: Dictionary(uniqueKeysWithValues: sources),
            pinnedSinks: Dictionary(uniqueKeysWithValues: sinks), limitedOrigins: origins,
            configuration: Identifier.hex(digest.value))
    }

    /// The name of this watcher.
    static func watcher(of configuration: Configuration) -> String {
        configuration.settings.watcher ?? WatcherProcess.hostName
    }
}
