// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import VedetteConfig
import VedetteCore

struct AcceptCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "accept", abstract: "Accept a suspect observation as true: the list really is empty.",
        discussion: """
            The running watcher polls the source at once and accepts what it sees; without one, the next `run` does.

            Examples:
              vedette accept lab-systems
              vedette accept lab-systems && vedette status --watch
            """)

    @Argument(help: "The source.", completion: Completions.sources)
    var source: String

    @OptionGroup var places: Paths

    func run() async throws {
        let source = try UserConfiguration.source(source, in: try UserConfiguration.readable(places))
        let journal = try places.journal
        try await journal.accept(source: source.name, at: SystemClock().now().wall)
        if await journal.watcher() == nil {
            Output.diagnose("vedette: no watcher runs: the next `vedette run` accepts what it sees")
        }
    }
}
