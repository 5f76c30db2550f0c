// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@Suite("Sources that are commands", .timeLimit(.minutes(10)))
struct CommandSourceTests {
    private func run(_ sources: String) async throws -> (Home, Program.Result) {
        let home = try Home()
        try home.write("sources: {\(sources)}")
        return (home, try await home.vedette("run", "--once", environment: ["SECRET_OF_OURS": "hunter2"]))
    }

    @Test("the output is read by the kind; no shell reads the arguments, and the environment has no secret")
    func output() async throws {
        let (home, result) = try await run(
            #"""
            json: {kind: json, command: [printf, "%s", '["$HOME; id", "a+b c"]']},
            lines: {kind: text, command: [printf, 'one up\ntwo down\n'], match: '^(?<key>\S+) (?<state>\S+)$', state: state},
            none: {kind: text, command: ["true"], match: x},
            own: {kind: text, command: [env]}
            """#)
        #expect(result.code == 0, "\(result.err)")
        #expect(
            try await home.vedette("list", "json", "--json").json.compactMap { $0.text("key") } == [
                "$HOME; id", "a+b c",
            ])
        let lines = try await home.vedette("list", "lines", "--json").json
        #expect(lines.map { $0.text("state") } == ["up", "down"])
        #expect(try await home.vedette("list", "none", "--json").json.isEmpty)
        let environment = try await home.vedette("list", "own", "--json").out
        #expect(environment.contains("PATH=") && !environment.contains("SECRET_OF_OURS"))
    }

    @Test("an exit status, a signal, a missing program and unreadable output are failures with their cause")
    func failures() async throws {
        let (home, result) = try await run(
            #"""
            status: {kind: json, command: [sh, -c, "echo '[]'; echo first >&2; echo the cause >&2; exit 3"]},
            signal: {kind: json, command: [sh, -c, "kill -9 $$"]},
            missing: {kind: json, command: [no-such-program]},
            cut: {kind: json, command: [printf, '[{"id": 1}']}
            """#)
        #expect(result.code == 69)
        for (name, failure, words) in [
            ("status", "command", "sh failed with exit status 3: the cause"),
            ("signal", "command", "sh was ended by signal 9"), ("missing", "command", "no-such-program"),
            ("cut", "truncated", "cut off before its end"),
        ] {
            let error = try await home.status(name)["error"] as? [String: Any]
            #expect(error?["class"] as? String == failure, "\(name): \(String(describing: error))")
            #expect((error?["detail"] as? String)?.contains(words) == true, "\(name): \(String(describing: error))")
        }
    }

    @Test(
        "a command under way ends with what it started, when its source is removed and when the watcher stops",
        arguments: [true, false])
    func processGroup(isRemoved: Bool) async throws {
        let home = try Home()
        let pipe = home.directory.appending(path: "held").path
        try #require(mkfifo(pipe, 0o600) == 0)
        // The reader ends when nobody holds the pipe any more.
        let command = "exec 3>\(pipe); sleep 600 & echo started >&3; wait"
        try home.write("sources: {slow: {kind: text, command: [sh, -c, '\(command)'], every: 1h}}")
        let reader = try Child("/bin/cat", [pipe])
        let watcher = try Child(Program.path, ["run"] + home.places)
        try await reader.wait { $0.contains("started") }
        if isRemoved {
            try home.write("sources: {other: {kind: text, command: [id], every: 1h}}")
            watcher.kill(SIGHUP)
            #expect(await reader.end() == 0)
        }
        #expect(await watcher.stop() == 0)
        #expect(await reader.end() == 0)
    }

    @Test("a command beside an address, and one that a shell would have to read, are errors of check")
    func wrong() async throws {
        let home = try Home()
        try home.write(
            "sources: {a: {kind: text, url: 'https://x.example.org', command: [id]}, b: {kind: text, command: ['id -u']}}"
        )
        let check = try await home.vedette("check")
        #expect(check.code == 78)
        #expect(check.err.contains("'url' and 'command' exclude each other"))
        #expect(check.err.contains("'command' must begin with a program"))
    }

    @Test("a program that was started without standard streams gives their numbers to no file or socket")
    func withoutStreams() async throws {
        let home = try Home()
        let script = home.directory.appending(path: "look")
        // What the watcher has open while it runs the command of its source.
        let look = "for n in 0 1 2; do readlink /proc/$PPID/fd/$n; done > \(home.directory.path)/seen; echo a"
        try look.write(to: script, atomically: true, encoding: .utf8)
        try home.write(#"sources: {s: {kind: text, command: [sh, "\#(script.path)"]}}"#)
        let start = #"exec "$0" "$@" <&- >&- 2>&-"#
        let child = try Child("/bin/sh", ["-c", start, Program.path, "run", "--once"] + home.places)
        _ = await child.end()
        let streams = try String(contentsOf: home.directory.appending(path: "seen"), encoding: .utf8)
        #expect(streams == String(repeating: "/dev/null\n", count: 3), "\(streams)")
    }
}
