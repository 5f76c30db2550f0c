// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import VedetteConfig
import VedetteCore

struct ExportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export", abstract: "Print the feeds of the configuration as a list for other readers (OPML).",
        discussion: """
            A feed with a password is left out: an OPML file is made to be passed on.

            Examples:
              vedette export > feeds.opml
              newsboat -i <(vedette export)
            """)

    @OptionGroup var places: Paths

    func run() async throws {
        let feeds = try UserConfiguration.load(places, secrets: .none).sources.filter { $0.kindName == "feed" }
        let open = feeds.filter(\.isOpen)
        for line in OPML(open.map { OPML.Feed(url: $0.url, title: $0.name) }).lines { try Output.print(line) }
        if open.count < feeds.count {
            Output.diagnose(
                "left out: \(counted(feeds.count - open.count, "feed")) with a password or headers of its own, "
                    + "or of a file or command")
        }
    }
}

extension Source {
    /// Whether other programs can read it by its address alone, which holds no secret.
    var isOpen: Bool {
        WebURL(url) != nil && server.credentials == nil && server.headers.isEmpty
            && server.login == nil && server.tokenLogin == nil && server.handshake == nil
    }
}
