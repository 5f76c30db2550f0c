// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import VedetteCore

struct JournalCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "journal", abstract: "Check the journal, or back it up.",
        discussion: """
            Examples:
              vedette journal check
              vedette journal backup /srv/backup/vedette.db
            """, subcommands: [Check.self, Backup.self])

    struct Check: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "check", abstract: "Read every page of the journal: exit 0 when it is sound, 65 when not.",
            discussion: "It works beside a running watcher. A large journal takes minutes.")

        @OptionGroup var places: Paths

        func run() async throws {
            let journal = places.journal
            let damages = try await journal.reader().damages()
            for damage in damages { try Output.print(damage) }
            guard damages.isEmpty else {
                throw Exit(
                    .data,
                    "the journal in \(journal.location) is damaged: stop the watcher, copy the directory, then restore a "
                        + "backup or try 'sqlite3 journal.db .recover'")
            }
            try Output.print("the journal in \(journal.location) is sound")
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
            try await places.journal.backup(to: file)
            try Output.print("wrote \(file)")
        }
    }
}
