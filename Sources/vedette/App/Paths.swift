// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import VedetteCore
import VedetteJournal

/// The places of configuration and state (XDG Base Directory Specification; systemd.exec(5) for `$STATE_DIRECTORY`).
struct Paths: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Directory or one file of the configuration; else $XDG_CONFIG_HOME/vedette, else /etc/vedette.",
            valueName: "path"),
        completion: .file(extensions: ["yaml"]))
    var config: String?

    @Option(
        help: ArgumentHelp(
            "Directory of the journal; else $STATE_DIRECTORY, else $XDG_STATE_HOME/vedette.", valueName: "dir"),
        completion: .directory)
    var state: String?

    /// The journal, as every command but `run` uses it.
    var journal: any JournalAccess { SQLiteJournalAccess(directory: stateDirectory()) }

    /// The state directory.
    func stateDirectory(_ environment: [String: String] = ProcessInfo.processInfo.environment) -> String {
        if let state { return state }
        // systemd separates several state directories by colons; the first is ours.
        if let given = environment["STATE_DIRECTORY"]?.split(separator: ":").first { return String(given) }
        // The specification ignores relative values.
        if let home = environment["XDG_STATE_HOME"], home.hasPrefix("/") { return home + "/vedette" }
        return (environment["HOME"] ?? NSHomeDirectory()) + "/.local/state/vedette"
    }
}
