// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import VedetteConfig
import VedetteCore

struct PollCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "poll", abstract: "Let the running watcher poll a source now.",
        discussion: """
            A Retry-After of the server is kept. `vedette list SOURCE --fresh` polls without a watcher and stores nothing.

            Examples:
              vedette poll lab-systems
              vedette poll lab-systems && vedette status --watch
            """)

    @Argument(help: "The source.", completion: Completions.sources)
    var source: String

    @OptionGroup var places: Paths

    func run() async throws {
        let source = try UserConfiguration.source(source, in: try UserConfiguration.readable(places))
        let journal = try places.journal
        guard await journal.watcher() != nil else {
            throw Exit(.unavailable, "no watcher runs; `vedette list \(source.name) --fresh` polls without one")
        }
        try await journal.poll(source: source.name, at: SystemClock().now().wall)
    }
}
