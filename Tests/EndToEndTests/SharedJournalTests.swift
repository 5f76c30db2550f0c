// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@Suite("Several watchers on one PostgreSQL", .timeLimit(.minutes(10)))
struct SharedJournalTests {
    private let server: PostgresServer
    private let lists: Home
    private let homes: [String: Home]
    private let web: Child

    init() async throws {
        server = try PostgresServer()
        lists = try Home()
        let script = """
            import http.server, sys
            server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), http.server.SimpleHTTPRequestHandler)
            print(server.server_port, flush=True)
            server.serve_forever()
            """
        web = try Child("/usr/bin/env", ["-C", lists.directory.path, "python3", "-c", script])
        let port = try await web.wait { !$0.isEmpty }[0]
        var homes: [String: Home] = [:]
        for name in ["a", "b"] {
            let home = try Home()
            try home.write(
                """
                settings: {watcher: \(name), journal: {postgres: "\(server.keywords)"}}
                sources:
                \((0..<6).map { number in
                    "  s\(number): {kind: json, url: 'http://127.0.0.1:\(port)/\(number).json', state: state, every: 1s}"
                }.joined(separator: "\n"))
                sinks: {out: {kind: stdout, format: json, watcher: a}}
                rules: [{name: any, when: {field: state}, notify: out}]
                """)
            homes[name] = home
        }
        self.homes = homes
        try set("starting")
    }

    private func set(_ state: String) throws {
        for number in 0..<6 {
            try Data(#"[{"id": 1, "title": "lab", "state": "\#(state)"}]"#.utf8)
                .write(to: lists.directory.appending(path: "\(number).json"), options: .atomic)
        }
    }

    private func watcher(_ name: String) throws -> Child {
        let home = try #require(homes[name])
        return try Child(
            Program.path, ["run", "--config", home.config.path], environment: ["HOME": home.directory.path])
    }

    @Test("two watchers divide the sources, each event is told once, and one takes over when the other is killed")
    func takeover() async throws {
        let first = try watcher("a")
        try await first.wait(for: .err) { $0.contains { $0.contains("polls 6 of 6 sources") } }
        try await first.wait(for: .err) { $0.count { $0.contains("baseline") } == 6 }
        let second = try watcher("b")
        for child in [first, second] {
            try await child.wait(for: .err) { $0.contains { $0.contains("polls 3 of 6 sources") } }
        }
        try set("ready")
        try await first.wait { $0.count == 6 }
        #expect(first.lines(of: .out).allSatisfy { $0.contains(#""to":"ready""#) })
        second.kill(SIGKILL)
        try await first.wait(for: .err) { $0.count { $0.contains("polls 6 of 6 sources") } == 2 }
        try set("stopped")
        try await first.wait { $0.count == 12 }
        let third = try watcher("b")
        try await third.wait(for: .err) { $0.contains { $0.contains("polls 3 of 6 sources") } }
        #expect(await third.stop() == 0)
        try await first.wait(for: .err) { $0.count { $0.contains("polls 6 of 6 sources") } == 3 }
        try set("starting")
        try await first.wait { $0.count == 18 }
        #expect(await first.stop() == 0)
        #expect(
            first.lines(of: .out).count == 18 && first.lines(of: .out).suffix(6).allSatisfy { $0.contains("starting") })
    }

    @Test("watchers that run while a later version upgrades the tables end with 65, and say what to do")
    func rollOut() async throws {
        let watchers = [try watcher("a"), try watcher("b")]
        for child in watchers {
            try await child.wait(for: .err) { $0.contains { $0.contains("polls 3 of 6 sources") } }
        }
        let upgrade = "begin; alter table source add column note text; update journal set version = version + 1; commit"
        let psql = try Child(
            "/usr/bin/env", ["psql", "--quiet", "--dbname=\(server.keywords)", "--command=\(upgrade)"])
        #expect(await psql.end() == 0, "\(psql.text(of: .err))")
        for child in watchers {
            #expect(await child.end() == 65)
            #expect(child.text(of: .err).contains("install that version here, too, and start it"))
        }
    }

    @Test("after a database that answered nobody for longer than a lease lasts, two watchers go on with their parts")
    func pausedDatabase() async throws {
        let first = try watcher("a")
        try await first.wait(for: .err) { $0.count { $0.contains("baseline") } == 6 }
        let second = try watcher("b")
        let watchers = [first, second]
        for child in watchers {
            try await child.wait(for: .err) { $0.contains { $0.contains("polls 3 of 6 sources") } }
        }
        try server.freeze()
        try set("ready")
        // An answer has 35 s; a lease lasts for 15.
        for child in watchers {
            try await child.wait(for: .err, limit: 120) { $0.contains { $0.contains("Nothing is stored meanwhile") } }
        }
        try server.thaw()
        try await first.wait { $0.count { $0.contains(#""to":"ready""#) } == 6 }
        try set("stopped")
        try await first.wait { $0.count { $0.contains(#""to":"stopped""#) } == 6 }
        for child in watchers {
            let log = child.lines(of: .err)
            #expect(log.count { $0.contains("polls 3 of 6 sources") } == 1, "\(log)")
            #expect(!log.contains { $0.contains("stands by") || $0.contains("taken over") }, "\(log)")
            #expect(await child.stop() == 0)
        }
    }

    @Test("a sink and a source of one machine must name their watcher, and check tells so with the place")
    func locality() async throws {
        let home = try Home()
        try home.write(
            """
            settings: {journal: {postgres: "\(server.keywords)"}}
            sources:
              here: {kind: json, url: "file:///etc/here.json"}
            sinks:
              out: {kind: stdout}
              pinned: {kind: desktop, watcher: pc}
            """)
        let result = try await Program.run(["check", "--config", home.config.path])
        #expect(result.code == 78)
        #expect(result.err.contains("vedette.yaml:3:3: the source 'here' belongs to one machine"))
        #expect(result.err.contains("vedette.yaml:5:3: the sink 'out' belongs to one machine"))
        #expect(!result.err.contains("'pinned'"))
    }
}
