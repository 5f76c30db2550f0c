// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import VedetteCore
import VedetteSinks

struct JournalCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "journal", abstract: "Check the journal, repair it, back it up, or move it.",
        discussion: """
            Examples:
              vedette journal check
              vedette journal repair
              vedette journal backup /srv/backup/vedette.db
              vedette journal copy --to postgres://vedette@db/vedette
            """, subcommands: [Check.self, Repair.self, Backup.self, Copy.self, Verify.self])

    struct Check: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "check", abstract: "Read every page of the journal: exit 0 when it is sound, 65 when not.",
            discussion: "It works beside a running watcher. A large journal takes minutes.")

        @OptionGroup var places: Paths

        func run() async throws {
            let journal = try places.journal
            let damages = try await journal.reader().damages()
            for damage in damages { try Output.print(damage) }
            guard damages.isEmpty else {
                throw Exit(
                    .data,
                    "the journal in \(journal.location) is damaged: stop the watcher, then save what can be read with "
                        + "'vedette journal repair', or restore a backup")
            }
            try Output.print("the journal in \(journal.location) is sound")
        }
    }

    struct Repair: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "repair",
            abstract: "Write what can be read of a damaged journal to a new one, and keep the damaged one beside it.",
            discussion: """
                Stop the watcher first. A source whose items cannot all be read begins with a new baseline: changes since \
                its last poll are not told. A sound journal is left as it is.
                """)

        @OptionGroup var places: Paths

        func run() async throws {
            let journal = try places.journal
            guard let report = try await journal.repair(at: SystemClock().now().wall) else {
                return try Output.print("the journal in \(journal.location) is sound; nothing was changed")
            }
            for line in report.lines { try Output.print(line) }
        }
    }

    struct Backup: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "backup", abstract: "Write a copy of the journal to a new file, also while a watcher runs.",
            discussion: "To restore it: stop the watcher, empty the state directory, put the file there as journal.db.")

        @Argument(help: "The new file. It holds cookies, so only its owner can read it.", completion: .file())
        var file: String

        @OptionGroup var places: Paths

        func run() async throws {
            try await places.place.backup(to: file)
            try Output.print("wrote \(file)")
        }
    }
}

extension RepairReport {
    fileprivate var lines: [String] {
        let rows = tables.map { table in
            let lost = table.lost.map { $0 == 0 ? "none lost" : "\($0) lost" } ?? "an unknown number lost"
            return "\(table.name): \(counted(table.saved, "row")) saved, \(lost)"
        }
        let sources = forgottenSources.map {
            "source '\(TerminalText.safe($0, limit: 200))' begins with a new baseline"
        }
        return rows + sources + ["the damaged journal is kept as \(kept)"]
    }
}
