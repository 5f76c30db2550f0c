// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import VedetteConfig
import VedetteCore

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
            "Directory of the journal, or postgres:// URL of its database; else the place in 'settings.journal', else "
                + "$STATE_DIRECTORY, else $XDG_STATE_HOME/vedette.", valueName: "dir"),
        completion: .directory)
    var state: String?

    /// Refuses an empty path: of a variable that is not set, in quotes.
    func validate() throws {
        if config?.isEmpty == true {
            throw ValidationError("--config is empty; name a directory or a file, or leave it out")
        }
        if state?.isEmpty == true { throw ValidationError("--state is empty; name a directory, or leave it out") }
    }

    /// The journal, as every command but `run` uses it.
    var journal: any JournalAccess {
        get throws { try place.access }
    }

    /// The same, to be read beside the configuration, which names all its errors itself; nil where the journal's place has one.
    var journalIfKnown: (any JournalAccess)? {
        let (server, errors) = configuredServer
        return errors.isEmpty ? try? journalPlace(server).access : nil
    }

    /// Where the journal is.
    var place: JournalPlace {
        get throws {
            let (server, errors) = configuredServer
            for error in errors { Output.diagnose(error.description) }
            if !errors.isEmpty { throw Exit(.configuration, "the place of the journal cannot be read") }
            return try journalPlace(server)
        }
    }

    /// The database that the configuration names, of which only that is read, and the errors of that part. With `--state`
    /// nothing is read.
    private var configuredServer: (server: PostgresServer?, errors: [Diagnostic]) {
        guard state == nil else { return (nil, []) }
        let (server, diagnostics) = UserConfiguration.loader(self).journalServer()
        return (server, diagnostics.filter { $0.severity == .error })
    }

    /// Returns where the journal is.
    /// - Parameter server: the configuration's PostgreSQL server; `--state` precedes it.
    func journalPlace(_ server: PostgresServer?) throws -> JournalPlace {
        if let state { return try JournalPlace(state, option: "--state") }
        return server.map(JournalPlace.postgres) ?? .directory(stateDirectory())
    }

    /// Where the keys of links are: on this machine, also where the journal is in a database.
    var linkDirectory: String {
        var paths = self
        if let state, ConnectionString.isURL(state) { paths.state = nil }
        return paths.stateDirectory() + "/links"
    }

    /// The state directory.
    func stateDirectory(_ environment: [String: String] = ProcessInfo.processInfo.environment) -> String {
        if let state { return state }
        // systemd separates several state directories by colons; the first is ours.
        if let given = environment["STATE_DIRECTORY"]?.split(separator: ":").first { return String(given) }
        // The specification ignores relative values.
        if let home = environment["XDG_STATE_HOME"], home.hasPrefix("/") { return home + "/vedette" }
        let home = environment["HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil } ?? NSHomeDirectory()
        return home + "/.local/state/vedette"
    }
}
