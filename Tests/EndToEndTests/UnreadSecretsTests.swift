// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@Suite("Commands in a shell without the credentials of the service", .timeLimit(.minutes(10)))
struct UnreadSecretsTests {
    private static let secrets = """
        servers:
          one: {url: "https://one.example.com", user: me, password: {env: NOT_HERE}}
          two: {url: "https://two.example.com", token: {command: [touch, RAN]}, tls: {ca: none.pem, key: no.key, certificate: no.pem}}
          three: {url: "https://three.example.com", netrc: none.netrc, headers: {X-Api-Key: {file: none}}}
        sources:
          list: {kind: json, url: "file://LIST", state: state}
          a: {kind: json, server: one}
          b: {kind: json, server: two}
          c: {kind: json, server: three}
        sinks:
          out: {kind: stdout, format: line}
          chat: {kind: slack, url: {credential: slack}}
          hook: {kind: webhook, url: {env: HOOK}, sign: {file: none}}
        rules:
          - {name: any, when: {field: state}, notify: [out, chat, hook]}
        """

    @Test("a command that only reads needs no secret, runs no program for one, and one that polls or sends names it")
    func commands() async throws {
        let home = try Home()
        let list = home.directory.appending(path: "list.json")
        let ran = home.directory.appending(path: "ran")
        let poll = """
            sources:
              list: {kind: json, url: "file://\(list.path)", state: state}
            sinks: {out: {kind: stdout, format: line}}
            rules: [{name: any, when: {field: state}, notify: [out]}]
            """
        try home.write(poll)
        for state in ["up", "down"] {
            try Data(#"[{"id": 1, "title": "web", "state": "\#(state)"}]"#.utf8).write(to: list, options: .atomic)
            #expect(try await home.vedette("run", "--once").code == 0)
        }
        try home.write(
            Self.secrets.replacing("LIST", with: list.path).replacing("RAN", with: ran.path))
        let commands = [
            ["status"], ["list", "list"], ["show", "list", "web"], ["explain", "1"], ["tail", "--no-follow"],
            ["test", "--since", "1h"], ["replay", "list", list.path], ["export"], ["outbox"], ["silences"],
            ["snooze", "--rule", "any"], ["mute", "--source", "list"], ["accept", "list"],
        ]
        for command in commands {
            let result = try await Program.run(command + home.places)
            #expect(result.code == 0, "\(command): \(result.code): \(result.err)")
        }
        #expect(!FileManager.default.fileExists(atPath: ran.path), "the program of a secret was run")
        for command in [
            ["check"], ["run", "--once"], ["list", "list", "--fresh"], ["send", "out"],
            ["wait", "list", "web", "--to", "down"],
        ] {
            let result = try await Program.run(command + home.places)
            #expect(result.code == 78 && result.err.contains("NOT_HERE"), "\(command): \(result.code): \(result.err)")
        }
    }

    @Test("a command that polls and sends nothing needs no secret of a sink or of the settings")
    func sinks() async throws {
        let home = try Home()
        let list = home.directory.appending(path: "list.json")
        let ran = home.directory.appending(path: "ran")
        try Data(#"[{"id": 1, "title": "web", "state": "up"}]"#.utf8).write(to: list)
        try home.write(
            """
            sources: {list: {kind: json, url: "file://\(list.path)", state: state}}
            sinks:
              chat: {kind: slack, url: {env: NOT_HERE}}
              hook: {kind: webhook, url: {command: [touch, \(ran.path)]}}
            settings: {heartbeat: {url: {env: NOT_HERE}, every: 1m}}
            rules: [{name: any, when: {field: state}, notify: [chat, hook]}]
            """)
        for command in [
            ["list", "list", "--fresh"], ["show", "list", "web"], ["wait", "list", "web", "--to", "up"],
        ] {
            let result = try await Program.run(command + home.places)
            #expect(result.code == 0, "\(command): \(result.code): \(result.err)")
        }
        #expect(!FileManager.default.fileExists(atPath: ran.path), "the program of a secret was run")
        #expect(try await home.vedette("run", "--once").code == 78)
    }

    @Test("a command about a name works beside a broken file, and says what it could not read")
    func brokenFile() async throws {
        let home = try Home()
        let list = home.directory.appending(path: "list.json")
        let poll = """
            sources: {list: {kind: json, url: "file://\(list.path)", state: state}}
            sinks: {out: {kind: stdout, format: line}}
            rules: [{name: any, when: {field: state}, resolved: true, notify: [out]}]
            """
        try home.write(poll)
        for state in ["up", "down"] {
            try Data(#"[{"id": 1, "title": "web", "state": "\#(state)"}]"#.utf8).write(to: list, options: .atomic)
            #expect(try await home.vedette("run", "--once").code == 0)
        }
        try home.write("sources: {other: {kind: json\nrules: [", to: "other.yaml")
        for command in [
            ["list", "list"], ["show", "list", "web", "--stored"], ["explain", "1"],
            ["snooze", "--rule", "any", "--for", "1h"],
            ["mute", "--source", "list"], ["accept", "list"],
        ] {
            let result = try await Program.run(command + home.places)
            #expect(
                result.code == 0 && result.err.contains("the configuration has 1 error, which `vedette check` lists"),
                "\(command): \(result.code): \(result.err)")
        }
        let unknown = try await home.vedette("list", "other")
        #expect(unknown.code == 64 && unknown.err.contains("there is no source 'other'"), "\(unknown.err)")
        // Where nothing could be read, the errors are the answer.
        try home.write("sources: [", to: "vedette.yaml")
        let nothing = try await home.vedette("list", "list")
        #expect(nothing.code == 78 && nothing.err.contains("vedette.yaml:"), "\(nothing.err)")
        #expect(try await home.vedette("check").code == 78)
    }
}
