// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// Builds the configuration from all files: collects their sections, checks that names are unique over all files, and
/// resolves references. It continues after an error, so that all errors are reported at once.
struct ConfigurationBuilder {
    let kinds: Kinds
    let values: ValueReader
    /// Reads sinks and settings. It reads no secret where only those of sources are wanted.
    let valuesOfRest: ValueReader
    /// Shows which windows have ended; nil warns of none.
    var now: Timestamp?

    private var findings: Findings { values.findings }

    /// The values of the top-level keys of all files.
    private struct Sections {
        var maps: [String: [YAMLNode]] = [:]
        var rules: [YAMLNode] = []
    }

    /// - Parameter tried: has the rules in place of those of the files; nil for these.
    func build(_ files: [ConfigurationFile], trying tried: ConfigurationFile? = nil) -> Configuration {
        var sections = sections(files)
        if let tried { sections.rules = rules(of: tried) }
        let serverReader = ServerReader(values: values)
        let serverEntries = named(sections.maps["servers"], "server")
        let servers = serverEntries.map { ($0.name, serverReader.server($0)) }
        let windowEntries = named(sections.maps["windows"], "window")
        let windows = Dictionary(
            windowEntries.map {
                ($0.name, WindowReader(values: values, recurrence: kinds.recurrence).window($0))
            }, uniquingKeysWith: { first, _ in first })
        let sourceReader = SourceReader(
            kinds: kinds.sources, servers: Dictionary(servers, uniquingKeysWith: { first, _ in first }),
            windows: windows, now: now, values: values)
        let sourceEntries = named(sections.maps["sources"], "source", SourceExpansion(values: values).expand)
        let sources = sourceEntries.map { ($0.name, sourceReader.source($0)) }
        let fields = sources.map { ($0.0, $0.1?.kind.fieldNames) }
        let scope = NameScope(fields: Dictionary(fields, uniquingKeysWith: { first, _ in first }))
        let (settings, heartbeat, listen) = SettingsReader(values: valuesOfRest).settings(
            sections.maps["settings"] ?? [])
        let sinkEntries = named(sections.maps["sinks"], "sink")
        let policy = DeliveryPolicyReader(sinks: sinkEntries.map(\.name), giveUp: settings.giveUp)
        let sinkReader = SinkReader(
            kinds: kinds.sinks, policy: policy,
            links: LinkValidator(settings: settings, listen: listen, findings: findings),
            values: ValueReader(secrets: valuesOfRest.secrets, vocabulary: scope.vocabulary))
        let sinks = sinkEntries.map { ($0.name, sinkReader.sink($0)) }

        let textless = Set(kinds.sinks.filter { !$0.showsTexts }.map(\.name))
        let ruleReader = RuleReader(
            scope: scope,
            sinks: sinks.map(\.0),
            textless: Set(sinks.compactMap(\.1).filter { textless.contains($0.kindName) }.map(\.name)),
            each: Set(sinks.compactMap(\.1).filter { !$0.policy.isTextSink && !$0.isGrouped }.map(\.name)),
            windows: windows, values: values)
        let rules = rules(sections.rules, ruleReader)
        validate(rules, sources: zip(sourceEntries, sources.map(\.1)).map { (entry: $0, source: $1) })
        if settings.postgres != nil {
            let local = Set(kinds.sinks.filter(\.isLocal).map(\.name))
            let validator = LocalityValidator(findings: findings)
            for (entry, source) in zip(sourceEntries, sources.map(\.1)) {
                if let source, source.isLocal, source.watcher == nil { validator.refuse(entry, "source") }
            }
            for (entry, sink) in zip(sinkEntries, sinks.map(\.1)) {
                if let sink, local.contains(sink.kindName), sink.watcher == nil { validator.refuse(entry, "sink") }
            }
        }
        UsageValidator(rules: rules, findings: findings).validate(
            sources: sourceEntries, sinks: sinkEntries, windows: windowEntries)
        RuleTestRunner.run(rules, findings)
        let used = Set(sources.compactMap(\.1?.server.name))
        return Configuration(
            servers: servers.compactMap(\.1).sorted { $0.name < $1.name }, sources: sources.compactMap(\.1),
            sinks: sinks.compactMap(\.1), rules: rules.map(\.rule),
            settings: settings, heartbeat: heartbeat, listen: listen, files: files.map(\.path),
            watchedSecrets: values.secrets.watched,
            readSharedDigest: { [kinds, environment = values.secrets.environment] in
                ConfigurationBuilder.sharedDigest(of: files, servers: used, kinds: kinds, environment: environment)
            })
    }

    /// Reads the files once more, since few commands need the digest, and without secrets.
    /// - Parameter used: the servers of sources; no others count.
    private static func sharedDigest(
        of files: [ConfigurationFile], servers used: Set<String>, kinds: Kinds, environment: [String: String]
    ) -> UInt64 {
        let values = ValueReader(secrets: SecretReader(environment: environment, findings: Findings(), reads: false))
        let builder = ConfigurationBuilder(kinds: kinds, values: values, valuesOfRest: values)
        let sections = builder.sections(files)
        let servers = builder.named(sections.maps["servers"], "server").filter { used.contains($0.name) }
        let sources = builder.named(sections.maps["sources"], "source", SourceExpansion(values: values).expand)
        var shared = SharedDigest()
        shared.add("server", servers, SharedDigest.serverKeys)
        shared.add("window", builder.named(sections.maps["windows"], "window"), ConfigurationKeys.window)
        shared.add("source", sources, ConfigurationKeys.source, options: kinds.sourceOptions)
        shared.add(
            "sink", builder.named(sections.maps["sinks"], "sink"), ConfigurationKeys.sink, options: kinds.sinkOptions)
        shared.add(rules: sections.rules)
        return shared.value
    }

    /// Reports rules and sources that can be read but not meant.
    private func validate(_ rules: [ReadRule], sources: [(entry: YAMLEntry, source: Source?)]) {
        let kinds = sources.compactMap { pair in pair.source.map { ($0.name, $0.kind) } }
        let validator = RuleValidator(
            names: sources.map(\.entry.name), kinds: Dictionary(kinds, uniquingKeysWith: { first, _ in first }),
            findings: findings)
        for (entry, source) in sources {
            if let source { validator.validate(source, entry.value) }
        }
        for rule in rules { validator.validate(rule) }
        checkFormerNames(rules)
        Shadowing.validate(rules, findings)
    }

    private func sections(_ files: [ConfigurationFile]) -> Sections {
        var sections = Sections()
        let budget = AliasBudget()
        for file in files {
            guard let root = YAMLDocument.root(of: file, budget: budget, findings), !root.isAbsent,
                let map = MapReader(root, "the file", keys: ConfigurationKeys.top, values)
            else { continue }
            for name in ConfigurationKeys.top.map(\.name) where map.has(name) {
                // A key without a value is an empty section, as in a file that was just begun.
                guard let node = map.value(name), !node.isAbsent else { continue }
                if name == "rules" {
                    sections.rules += node.elements("'rules'", findings) ?? []
                } else {
                    sections.maps[name, default: []].append(node)
                }
            }
        }
        return sections
    }

    /// Returns the rules of a text: one, a list of them, or those of a file.
    private func rules(of file: ConfigurationFile) -> [YAMLNode] {
        guard let root = YAMLDocument.root(of: file, budget: AliasBudget(), findings) else { return [] }
        if let rules = root.child("rules") { return rules.elements("'rules'", findings) ?? [] }
        return root.isList ? root.elements("the text", findings) ?? [] : [root]
    }

    /// Returns the entries of a section over all files. A name that is used twice is an error with both places.
    /// - Parameter expand: makes the entries of a written one.
    private func named(
        _ nodes: [YAMLNode]?, _ noun: String, _ expand: (YAMLEntry) -> [YAMLEntry] = { [$0] }
    ) -> [YAMLEntry] {
        var places: [String: Place] = [:]
        let entries = (nodes ?? []).flatMap { $0.entries("'\(noun)s'", findings) ?? [] }.flatMap(expand)
        return entries.filter { entry in
            guard NameValidator.check(entry.name, noun, at: entry.key.place, findings) != nil else { return false }
            guard let first = places[entry.name] else {
                places[entry.name] = entry.key.place
                return true
            }
            findings.error(entry.key.place, "the \(noun) '\(entry.name)' exists at \(first.text) already; rename one")
            return false
        }
    }

    private func rules(_ nodes: [YAMLNode], _ reader: RuleReader) -> [ReadRule] {
        var places: [String: Place] = [:]
        return nodes.compactMap { node in
            guard let read = reader.rule(node) else { return nil }
            let name = read.rule.name
            if let first = places[name] {
                findings.error(read.place, "the rule '\(name)' exists at \(first.text) already; rename one")
            }
            places[name] = places[name] ?? read.place
            return read
        }
    }

    /// Refuses a former name by which more than one rule would have the rows.
    private func checkFormerNames(_ rules: [ReadRule]) {
        var heirs = Dictionary(rules.map { ($0.rule.name, $0.rule.name) }) { first, _ in first }
        for read in rules {
            guard let was = read.rule.formerName, let place = read.node.child("was")?.place else { continue }
            if let heir = heirs[was] {
                findings.error(
                    place,
                    "what the rule '\(was)' remembers belongs to the rule '\(heir)'; name another one, or remove 'was'")
            }
            heirs[was] = read.rule.name
        }
    }
}
