// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import VedetteConfig
import VedetteCore
import VedetteSystem

struct CheckCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Read the configuration and print every error in it, with file, line and column.",
        discussion: """
            It runs the tests of the rules; one that fails is an error here, and a warning for `run`. What the last poll of a \
            source showed to be a mistake, such as a path that leads into a list, is a warning, as is a program of 'jq' that \
            does not compile. A new 'replace' or 'ignore' is tried on the items that the last poll stored.

            Examples:
              vedette check
              vedette check --config ./rules
            """)

    @OptionGroup var places: Paths

    func run() async throws {
        let configuration = try UserConfiguration.loadChecked(places)
        let counts = [
            (configuration.sources.count, "source"), (configuration.sinks.count, "sink"),
            (configuration.rules.count, "rule"),
        ]
        let text = counts.map { "\($0) \($1)\($0 == 1 ? "" : "s")" }.joined(separator: ", ")
        try Output.print("ok: \(text) in \(configuration.files.count) file\(configuration.files.count == 1 ? "" : "s")")
        // No error: jq may be missing where a configuration is only checked.
        let problems = try? await SystemThread.run { JQTransformer().problems(of: configuration.sources) }
        for problem in problems ?? [] { Output.diagnose("warning: \(problem)") }
        // A database may be out of reach where a configuration is checked.
        if configuration.settings.postgres == nil { await warn(configuration.sources) }
    }

    /// Prints what sources were last read with, unless their options have changed since.
    private func warn(_ sources: [Source]) async {
        guard let journal = places.journalIfKnown, let records = try? await journal.reader().sourceRecords() else {
            return
        }
        let heads = Dictionary(records.map { ($0.name, $0.snapshot) }) { first, _ in first }
        for source in sources {
            guard let head = heads[source.name] ?? nil else { continue }
            if let warning = head.warning, head.identity == source.identity, head.fingerprints == source.fingerprints {
                Output.diagnose("warning: \(source.name): \(warning)")
            }
            let added = FilterTrial.added(in: source, since: head)
            if !added.isEmpty, let stored = try? await journal.reader().items(of: source.name) {
                let problems = FilterTrial.problems(
                    of: added, with: stored.values.compactMap(\.item),
                    unstored: source.kind.measureNames.union(["key"]))
                for problem in problems {
                    Output.diagnose("warning: \(source.name): \(problem)")
                }
            }
        }
    }
}
