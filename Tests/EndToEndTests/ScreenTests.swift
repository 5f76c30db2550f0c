// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@Suite("In a terminal", .timeLimit(.minutes(10)))
struct ScreenTests {
    private static let interrupt = "\u{3}"

    private func home(_ items: String) throws -> Home {
        let home = try Home()
        try write(items, home)
        try home.write(
            """
            sources: {lab: {kind: json, url: "\(home.directory.appending(path: "list.json").absoluteString)", state: state, first: announce}}
            sinks: {out: {kind: file, path: \(home.directory.path)/lines}}
            rules: [{name: ready, when: {source: lab, field: state, to: Ready}, notify: [out]}]
            """)
        return home
    }

    private func write(_ items: String, _ home: Home) throws {
        try Data(items.utf8).write(to: home.directory.appending(path: "list.json"), options: .atomic)
    }

    @Test("tail fits its lines to the terminal, colours states, prints what is committed meanwhile, and ends at Ctrl-C")
    func tail() async throws {
        let long = "a system whose name is by far too long for a terminal of eighty columns, as some are"
        let home = try home(
            #"[{"id": 1, "title": "빌드 서버", "state": "Starting"}, {"id": 2, "title": "\#(long)", "state": "FAILED"}]"#)
        #expect(try await home.vedette("run", "--once").code == 0)
        let child = try Terminal.start(
            ["tail"] + home.places, keys: [("FAILED", ""), ("Starting → ", ""), ("Ready", Self.interrupt)])
        // The second event is of another process, and comes when the first screen is there or before it.
        try write(
            #"[{"id": 1, "title": "빌드 서버", "state": "Ready"}, {"id": 2, "title": "\#(long)", "state": "FAILED"}]"#, home
        )
        #expect(try await home.vedette("run", "--once").code == 0)
        let session = try await Terminal.session(child)
        #expect(session.code == -2, "SIGINT: \(session.screen)")
        #expect(session.lines.count >= 3 && session.lines.prefix(3).allSatisfy { $0.count <= 80 }, "\(session.lines)")
        #expect(session.lines[1].contains("…  appeared, FAILED"), "\(session.lines[1])")
        #expect(
            session.screen.contains("\u{1B}[31mFAILED\u{1B}[0m") && session.screen.contains("\u{1B}[32mReady\u{1B}[0m"))
    }

    @Test("status --watch redraws in place as time passes, fits the terminal, and ends at Ctrl-C")
    func watched() async throws {
        let home = try home(#"[{"id": 1, "state": "Starting"}, {"id": 2, "state": "Starting"}]"#)
        #expect(try await home.vedette("run", "--once").code == 0)
        let child = try Terminal.start(
            ["status", "--all", "--watch"] + home.places, columns: 60,
            keys: [("STATES", ""), ("STATES", ""), ("Ready", Self.interrupt)])
        // The change is of another process, and comes when the first screen is there or before it.
        try write(#"[{"id": 1, "state": "Ready"}, {"id": 2, "state": "Starting"}]"#, home)
        #expect(try await home.vedette("run", "--once").code == 0)
        let session = try await Terminal.session(child)
        #expect(session.code == -2, "SIGINT: \(session.screen)")
        #expect(session.screen.contains("\u{1B}[H"), "it draws over the screen before")
        #expect(!session.screen.contains("\u{1B}[2J"), "clearing it would flicker")
        #expect(session.lines.allSatisfy { $0.count <= 60 }, "\(session.lines)")
    }

    @Test("tail in a narrow terminal, without colours where NO_COLOR is set")
    func narrow() async throws {
        let home = try home(#"[{"id": 1, "title": "one", "state": "Starting"}]"#)
        #expect(try await home.vedette("run", "--once").code == 0)
        let session = try await Terminal.run(
            ["tail", "--no-follow"] + home.places, environment: ["NO_COLOR": "1"], columns: 50)
        #expect(session.code == 0 && session.lines.count == 1 && session.lines[0].count <= 50)
        #expect(!session.screen.contains("\u{1B}"))
    }

    @Test("wait shows what it waits for on one line, removes it at the end, and ends at Ctrl-C")
    func wait() async throws {
        let home = try home(#"[{"id": 1, "title": "one", "state": "Starting"}]"#)
        let wait = ["wait", "lab", "one", "--to", "Ready"] + home.places
        let late = try await Terminal.run(wait + ["--timeout", "3s"])
        #expect(late.code == 124)
        #expect(late.screen.contains(" of 3 s for Ready: one: Starting\r\u{1B}[K"), "\(late.screen)")
        #expect(late.screen.hasSuffix("\r\u{1B}[Knot Ready within 3 s\r\n  one: Starting\r\n"), "\(late.screen)")
        let unknown = try await Terminal.run(["wait", "lab", "on", "--to", "Ready"] + home.places)
        #expect(unknown.code == 65, "\(unknown.screen)")
        #expect(unknown.screen.hasSuffix("\r\u{1B}[Kvedette: lab has no item 'on'; did you mean 'one'?\r\n"))
        let stopped = try await Terminal.run(wait, keys: [("one: Starting", Self.interrupt)])
        #expect(stopped.code == -2 && stopped.hasEcho)
    }

    @Test("login asks without echo, replaces nothing without a yes, and leaves the terminal as it was at Ctrl-C")
    func login() async throws {
        let home = try Home()
        let environment = ["XDG_CONFIG_HOME": home.directory.path + "/xdg", "XDG_RUNTIME_DIR": home.directory.path]
        let config = ["--config", home.directory.path + "/lab"]
        try FileManager.default.createDirectory(atPath: config[1], withIntermediateDirectories: true)
        try Data(
            """
            servers: {lab: {url: "https://lab.example.com", user: me, password: {credential: lab}}}
            sources: {lab: {kind: json, server: lab, path: /list}}
            sinks: {out: {kind: stdout}}
            rules: [{name: all, when: {source: lab, appears: true}, notify: [out]}]
            """.utf8
        ).write(to: URL(filePath: config[1] + "/lab.yaml"))
        let path = home.directory.path + "/xdg/vedette/credentials/lab"
        func check() async throws -> Int32 { try await Program.run(["check"] + config, environment: environment).code }
        #expect(try await check() == 75)
        let first = try await Terminal.run(
            ["login", "lab"] + config, environment: environment, keys: [("Password of lab: ", "wrong\u{15}hunter2\r")])
        // The path stands in one piece, however long it is.
        #expect(first.code == 0 && first.hasEcho && first.screen.contains(path), "\(first.screen)")
        #expect(!first.screen.contains("hunter2") && !first.screen.contains("wrong"))
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "hunter2\n")
        #expect(try await check() == 0)
        for (keys, code) in [
            ([("[y/N]", "n\r")], 75), ([("[y/N]", "y\r"), ("Password of lab: ", "x" + Self.interrupt)], 75),
            ([("[y/N]", "y\r"), ("Password of lab: ", "\r")], 65),
        ] {
            let session = try await Terminal.run(["login", "lab"] + config, environment: environment, keys: keys)
            #expect(session.code == code && session.hasEcho, "\(session.screen)")
            #expect(try String(contentsOfFile: path, encoding: .utf8) == "hunter2\n")
        }
        let piped = try await Program.run(["login", "lab"] + config, environment: environment)
        #expect(piped.code == 73 && piped.err.contains("--replace replaces it"), "\(piped.err)")
        let unknown = try await Program.run(["login", "lap"] + config, environment: environment)
        #expect(unknown.code == 64 && unknown.err.contains("did you mean 'lab'?"), "\(unknown.err)")
    }

    @Test("login says why it cannot store a secret whose place is not its own, and what to write")
    func unstorable() async throws {
        let home = try Home()
        for (secret, reason) in [
            ("{env: PW}", "reads it from the environment variable 'PW'"),
            ("{command: [pass, lab]}", "reads it from a command, whose store holds it"),
            ("hunter2", "/lab.yaml:1 itself"),
        ] {
            try home.write(
                "servers: {lab: {url: 'https://lab.example.com', user: me, password: \(secret)}}\n", to: "lab.yaml")
            let result = try await home.vedette("login", "lab")
            #expect(result.code == 78 && result.err.contains("the secret of lab cannot be stored"), "\(result.err)")
            #expect(
                result.err.contains(reason) && result.err.contains("write {credential: lab} there"), "\(result.err)")
            #expect(!result.err.contains("hunter2"))
        }
    }
}
