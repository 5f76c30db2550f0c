// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import VedetteConfig
import VedetteCore

struct ImportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import", abstract: "Turn the feed list of another reader (OPML) into sources.",
        discussion: """
            It prints a source for each feed that the configuration does not have yet, and one rule for all of them.

            Examples:
              vedette import subscriptions.opml > ~/.config/vedette/feeds.yaml
              newsboat -e | vedette import - > ~/.config/vedette/feeds.yaml
            """)

    @OptionGroup var places: Paths

    @Argument(help: "The OPML file; - is standard input.")
    var file: String

    func run() async throws {
        let list = try OPML(try InputFile.bytes(file), name: file)
        let loader = UserConfiguration.loader(places)
        let known = loader.load().configuration.map { Set($0.sources.map(\.url)) } ?? []
        let feeds = FeedImport(list, known: known, names: loader.names())
        for line in feeds.lines { try Output.print(line) }
        for line in feeds.remarks { Output.diagnose(line) }
    }
}

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
        let feeds = try UserConfiguration.load(places, readsSecrets: false).sources.filter { $0.kindName == "feed" }
        let open = feeds.filter {
            $0.server.credentials == nil && $0.server.headers.isEmpty && !$0.url.hasPrefix("file:")
        }
        for line in OPML(open.map { OPML.Feed(url: $0.url, title: $0.name) }).lines { try Output.print(line) }
        if open.count < feeds.count {
            Output.diagnose(
                "left out: \(counted(feeds.count - open.count, "feed")) with a password or headers of its own, or of a file"
            )
        }
    }
}

/// The sources of an OPML list as YAML.
struct FeedImport {
    let lines: [String]
    let remarks: [String]

    /// - Parameters:
    ///   - known: addresses that are watched already.
    ///   - names: names that are taken.
    init(_ list: OPML, known: Set<String>, names: NamesInUse) {
        var (taken, seen) = (names.sources, known)
        var sources: [String] = []
        var added: [String] = []
        var refused: [String] = []
        for feed in list.feeds {
            guard let url = WebURL(feed.url), ["http", "https"].contains(url.scheme) else {
                refused.append(feed.url)
                continue
            }
            guard seen.insert(feed.url).inserted else { continue }
            let name = ProposedName.of(title: feed.title, url: feed.url, besides: taken)
            taken.insert(name)
            added.append(name)
            sources.append("  \(name): {kind: feed, url: \(ProposalText.scalar(feed.url)), every: 30m}")
        }
        let sinks =
            names.sinks.contains(ProposalText.proposedSink)
            ? [] : ProposalText.sinkLines
        lines =
            added.isEmpty
            ? []
            : ["sources:"] + sources + [""] + sinks
                + ["rules:", "  - name: \(ProposedName.free("new-entries", besides: names.rules))"]
                + ["    when: {source: [\(added.joined(separator: ", "))], appears: true}"]
                + ["    notify: [\(ProposalText.proposedSink)]"]
        let old = list.feeds.count - added.count - refused.count
        remarks =
            ["\(counted(added.count, "feed"))" + (old > 0 ? "; \(old) watched already or listed twice" : "")]
            + refused.map { "left out, no http address: \($0)" }
    }
}
