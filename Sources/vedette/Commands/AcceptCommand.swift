// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import VedetteConfig
import VedetteCore
import VedetteJournal

struct AcceptCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "accept", abstract: "Say that a suspect observation is true: the list really is empty.",
        discussion: "A running watcher polls the source within a second and believes what it sees.")

    /// How the watcher knows this request.
    static let verb = "accept"

    @OptionGroup var places: Paths

    @Argument(help: "The source.")
    var source: String

    func run() throws {
        let source = try KindRegistry.source(source, in: try KindRegistry.configuration(places))
        let directory = places.journal()
        guard SQLiteJournal.holder(directory: directory) != nil else {
            throw Exit(
                .unavailable, "no watcher runs with the state in \(directory); start `vedette run` and say it again")
        }
        try JournalRequest(verb: AcceptCommand.verb, argument: source.name, created: SystemClock().now().wall)
            .ask(directory: directory)
    }
}
