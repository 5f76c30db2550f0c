// SPDX-License-Identifier: Apache-2.0

import Foundation
public import VedetteCore
import VedetteSystem

/// Reads the configuration: every `*.yaml` in the directory and in `rules/` below it, in bytewise order of path.
public struct ConfigurationLoader: Sendable {
    private let directory: String?
    private let kinds: Kinds
    let environment: [String: String]
    private var secrets: SecretScope
    private let clock: (any Clock)?

    /// Creates a loader.
    /// - Parameters:
    ///   - directory: the value of `--config`, a directory or one file; nil searches `$XDG_CONFIG_HOME/vedette`, then `/etc/vedette`.
    ///   - environment: the variables for `env:` and the search; nil for this process's.
    ///   - secrets: which secrets and files of `tls` are read.
    ///   - clock: shows which windows have ended; nil warns of none.
    public init(
        directory: String? = nil, sourceKinds: [SourceKindEntry], sinkKinds: [SinkKindEntry],
        recurrence: @escaping RecurrenceReader = { _, _, _ in nil }, environment: [String: String]? = nil,
        secrets: SecretScope = .all, clock: (any Clock)? = nil
    ) {
        (self.directory, self.secrets, self.clock) = (directory, secrets, clock)
        kinds = Kinds(sources: sourceKinds, sinks: sinkKinds, recurrence: recurrence)
        self.environment = environment ?? ProcessInfo.processInfo.environment
    }

    /// The directories to watch for changes of what `load` reads, and the one file in them that counts; nil for all files.
    public var watched: (directories: [String], files: [String]?) {
        guard let path = findPath(Findings()) else { return ([], nil) }
        if isDirectory(path) { return ([path, path + "/rules"], nil) }
        let slash = path.lastIndex(of: "/")
        let name = slash.map { String(path[path.index(after: $0)...]) } ?? path
        return ([slash.map { String(path[..<$0]) } ?? "."], [name])
    }

    /// The directory where a first configuration belongs; nil when no home directory is known.
    public var directoryToWrite: String? { directory ?? userDirectory }

    /// The same loader, for what neither polls nor sends.
    public var withoutSecrets: ConfigurationLoader {
        var loader = self
        loader.secrets = .none
        return loader
    }

    /// Whether no directory was named and none exists.
    public var isMissing: Bool { directory == nil && findPath(Findings()) == nil }

    /// Reads and validates all files. Blocks on files, and for at most 10 s on the programs of `command:` secrets, which run
    /// at the same time.
    public func load() -> Loaded { load(SecretCommands()) }

    /// Does the same on a thread of its own. Cancelling the task kills the programs, and does not wait for a file system
    /// that hangs.
    /// - Returns: nil when the task was cancelled, or when there was no thread.
    public func loadOnThread() async -> Loaded? {
        let commands = SecretCommands()
        return await withTaskCancellationHandler {
            do throws(BlockingQueue.Refusal) {
                return try await BlockingQueue(capacity: 1).run { load(commands) }
            } catch {
                return nil
            }
        } onCancel: {
            commands.cancel()
        }
    }

    private func load(_ commands: SecretCommands) -> Loaded {
        let findings = Findings()
        guard let path = findPath(findings) else { return Loaded(diagnostics: findings.sorted()) }
        let files = ConfigurationFile.all(in: path, findings)
        if files.isEmpty, !findings.hasErrors {
            findings.error(
                Place(file: path),
                "no *.yaml file is here; `vedette init` writes one, or name another directory with --config")
        }
        var loaded = load(files, findings, commands)
        loaded.directory = path
        return loaded
    }

    /// Returns the names that are in use, also when the files have errors. Reads no secret.
    public func names() -> NamesInUse {
        var names = NamesInUse()
        let secrets = SecretReader(environment: environment, findings: Findings(), reads: false)
        let expansion = SourceExpansion(values: ValueReader(secrets: secrets))
        for root in roots() {
            let entries = root.child("sources")?.entries("'sources'", expansion.values.findings) ?? []
            names.sources.formUnion(entries.flatMap(expansion.expand).map(\.name))
            names.sinks.formUnion(root.child("sinks")?.keys.compactMap(\.text) ?? [])
            names.servers.formUnion(root.child("servers")?.keys.compactMap(\.text) ?? [])
            names.rules.formUnion(root.child("rules")?.children.compactMap { $0.child("name")?.text } ?? [])
        }
        return names
    }

    /// Reads the files without validating them; leaves out those that cannot be read.
    func roots(where isWanted: (ConfigurationFile) -> Bool = { _ in true }) -> [YAMLNode] {
        let findings = Findings()
        guard let path = findPath(findings) else { return [] }
        return ConfigurationFile.all(in: path, findings).filter(isWanted).compactMap {
            YAMLDocument.root(of: $0, budget: AliasBudget(), findings)
        }
    }

    /// Reads the place of the journal alone, for commands that need nothing else of the configuration. Blocks as `load`.
    /// - Returns: nil where the files that can be read name no database; diagnostics are errors where its place is wrong.
    public func journalServer() -> (server: PostgresServer?, diagnostics: [Diagnostic]) {
        let findings = Findings()
        let values = ValueReader(secrets: SecretReader(environment: environment, findings: findings))
        let server = roots { $0.mentions("journal") }.compactMap { $0.child("settings")?.child("journal") }
            .compactMap { MapReader($0, "'journal'", keys: ConfigurationKeys.journal, values) }
            .compactMap(SettingsReader(values: values).server).last
        return (findings.hasErrors ? nil : server, findings.sorted())
    }

    /// Validates a text as one more file of the configuration, and returns what is said about that file.
    public func load(adding text: String) -> [Diagnostic] {
        let findings = Findings()
        let path = "proposal.yaml"
        let files = findPath(Findings()).map { ConfigurationFile.all(in: $0, Findings()) } ?? []
        let proposed = ConfigurationFile(path: path, text: text, isPrivate: true)
        return load(files + [proposed], findings).diagnostics.filter { $0.file == path }
    }

    /// Reads rules that are in no file, beside the sources, sinks and windows of the files: one rule, a list of them, or a file
    /// with `rules`, of which nothing else is read.
    /// - Returns: the rules, and what is said about them; with an error a rule may lack a part.
    public func rules(trying text: String) -> (rules: [Rule], diagnostics: [Diagnostic]) {
        let findings = Findings()
        let tried = ConfigurationFile(path: "rule", text: text, isPrivate: true)
        let files = findPath(Findings()).map { ConfigurationFile.all(in: $0, Findings()) } ?? []
        let secrets = SecretReader(environment: environment, findings: findings, reads: false)
        let values = ValueReader(secrets: secrets)
        let configuration = ConfigurationBuilder(kinds: kinds, values: values, valuesOfRest: values)
            .build(files, trying: tried)
        return (configuration.rules, findings.sorted().filter { $0.file == tried.path })
    }

    /// Validates files that are in memory.
    func load(
        _ files: [ConfigurationFile], _ findings: Findings = Findings(), _ commands: SecretCommands = SecretCommands()
    ) -> Loaded {
        let answers = secrets == .none ? [:] : commands.run(programs(in: files))
        let reader = SecretReader(
            environment: environment, findings: findings, answers: answers, reads: secrets != .none)
        let configuration = build(files, reader)
        return Loaded(
            configuration: findings.hasErrors ? nil : configuration, readable: configuration,
            diagnostics: findings.sorted())
    }

    private func build(_ files: [ConfigurationFile], _ reader: SecretReader) -> Configuration {
        let rest =
            secrets == .ofSources
            ? SecretReader(environment: environment, findings: reader.findings, reads: false) : reader
        return ConfigurationBuilder(
            kinds: kinds, values: ValueReader(secrets: reader), valuesOfRest: ValueReader(secrets: rest),
            now: clock?.now().wall
        ).build(files)
    }

    /// Returns the programs that secrets name. Only a whole reading tells them from other options called `command`.
    private func programs(in files: [ConfigurationFile]) -> [[String]] {
        let words = ["command", "credential"]
        guard files.contains(where: { file in words.contains { file.text.contains($0) } }) else { return [] }
        let secrets = SecretReader(environment: environment, findings: Findings(), answers: nil)
        _ = build(files, secrets)
        return secrets.commands
    }

    private func findPath(_ findings: Findings) -> String? {
        if let directory {
            if isDirectory(directory) { return directory }
            let isFile = FileManager.default.fileExists(atPath: directory)
            if isFile, directory.hasSuffix(".yaml") { return directory }
            findings.error(
                Place(file: directory),
                isFile
                    ? "only a *.yaml file or a directory is a configuration; rename it, or name another with --config"
                    : "this directory does not exist; `vedette init --config \(shellWord(directory))` writes a first one there"
            )
            return nil
        }
        let candidates = [userDirectory, "/etc/vedette"].compactMap { $0 }
        if let found = candidates.first(where: isDirectory) { return found }
        findings.error(
            Place(file: candidates[0]),
            "no configuration: \(candidates.joined(separator: " and ")) do not exist; "
                + "`vedette init` writes a first one, or name a directory with --config")
        return nil
    }

    /// An empty or relative `$XDG_CONFIG_HOME` is ignored (XDG base directory specification 0.8).
    private var userDirectory: String? {
        if let home = environment["XDG_CONFIG_HOME"], home.hasPrefix("/") { return home + "/vedette" }
        return environment["HOME"].flatMap { $0.hasPrefix("/") ? $0 + "/.config/vedette" : nil }
    }

    private func isDirectory(_ path: String) -> Bool {
        var isDirectory: ObjCBool = false
        return FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory) && isDirectory.boolValue
    }
}

/// Which secrets are read. One that is not read has an empty value, and is no error where it is missing.
public enum SecretScope: Sendable {
    /// No secret. Commands that neither poll nor send work in a shell without the credentials of the service.
    case none
    /// The secrets of servers and sources. Commands that poll and send no message need no others.
    case ofSources
    /// Every secret.
    case all
}

/// The tables of kinds.
struct Kinds: Sendable {
    var sources: [SourceKindEntry]
    var sinks: [SinkKindEntry]
    /// Reads `repeat` of windows.
    var recurrence: RecurrenceReader

    /// The options of each kind of source, by its name.
    var sourceOptions: [String: [OptionSpec]] {
        Dictionary(sources.map { ($0.name, $0.options) }) { first, _ in first }
    }
    /// The options of each kind of sink, by its name.
    var sinkOptions: [String: [OptionSpec]] {
        Dictionary(sinks.map { ($0.name, $0.options) }) { first, _ in first }
    }
}

/// The names that the files use.
public struct NamesInUse: Sendable {
    /// The names of sources.
    public var sources: Set<String> = []
    /// The names of sinks.
    public var sinks: Set<String> = []
    /// The names of servers.
    public var servers: Set<String> = []
    /// The names of rules.
    public var rules: Set<String> = []

    /// Creates a value without names.
    public init() {}
}
