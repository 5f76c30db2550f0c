// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import VedetteConfig
import VedetteCore

struct InitCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "init", abstract: "Write a first configuration.",
        discussion: """
            It writes one file, never over another, that only you can read. With --url the file watches that address, as \
            `vedette probe` proposes it.

            Examples:
              vedette init
              vedette init --url https://www.swift.org/atom.xml
            """)

    @Option(help: "An address to watch; it is fetched once to recognise what it holds.")
    var url: String?

    @OptionGroup var places: Paths

    func run() async throws {
        let path = try target()
        let text: String
        if let url {
            let probe = try ProbeCommand.parse([url] + (places.config.map { ["--config", $0] } ?? []))
            text = try await probe.proposal(isOfOther: true).lines.joined(separator: "\n") + "\n"
        } else {
            text = FirstConfiguration.text
        }
        try NewFile.write(text, to: path)
        // Without the option they would read another configuration.
        let option = places.config.map { " --config \(shellWord($0))" } ?? ""
        Output.diagnose("written: \(path)")
        Output.diagnose("  vedette check\(option)      reads it and lists every error")
        Output.diagnose("  vedette run\(option)        watches; Ctrl-C stops")
    }

    /// Returns the file to write, which does not exist yet: the one that --config names, or the first one of a directory.
    /// Makes its directory.
    private func target() throws -> String {
        guard let named = UserConfiguration.loader(places).directoryToWrite else {
            throw Exit(.cannotCreate, "neither $XDG_CONFIG_HOME nor $HOME is set; name a directory with --config")
        }
        let names = try? FileManager.default.contentsOfDirectory(atPath: named)
        if names == nil, named.hasSuffix(".yml") {
            throw Exit(.usage, "\(named): the name of a configuration ends in .yaml")
        }
        let isFile = names == nil && named.hasSuffix(".yaml")
        let path = isFile ? named : named + "/vedette.yaml"
        let found = (names ?? []).filter { $0.hasSuffix(".yaml") && !$0.hasPrefix(".") }.min().map { named + "/" + $0 }
        if let found = found ?? (FileManager.default.fileExists(atPath: path) ? path : nil) {
            throw Exit(
                .cannotCreate, "\(found) is a configuration already; edit it, or `vedette probe URL` prints what to add"
            )
        }
        let directory = URL(filePath: path).deletingLastPathComponent().path(percentEncoded: false)
        try NewFile.makeDirectory(directory)
        return path
    }
}

/// The file that `init` writes: it works as it is, and shows where to go on.
enum FirstConfiguration {
    static let text = """
        # The configuration of Vedette. `vedette check` reads it; `vedette run` watches, and takes up each change that you save.
        # Every *.yaml here and in rules/ is read; names are unique over all of them.

        # A source is polled. `vedette probe URL` prints one for any address, with its rule.
        sources:
          news: {kind: feed, url: "https://www.swift.org/atom.xml", every: 1h, first: announce}

        # A sink is where messages go: stdout, desktop, slack, ntfy, mail, webhook, command and more.
        sinks:
          terminal: {kind: stdout, format: line}
        #  desktop: {kind: desktop}
        #  team: {kind: slack, url: {env: SLACK_WEBHOOK}}

        # A rule says which events matter, and who is told.
        rules:
          - name: news
            when: {source: news, appears: true}
            notify: [terminal]

        # A server has what its sources share: an address, a password, a certificate. `vedette trust URL` shows its pin.
        # servers:
        #   lab:
        #     url: https://lab.example.com
        #     user: me
        #     password: {file: "~/.config/vedette/lab.password"}

        """
}
