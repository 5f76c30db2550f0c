// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import VedetteTestSupport

@Suite("A journal on PostgreSQL", .timeLimit(.minutes(10)))
struct PostgresTests {
    private let home: Home
    private let server: PostgresServer

    init() throws {
        (home, server) = (try Home(), try PostgresServer())
        try home.write(
            """
            settings: {watcher: here, journal: {postgres: "\(server.keywords)"}}
            sources:
              systems:
                kind: json
                url: "file://\(home.directory.path)/systems.json"
                items: systems
                state: state
                every: 1s
                watcher: here
            sinks: {out: {kind: stdout, format: json, watcher: here}}
            rules: [{name: any, when: {field: state}, notify: out}]
            """)
        try set("starting")
    }

    private func set(_ state: String) throws {
        let text = #"{"systems": [{"id": 1, "title": "lab", "state": "\#(state)"}]}"#
        try Data(text.utf8).write(to: home.directory.appending(path: "systems.json"), options: .atomic)
    }

    private func vedette(_ arguments: String...) async throws -> Program.Result {
        try await Program.run(arguments + ["--config", home.config.path], environment: ["HOME": home.directory.path])
    }

    private func watcher() throws -> Child {
        try Child(
            Program.path, ["run", "--config", home.config.path], environment: ["HOME": home.directory.path])
    }

    @Test("baseline, change, message, restart and every command work with a journal on PostgreSQL, and no file is made")
    func commands() async throws {
        let first = try watcher()
        try await first.wait(for: .err) { $0.contains { $0.contains("baseline") } }
        try set("ready")
        try await first.wait { $0.count == 1 }
        #expect(states(first) == ["ready"])
        let second = try await vedette("run", "--once")
        #expect(
            second.code == 75 && second.err.contains("is watching with the journal PostgreSQL database postgres on"))
        #expect(try await vedette("status", "--json").out.contains(#""pid":\#(first.pid)"#))
        #expect(try await vedette("snooze", "--rule", "any", "--for", "1h").code == 0)
        #expect(try await vedette("silences").out.contains("any"))
        #expect(try await vedette("doctor").out.contains("is PostgreSQL"))
        #expect(await first.stop() == 0)
        let again = try watcher()
        try await again.wait(for: .err) { $0.contains { $0.contains("watching") } }
        try set("stopped")
        try await waitForEvents(2)
        #expect(await again.stop() == 0)
        // By the URL, with another configuration: the events are the journal's.
        let tail = try await Program.run([
            "tail", "--no-follow", "--json", "--state", server.url, "--config", home.config.path,
        ])
        #expect(states(tail.out) == ["ready", "stopped"])
        #expect(again.lines(of: .out).isEmpty, "the rule is silenced")
        #expect(try await vedette("outbox").code == 0)
        #expect(try await vedette("explain", "1").out.contains("any"))
        #expect(try await vedette("journal", "check").out.contains("is sound"))
        let state = home.directory.appending(path: ".local/state").path
        #expect(!FileManager.default.fileExists(atPath: state), "no journal of SQLite beside it")
    }

    /// The new states of the changes that were printed, in order.
    private func states(_ text: String) -> [String] {
        text.matches(of: /"to":"(\w+)"/).map { String($0.1) }
    }

    private func states(_ child: Child) -> [String] { states(child.text(of: .out)) }

    private func waitForEvents(_ count: Int) async throws {
        for _ in 0..<200 {
            if try await vedette("tail", "--no-follow", "--json").lines.count >= count { return }
        }
        throw Trouble("there are no \(count) events")
    }

    @Test("a journal is backed up beside its watcher, and moves to SQLite and back with every number")
    func moves() async throws {
        let watcher = try watcher()
        try await watcher.wait(for: .err) { $0.contains { $0.contains("baseline") } }
        try set("ready")
        try await watcher.wait { $0.count == 1 }
        let (file, moved) = (home.directory.path + "/backup.db", home.directory.path + "/moved")
        let backup = try await vedette("journal", "backup", file)
        #expect(backup.code == 0 && backup.out == "wrote \(file)\n")
        #expect(try await vedette("journal", "backup", file).code == 73)
        let used = try await vedette("journal", "copy", "--to", moved)
        #expect(used.code == 75 && used.err.contains("stop it"))
        #expect(await watcher.stop() == 0)
        let copy = try await vedette("journal", "copy", "--to", moved)
        #expect(copy.code == 0 && copy.out.contains("all tables are the same"))
        #expect(try await vedette("journal", "copy", "--to", moved).code == 73)
        #expect(try await vedette("journal", "verify", "--to", moved).code == 0)
        let schema = server.url + "&options=-csearch_path%3Dback"
        let missing = try await vedette("journal", "copy", "--from", moved, "--to", schema)
        #expect(missing.code == 69 && missing.err.contains("create it"))
        // A watcher on the copy finds the baseline, and gives the next number.
        let again = try Child(
            Program.path, ["run", "--config", home.config.path, "--state", moved],
            environment: ["HOME": home.directory.path])
        try await again.wait(for: .err) { $0.contains { $0.contains("watching") } }
        try set("stopped")
        try await again.wait { $0.count == 1 }
        #expect(await again.stop() == 0)
        let tail = try await vedette("tail", "--no-follow", "--json", "--state", moved)
        #expect(states(tail.out) == ["ready", "stopped"])
        #expect(tail.out.matches(of: /"seq":(\d+)/).map { String($0.1) } == ["1", "2"])
        let different = try await vedette("journal", "verify", "--to", moved)
        #expect(different.code == 65 && different.out.contains("different"))
    }

    @Test("an item whose key no index takes is told once, and found by its key and by what list prints")
    func longKey() async throws {
        let text = try String(contentsOf: home.config.appending(path: "vedette.yaml"), encoding: .utf8)
        try home.write(
            text.replacing("state: state", with: "state: state\n    fields: {build: id}")
                .replacing("when: {field: state}", with: "when: {appears: true}, once_per: build"))
        let key = (0..<150).map { _ in UUID().uuidString }.joined()
        func run(_ ids: String...) async throws -> Program.Result {
            let rows = ids.map { #"{"id": "\#($0)", "state": "up"}"# }.joined(separator: ", ")
            try Data(#"{"systems": [\#(rows)]}"#.utf8)
                .write(to: home.directory.appending(path: "systems.json"), options: .atomic)
            return try await vedette("run", "--once", "--force")
        }
        #expect(try await run("1").code == 0)
        let first = try await run("1", key)
        #expect(first.code == 0 && first.out.contains("item.appeared"), "\(first)")
        let second = try await run(key, "1")
        #expect(second.code == 0 && !second.out.contains("item.appeared"))
        let listed = try await vedette("list", "systems", "--json").json.compactMap { $0.text("key") }
        let short = try #require(listed.first { $0 != "1" })
        #expect(listed.count == 2 && key.hasPrefix(short.prefix(80)) && short.utf8.count < 120)
        for name in [key, short] { #expect(try await vedette("show", "systems", name).code == 0) }
    }

    @Test(
        "a second watcher with the same name stands by, and takes over when the first one ends, and when it is killed")
    func standsBy() async throws {
        let first = try watcher()
        try await first.wait(for: .err) { $0.contains { $0.contains("baseline") } }
        let second = try watcher()
        try await second.wait(for: .err) { $0.contains { $0.contains("standing by: process \(first.pid) on") } }
        try set("ready")
        try await first.wait { $0.count == 1 }
        #expect(await first.stop() == 0)
        try set("stopping")
        try await second.wait { $0.count == 1 }
        let third = try watcher()
        try await third.wait(for: .err) { $0.contains { $0.contains("standing by: process \(second.pid) on") } }
        second.kill(SIGKILL)
        try set("stopped")
        try await third.wait { $0.count == 1 }
        #expect([first, second, third].flatMap(states) == ["ready", "stopping", "stopped"])
        #expect(await third.stop() == 0)
    }

    @Test(
        "a watcher that stood by reads its configuration again when it takes over, and tells of another journal"
    )
    func configurationAfterStandingBy() async throws {
        let first = try watcher()
        try await first.wait(for: .err) { $0.contains { $0.contains("baseline") } }
        let second = try watcher()
        try await second.wait(for: .err) { $0.contains { $0.contains("standing by") } }
        let text = try String(contentsOf: home.config.appending(path: "vedette.yaml"), encoding: .utf8)
        try home.write(
            text.replacing("notify: out}", with: "notify: out}, {name: all, when: {appears: true}, notify: out}")
                .replacing(server.keywords, with: server.keywords + " connect_timeout=9"))
        #expect(await first.stop() == 0)
        try await second.wait(for: .err) { $0.contains { $0.contains("reloaded: 1 source, 2 rules") } }
        try await second.wait(for: .err) { $0.contains { $0.contains("'settings.journal' has changed") } }
        #expect(await second.stop() == 0)
    }

    @Test("a watcher that takes over ends nothing that only the present configuration watches")
    func newestConfigurationAtTakeOver() async throws {
        let lines = "match: '^(?<key>[a-z]+) (?<state>[a-z]+)$', state: state"
        func configure(_ sources: String) throws {
            try home.write(
                """
                settings: {watcher: here, journal: {postgres: "\(server.keywords)"}}
                sources:
                  other: {kind: text, command: [echo, "one up"], \(lines), every: 1h, watcher: here}
                \(sources)
                sinks: {out: {kind: stdout, format: json, watcher: here}}
                rules: [{name: bad, when: {field: state, to: stopped}, resolved: true, notify: out}]
                """)
        }
        try configure("")
        let first = try watcher()
        try await first.wait(for: .err) { $0.contains { $0.contains("baseline") } }
        let second = try watcher()
        try await second.wait(for: .err) { $0.contains { $0.contains("standing by") } }
        let place = "file://\(home.directory.path)/systems.json"
        try configure(
            "  systems: {kind: json, url: \"\(place)\", items: systems, state: state, every: 1s, watcher: here}")
        try await first.wait(for: .err) { $0.count { $0.contains("baseline") } == 2 }
        try set("stopped")
        try await first.wait { $0.count == 1 }
        #expect(await first.stop() == 0)
        try await second.wait(for: .err) { $0.contains { $0.contains("reloaded: 2 sources") } }
        try set("ready")
        try await second.wait { $0.contains { $0.contains(#""to":"ready""#) } }
        #expect(second.lines(of: .out).count == 1, "\(second.text(of: .out))")
        #expect(await second.stop() == 0)
    }

    @Test("a password that the server refuses is read again, so that another one needs no restart")
    func otherPassword() async throws {
        func administer(_ sql: String) async throws {
            let psql = try Child(
                "/usr/bin/env", ["psql", "--quiet", "--dbname=\(server.keywords)", "--command=\(sql)"])
            #expect(await psql.end() == 0, "\(psql.text(of: .err))")
        }
        let password = home.directory.appending(path: "password")
        try await administer("create role guarded superuser login password 'one'")
        let rules = URL(filePath: server.directory + "/data/pg_hba.conf")
        let usual = try String(contentsOf: rules, encoding: .utf8)
        // In place: the user that the server runs as owns the file.
        try Data(("local all guarded scram-sha-256\n" + usual).utf8).write(to: rules)
        try server.stop()
        try server.start()
        try Data("one\n".utf8).write(to: password)
        let text = try String(contentsOf: home.config.appending(path: "vedette.yaml"), encoding: .utf8)
        let guarded = server.keywords.replacing("user=vedette", with: "user=guarded")
        try home.write(
            text.replacing(
                #"{postgres: "\#(server.keywords)"}"#,
                with: #"{postgres: "\#(guarded)", password: {command: [cat, "\#(password.path)"]}}"#))
        let watcher = try watcher()
        try await watcher.wait(for: .err) { $0.contains { $0.contains("baseline") } }
        try await administer("alter role guarded password 'two'")
        try Data("two\n".utf8).write(to: password)
        try server.stop()
        try server.start()
        try set("ready")
        try await watcher.wait { $0.contains { $0.contains(#""to":"ready""#) } }
        #expect(await watcher.stop() == 0)
    }

    @Test("SIGTERM ends a watcher that stands by with 0, and SIGHUP does not end it")
    func signalsWhileStandingBy() async throws {
        let first = try watcher()
        try await first.wait(for: .err) { $0.contains { $0.contains("baseline") } }
        let second = try watcher()
        try await second.wait(for: .err) { $0.contains { $0.contains("standing by") } }
        second.kill(SIGHUP)
        #expect(await second.stop() == 0)
        #expect(await first.stop() == 0)
    }

    @Test("a server that stops is told once by the log and on standard output, and its return; no change is lost")
    func outage() async throws {
        let watcher = try watcher()
        try await watcher.wait(for: .err) { $0.contains { $0.contains("baseline") } }
        try server.stop()
        try set("ready")
        try await watcher.wait(for: .err) { $0.contains { $0.contains("Nothing is stored meanwhile") } }
        try await watcher.wait { $0.count == 1 }
        try server.start()
        try await watcher.wait { $0.count == 2 }
        // A minute without a failure is the end of the outage.
        let lines = try await watcher.wait(limit: 120) { $0.count == 3 }
        let events = lines.compactMap(Program.object)
        #expect(
            events.map { $0.text("type") } == [
                "io.vedette.source.failing", "io.vedette.item.changed", "io.vedette.source.recovered",
            ], "\(lines)")
        #expect(events.first?.text("data", "source") == "journal" && states(watcher) == ["ready"])
        // The log is another stream, which may be read later.
        let log = try await watcher.wait(for: .err) { $0.contains { $0.contains("the journal can be written again") } }
        #expect(log.count { $0.contains("Nothing is stored meanwhile") } == 1, "\(log)")
        #expect(log.count { $0.contains("the journal can be written again") } == 1, "\(log)")
        #expect(await watcher.stop() == 0)
    }

    @Test(
        "I10: SIGTERM ends the program within 10 s while the database answers nothing, and nothing is lost", .tags(.I10)
    )
    func frozen() async throws {
        let first = try watcher()
        try await first.wait(for: .err) { $0.contains { $0.contains("baseline") } }
        try server.freeze()
        try set("ready")
        first.kill(SIGTERM)
        #expect([0, 143].contains(await first.end(within: 10)))
        try server.thaw()
        let second = try watcher()
        try await second.wait { $0.count == 1 }
        #expect(states(second) == ["ready"])
        #expect(await second.stop() == 0)
    }

    @Test(
        "a password in --state is refused, and no part of it is repeated",
        arguments: [
            "postgres://me:s3cret-pg@db/v", "postgres://me:s3cret/pgw?pgw#pgw@db/v", "postgres://me:s3cret#pgw@db",
            "postgress://me:s3cret/pgw@db/v",
        ])
    func password(_ place: String) async throws {
        let result = try await Program.run(["status", "--state", place, "--config", home.config.path])
        #expect(result.code == 64)
        if place.hasPrefix("postgres:") { #expect(result.err.contains("must hold no password")) }
        #expect(!["s3cret", "pgw"].contains { (result.out + result.err).contains($0) })
    }

    @Test("a database that is not there is one clear sentence and exit code 69")
    func away() async throws {
        let result = try await Program.run([
            "status", "--state", "postgres:///v?host=/nonexistent", "--config", home.config.path,
        ])
        #expect(result.code == 69 && result.err.contains("check that PostgreSQL runs"))
    }
}
