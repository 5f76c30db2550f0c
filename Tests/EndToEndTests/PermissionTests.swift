// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@Suite("As another user than the watcher's", .timeLimit(.minutes(10)))
struct PermissionTests {
    /// Runs the program as a user who may read the configuration and not the journal.
    private func run(_ arguments: [String], _ home: Home) async throws -> Program.Result {
        var command = [Program.path] + arguments + home.places
        if getuid() == 0 {
            command = ["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups"] + command
        }
        let child = try Child("/usr/bin/env", command)
        let code = await child.end()
        return Program.Result(code: code, out: child.text(of: .out), err: child.text(of: .err))
    }

    @Test("commands that read or change the journal end with 77 and say what to do")
    func denied() async throws {
        let home = try Home()
        let list = home.directory.appending(path: "list.json")
        try Data(#"[{"id": 1, "state": "a"}]"#.utf8).write(to: list)
        try home.write(
            """
            sources: {s: {kind: json, url: "\(list.absoluteString)", state: state}}
            sinks: {out: {kind: stdout}}
            rules: [{name: r, when: {field: state}, notify: out}]
            """)
        #expect(try await home.vedette("run", "--once").code == 0)
        let manager = FileManager.default
        // Root reads what nobody may; another user's own directory is closed.
        if getuid() != 0 { try manager.setAttributes([.posixPermissions: 0], ofItemAtPath: home.state.path) }
        defer { try? manager.setAttributes([.posixPermissions: 0o700], ofItemAtPath: home.state.path) }
        let commands = [
            ["status"], ["tail", "--no-follow"], ["list", "s"], ["outbox"], ["silences"], ["explain", "1"],
            ["journal", "check"], ["snooze", "--rule", "r", "--for", "1h"],
        ]
        for command in commands {
            let result = try await run(command, home)
            #expect(result.code == 77, "\(command): \(result.code) \(result.err)")
            #expect(result.err.contains("as the user of the watcher"), "\(command): \(result.err)")
        }
    }

    @Test("a state directory that this user may not create ends the run with 73 and the system's reason")
    func notCreated() async throws {
        let home = try Home()
        try home.write(#"sources: {s: {kind: http, url: "http://127.0.0.1:9/"}}"#)
        // The state directory is to be made in it.
        let mode = [FileAttributeKey.posixPermissions: 0o555]
        try FileManager.default.setAttributes(mode, ofItemAtPath: home.directory.path)
        defer {
            try? FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: home.directory.path)
        }
        let result = try await run(["run", "--once"], home)
        #expect(result.code == 73 && result.err.contains("(Permission denied)"), "\(result.code) \(result.err)")
    }
}
