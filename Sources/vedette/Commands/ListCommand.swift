// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import VedetteConfig
import VedetteCore

struct ListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "The items of a source, a URL or a file.",
        discussion: """
            Shows the last snapshot of a source and its age; --fresh polls now. Reads a URL or a file now and recognises \
            its kind. A source of that name is preferred to a file; ./NAME is the file.

            Examples:
              vedette list lab-systems --fresh
              vedette list https://www.swift.org/atom.xml
            """)

    @Argument(help: "A source, a URL or a file.", completion: Completions.sources)
    var subject: String

    @Option(help: "Kind of a URL or file; else it is recognised.", completion: Completions.kinds)
    var kind: String?

    @Flag(help: "Poll the source now; the journal is not touched.")
    var fresh = false

    @Flag(help: "NDJSON, one item a line.")
    var json = false

    @OptionGroup var places: Paths
    @OptionGroup var colour: ColourOptions

    func run() async throws {
        if WebURL(subject) != nil || subject.hasPrefix("file:///") {
            try show(try await ItemLookup.items(at: subject, kind: kind))
        } else if let source = try configuredSource() {
            try await list(source)
        } else {
            try show(try ItemLookup.items(inFile: subject, kind: kind))
        }
    }

    /// Returns the source of that name; nil when there is none, but a file. `./NAME` is always the file.
    private func configuredSource() throws -> Source? {
        let isFile = FileManager.default.fileExists(atPath: subject)
        // A file can be listed without a configuration, and beside a broken one.
        guard isFile else { return try KindRegistry.source(subject, in: try KindRegistry.configuration(places)) }
        return KindRegistry.loader(places).load().configuration?.sources.first { $0.name == subject }
    }

    private func list(_ source: Source) async throws {
        if fresh {
            try show(try await ItemLookup.live(source))
            return
        }
        guard let snapshot = try await ItemLookup.snapshot(of: source.name, in: places.journal) else {
            throw Exit(.unavailable, "\(source.name) has no snapshot yet; start `vedette run`, or use --fresh")
        }
        try show(snapshot.items)
        if !json { Output.diagnose("read \(snapshot.at.relative(to: SystemClock().now().wall))") }
    }

    private func show(_ items: [Item]) throws {
        let sorted = items.sorted { naturalOrder($0.key, $1.key) }
        if json {
            for item in sorted { try Output.print(item.json.bytes) }
            return
        }
        var table = TextTable(["KEY", "STATE", "TITLE"], colour.palette)
        for item in sorted { table.add([item.key, item.state ?? "-", item.title ?? "-"]) }
        for line in table.lines { try Output.print(line) }
    }
}

/// `9` before `10`.
func naturalOrder(_ a: String, _ b: String) -> Bool {
    if let x = Int(a), let y = Int(b) { return x < y }
    return a < b
}
