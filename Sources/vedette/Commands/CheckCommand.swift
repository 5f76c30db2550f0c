// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import VedetteConfig

struct CheckCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Read the configuration and print every error in it, with file, line and column.",
        discussion: """
            It runs the tests of the rules; one that fails is an error here, and a warning for `run`.

            Examples:
              vedette check
              vedette check --config ./rules
            """)

    @OptionGroup var places: Paths

    func run() throws {
        let configuration = try UserConfiguration.loadChecked(places)
        let counts = [
            (configuration.sources.count, "source"), (configuration.sinks.count, "sink"),
            (configuration.rules.count, "rule"),
        ]
        let text = counts.map { "\($0) \($1)\($0 == 1 ? "" : "s")" }.joined(separator: ", ")
        try Output.print("ok: \(text) in \(configuration.files.count) file\(configuration.files.count == 1 ? "" : "s")")
    }
}
