// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import VedetteCore

extension JournalCommand {
    struct Copy: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "copy", abstract: "Copy the whole journal to another place, and compare the two.",
            discussion: """
                Between SQLite and PostgreSQL, both ways. Stop the watcher first. Numbers and ids stay as they are. A copy \
                that was interrupted goes on where it ended; until it is finished, no watcher uses it. The place that it \
                was copied from is left as it is.

                Examples:
                  vedette journal copy --to postgres://vedette@db/vedette
                  vedette journal copy --from postgres://vedette@db/vedette --to ~/vedette
                """)

        @OptionGroup var ends: JournalEnds
        @OptionGroup var places: Paths

        func run() async throws {
            let (from, to) = try ends.places(places)
            let source = try await from.snapshot(isExclusive: true)
            let target = try await source.beside { try await to.beginCopy() }
            try await JournalPlace.copy(from: source, to: target) { table in
                let present = table.present > 0 ? "; \(table.present) were there already" : ""
                Output.diagnose("\(table.name): \(counted(table.digest.rows, "row"))\(present)")
            }
            try Output.print("copied the journal from \(from.location) to \(to.location); all tables are the same")
        }
    }

    struct Verify: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "verify", abstract: "Compare two journals: exit 0 when they are the same, 65 when not.",
            discussion: "It reads every row of both. What a running watcher changes meanwhile is a difference.")

        @OptionGroup var ends: JournalEnds
        @OptionGroup var places: Paths

        func run() async throws {
            let (from, to) = try ends.places(places)
            let first = try await from.snapshot(isExclusive: false)
            let second = try await first.beside { try await to.snapshot(isExclusive: false) }
            var table = TextTable(["TABLE", "FROM", "DIGEST", "TO", "DIGEST", ""])
            let isSame = try await JournalComparison(first, second).run { compared in
                table.add([
                    compared.name, "\(compared.first.rows)", compared.first.text, "\(compared.second.rows)",
                    compared.second.text, compared.first == compared.second ? "the same" : "different",
                ])
            }
            await first.close()
            await second.close()
            try Output.print(table.lines)
            guard isSame else {
                throw Exit(.data, "the journals in \(from.location) and \(to.location) are different")
            }
        }
    }
}

extension JournalRows {
    /// Opens the other journal; closes this one where that fails.
    fileprivate func beside<Other>(_ open: () async throws -> Other) async throws -> Other {
        do {
            return try await open()
        } catch {
            await close()
            throw error
        }
    }
}

/// The two journals that a command copies or compares.
struct JournalEnds: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Directory of the first journal, or postgres:// URL of its database; else the configuration's journal.",
            valueName: "place"), completion: .directory)
    var from: String?

    @Option(
        help: ArgumentHelp("The second one; else the configuration's journal.", valueName: "place"),
        completion: .directory)
    var to: String?

    func places(_ paths: Paths) throws -> (from: JournalPlace, to: JournalPlace) {
        guard from != nil || to != nil else { throw Exit(.usage, "give --from, --to, or both") }
        let (from, to) = (try place(from, "--from", paths), try place(to, "--to", paths))
        guard JournalEnds.key(of: from) != JournalEnds.key(of: to) else {
            throw Exit(.usage, "--from and --to are the same place, \(from.location): give two")
        }
        return (from, to)
    }

    private func place(_ text: String?, _ option: String, _ paths: Paths) throws -> JournalPlace {
        try text.map { try JournalPlace($0, option: option) } ?? paths.place
    }

    /// What is equal for two names of one directory.
    private static func key(of place: JournalPlace) -> String {
        switch place {
        case .directory(let path): URL(filePath: path).resolvingSymlinksInPath().standardizedFileURL.path
        case .postgres(let server): server.connection.text
        }
    }
}
