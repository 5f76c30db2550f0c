// SPDX-License-Identifier: Apache-2.0

import VedetteConfig
import VedetteCore
import VedetteDocument

/// Reads the configuration for a command, with the kinds of this program.
enum UserConfiguration {
    static func loader(_ places: Paths, secrets: SecretScope = .all) -> ConfigurationLoader {
        ConfigurationLoader(
            directory: places.config, sourceKinds: KindRegistry.sourceKinds, sinkKinds: KindRegistry.sinkKinds,
            recurrence: RecurrenceDays.days, secrets: secrets, clock: SystemClock())
    }

    /// Loads the configuration, or prints all of its errors and throws `Exit`: 78, or 75 when each of them may pass by
    /// itself.
    /// - Parameters:
    ///   - log: gets the warnings of a configuration without errors; nil drops them.
    static func load(
        _ places: Paths, log: (any Log)? = nil, secrets: SecretScope = .all
    ) throws -> Configuration {
        try configuration(of: loader(places, secrets: secrets).load(), log)
    }

    /// Reads what `status` needs. Errors in files are only counted: a watcher goes on with what it has read before.
    static func facts(_ places: Paths) throws -> ConfigurationFacts {
        let loaded = loader(places, secrets: .none).load()
        if let errors = errors(inFiles: loaded) { return ConfigurationFacts(errors: errors) }
        return try configuration(of: loaded, nil).facts
    }

    /// Reads what a command needs that asks for names, without secrets. Beside errors in files it goes on with what could be
    /// read, and says so: a watcher runs with what it has read before, and a message is acknowledged on a bad day.
    static func readable(_ places: Paths) throws -> Configuration {
        let loaded = loader(places, secrets: .none).load()
        guard let errors = errors(inFiles: loaded), let readable = loaded.readable,
            !readable.sources.isEmpty || !readable.rules.isEmpty
        else { return try configuration(of: loaded, nil) }
        Output.diagnose(
            "warning: the configuration has \(counted(errors, "error")), which `vedette check` lists; this uses what could be read"
        )
        return readable
    }

    /// How many errors there are, some of them in files; nil for none there.
    static func errors(inFiles loaded: Loaded) -> Int? {
        let errors = loaded.diagnostics.filter { $0.severity == .error }
        return loaded.directory != nil && errors.contains { $0.file.hasSuffix(".yaml") } ? errors.count : nil
    }

    private static func configuration(of loaded: Loaded, _ log: (any Log)?) throws -> Configuration {
        guard let configuration = loaded.configuration else {
            let printed = loaded.diagnostics.filter { log != nil || $0.severity == .error }
            for diagnostic in printed { Output.diagnose(diagnostic.description) }
            let errors = loaded.diagnostics.filter { $0.severity == .error }
            let code: Exit.Code = errors.allSatisfy(\.mayPass) ? .temporary : .configuration
            throw Exit(code, "the configuration has \(counted(errors.count, "error"))")
        }
        for diagnostic in loaded.diagnostics { log?.log(.warning, diagnostic.text) }
        return configuration
    }

    /// Loads the configuration as `check` does: a failing test of a rule is an error, too.
    static func loadChecked(_ places: Paths) throws -> Configuration {
        var loaded = loader(places).load()
        var failed = 0
        for i in loaded.diagnostics.indices where loaded.diagnostics[i].isFailedTest {
            loaded.diagnostics[i].severity = .error
            failed += 1
        }
        for diagnostic in loaded.diagnostics { Output.diagnose(diagnostic.description) }
        if let configuration = loaded.configuration, failed == 0 { return configuration }
        let errors = loaded.diagnostics.filter { $0.severity == .error }
        if failed == errors.count { throw Exit(.configuration, "\(counted(failed, "test")) of rules failed") }
        throw Exit(
            errors.allSatisfy(\.mayPass) ? .temporary : .configuration,
            "the configuration has \(counted(errors.count, "error"))")
    }

    static func source(_ name: String, in configuration: Configuration) throws -> Source {
        if let source = configuration.sources.first(where: { $0.name == name }) { return source }
        throw Exit.unknown("source", name, among: configuration.sources.map(\.name))
    }

    static func rule(_ name: String, in configuration: Configuration) throws -> Rule {
        if let rule = configuration.rules.first(where: { $0.name == name }) { return rule }
        throw Exit.unknown("rule", name, among: configuration.rules.map(\.name))
    }
}
