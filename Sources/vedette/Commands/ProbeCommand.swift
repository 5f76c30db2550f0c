// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import Glibc
import VedetteConfig
import VedetteCore
import VedetteHTTP

struct ProbeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "probe", abstract: "Fetch an address and propose how to watch it.",
        discussion: """
            It fetches the address twice, a second apart, recognises the format, and prints a source, a sink and a rule that \
            `check` accepts and that it has tried on both responses; --write makes a file of the configuration of them. What it \
            found is printed on stderr. If a page of HTML names a feed, the feed is fetched too. Of a response that does not end, \
            such as server-sent events, it reads for three seconds and proposes 'stream'.

            Examples:
              vedette probe https://www.swift.org/atom.xml --write news
              vedette probe http://127.0.0.1:6800/jsonrpc --body @tell-active.json
              vedette probe /resources/virtualSystems --server lab
            """)

    @Argument(help: "The address; with --server it may be a path.")
    var url: String

    @Option(help: "The kind, if you know it; otherwise it is recognised.", completion: Completions.kinds)
    var kind: String?

    @Option(
        help: "A server of the configuration, whose password, certificate and headers are used.",
        completion: Completions.servers)
    var server: String?

    @Option(help: "The User-Agent; some appliances respond to browsers alone.")
    var userAgent: String?

    @Option(help: "The method, if it is another than GET, or POST with a body.")
    var method: String?

    @Option(help: ArgumentHelp("The body of the request, or @FILE.", valueName: "text"))
    var body: String?

    @Option(help: ArgumentHelp("A header of the request that is no secret; may be repeated.", valueName: "name: value"))
    var header: [String] = []

    @Option(
        help: ArgumentHelp(
            "Write the proposal to NAME.yaml in the configuration, never over another file; the source gets the name.",
            valueName: "name"))
    var write: String?

    @OptionGroup var places: Paths

    func run() async throws {
        guard let write else { return try Output.print(try await proposal().lines.map { StyledText($0) }) }
        let name = write.hasSuffix(".yaml") ? String(write.dropLast(5)) : write
        guard let path = try path(of: name) else {
            throw Exit(.usage, "'\(write)' is no name of a file; use letters, digits, '-' and '_'")
        }
        var text = try await proposal()
        text.name = ProposedName.free(name, besides: UserConfiguration.loader(places).names().sources)
        try NewFile.makeDirectory(String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)]))
        try NewFile.write(text.lines.joined(separator: "\n") + "\n", to: path)
        Output.diagnose("written: \(path), with the source \(text.name)")
    }

    /// Returns the path of a new file of the configuration, in a directory that need not exist yet; nil for a name that is
    /// none.
    private func path(of name: String) throws -> String? {
        let isName = name.utf8.allSatisfy {
            ($0 | 0x20 >= 97 && $0 | 0x20 <= 122) || (48...57).contains($0) || "-_".utf8.contains($0)
        }
        guard isName, !name.isEmpty else { return nil }
        let loader = UserConfiguration.loader(places)
        guard let directory = loader.watched.directories.first ?? loader.directoryToWrite else {
            throw Exit(.cannotCreate, "neither $XDG_CONFIG_HOME nor $HOME is set; name a directory with --config")
        }
        if loader.watched.files != nil || directory.hasSuffix(".yaml") || directory.hasSuffix(".yml") {
            throw Exit(.usage, "--config names one file, so that another one would not be read; name its directory")
        }
        let path = "\(directory)/\(name).yaml"
        // Before the request: who made a mistake in the name need not wait.
        if FileManager.default.fileExists(atPath: path) {
            throw Exit(.cannotCreate, "\(path) exists already; choose another name")
        }
        return path
    }

    /// Fetches the address, prints what was found on stderr, and returns how to watch it.
    /// - Parameter isOfOther: whether another command asks, which has none of these options.
    func proposal(isOfOther: Bool = false) async throws -> ProposalText {
        if let kind { try ItemLookup.check(kind: kind) }
        let ask = try ProbeRequest(method: method, body: body, headers: header)
        var bounds = ProbeTarget.Bounds()
        bounds.isOfOther = isOfOther
        let target = try ProbeTarget(
            url, server: try server.map(find), kind: kind, userAgent: userAgent, ask: ask, bounds: bounds)
        let prober = Prober(
            target: target, kind: kind, userAgent: userAgent, ask: ask,
            loader: UserConfiguration.loader(places, secrets: .none))
        let client = try HTTPClient(pages: HTMLLoginPage())
        let result: Result<Prober.Finding, any Error>
        do { result = .success(try await prober.probe(SourceFetcher(web: client))) } catch { result = .failure(error) }
        await client.shutdown()
        let finding = try result.get()
        report(finding)
        return finding.text
    }

    private func find(_ name: String) throws -> Server {
        let servers = try UserConfiguration.load(places, secrets: .ofSources).servers
        if let found = servers.first(where: { $0.name == name }) { return found }
        throw Exit.unknown("server", name, among: servers.map(\.name))
    }

    /// Prints what was found on stderr.
    private func report(_ finding: Prober.Finding) {
        Output.diagnose(finding.summary)
        if let redirection = finding.redirection { Output.diagnose(redirection) }
        let found = finding.found
        for warning in found.warnings { Output.diagnose("warning: \(warning)") }
        var table = TextTable(["KEY", "STATE", "TITLE"])
        for item in found.items.prefix(3) { table.add([item.key, item.state ?? "-", item.title ?? "-"]) }
        let width = TerminalSize.of(STDERR_FILENO).map { $0.columns - 2 }
        let lines = found.items.isEmpty ? [] : table.lines(within: width, shrinking: [2, 0, 1])
        for line in lines { Output.diagnose(StyledText("  ") + line) }
        let more = found.items.count - 3
        if more > 0 { Output.diagnose("  and \(more) more") }
    }
}
