// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import VedetteConfig
import VedetteCore

struct ImportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Turn the feeds or jobs of another program into sources.",
        discussion: """
            It reads OPML of any feed reader, newsboat's urls, and the jobs of urlwatch and webchanges. It prints a \
            source for each entry whose address the configuration does not have yet, and rules for them. To standard \
            error it writes what it left out of which entry, and the remedy. Passwords are left out: `vedette login` \
            stores them.

            Examples:
              vedette import subscriptions.opml > ~/.config/vedette/feeds.yaml
              vedette import ~/.config/urlwatch/urls.yaml > ~/.config/vedette/pages.yaml
              newsboat -e | vedette import - > ~/.config/vedette/feeds.yaml
            """)

    @Option(help: "The format: opml, newsboat, urlwatch or webchanges; else it is recognised.")
    var format: ImportFormat?

    @OptionGroup var places: Paths

    @Argument(help: "The list; - is standard input.")
    var file: String

    func run() async throws {
        let list = try ImportList(try InputFile.bytes(file), name: file, format: format)
        // A secret that is not stored yet is no reason to import a source twice, and an error elsewhere is none.
        let loader = UserConfiguration.loader(places, secrets: .none)
        let loaded = loader.load()
        if let errors = UserConfiguration.errors(inFiles: loaded) {
            Output.diagnose(
                "warning: the configuration has \(counted(errors, "error")), which `vedette check` lists; "
                    + "what could not be read for them may be imported again")
        }
        let known = Set((loaded.readable?.sources ?? []).map(\.url))
        let text = ImportText(list, name: file, known: known, names: loader.names())
        for line in text.lines { try Output.print(line) }
        for line in text.remarks { Output.diagnose(line) }
    }
}
