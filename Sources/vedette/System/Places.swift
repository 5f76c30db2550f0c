// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation

/// Where configuration and state live (XDG Base Directory Specification; systemd.exec(5) for `$STATE_DIRECTORY`).
struct Places: ParsableArguments {
    @Option(help: ArgumentHelp("Directory of the configuration.", valueName: "dir"))
    var config: String?

    @Option(help: ArgumentHelp("Directory of the journal.", valueName: "dir"))
    var state: String?

    /// The first that exists of `--config`, `$XDG_CONFIG_HOME/vedette`, `/etc/vedette`.
    func configuration(_ environment: [String: String] = ProcessInfo.processInfo.environment) throws -> String {
        let user = Places.directory(environment["XDG_CONFIG_HOME"], home: ".config", environment)
        let candidates = config.map { [$0] } ?? [user + "/vedette", "/etc/vedette"]
        if let found = candidates.first(where: Places.isDirectory) { return found }
        throw Exit(
            .configuration,
            "no configuration: \(candidates.joined(separator: " and ")) \(candidates.count == 1 ? "is no directory" : "do not exist"); "
                + "create one with a *.yaml file in it, or name it with --config DIR")
    }

    func journal(_ environment: [String: String] = ProcessInfo.processInfo.environment) -> String {
        // systemd separates several state directories by colons; the first is ours.
        if let state { return state }
        if let given = environment["STATE_DIRECTORY"]?.split(separator: ":").first { return String(given) }
        return Places.directory(environment["XDG_STATE_HOME"], home: ".local/state", environment) + "/vedette"
    }

    /// A relative value of an XDG variable is to be ignored.
    private static func directory(_ value: String?, home: String, _ environment: [String: String]) -> String {
        if let value, value.hasPrefix("/") { return value }
        return (environment["HOME"] ?? NSHomeDirectory()) + "/" + home
    }

    private static func isDirectory(_ path: String) -> Bool {
        var isDirectory = ObjCBool(false)
        return FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory) && isDirectory.boolValue
    }
}
