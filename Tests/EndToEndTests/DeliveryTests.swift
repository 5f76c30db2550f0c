// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@Suite("What becomes of a message, through the whole program", .timeLimit(.minutes(10)))
struct DeliveryTests {
    private struct World {
        let lab: Lab
        let home: Home
        private let list: URL
        let taken: URL

        /// One row whose state changes, a receiver that answers `status`, and what else is configured.
        init(status: Int, sink: String = "", rule: String) async throws {
            lab = try await Lab("faults")
            home = try Home(lab)
            list = home.directory.appending(path: "list.json")
            taken = home.directory.appending(path: "taken.log")
            try home.write(
                """
                sources:
                  s: {kind: json, url: "file://\(list.path)", state: state}
                sinks:
                  team: {kind: webhook, url: "\(lab["faults"])/status?code=\(status)"\(sink)}
                  log: {kind: file, path: "\(taken.path)", format: line}
                rules:
                  - \(rule)
                """)
        }

        /// One poll of every source, and every message that comes of it.
        func poll(_ state: String) async throws -> Program.Result {
            try Data(#"[{"id": 1, "title": "prod-1", "state": "\#(state)"}]"#.utf8).write(to: list, options: .atomic)
            return try await run("run", "--once")
        }

        func run(_ arguments: String...) async throws -> Program.Result {
            try await Program.run(arguments + home.places)
        }

        var log: String { (try? String(contentsOf: taken, encoding: .utf8)) ?? "" }
    }

    @Test("what a receiver will not take goes to the fallback; outbox shows what came of it")
    func fallback() async throws {
        let world = try await World(
            status: 400, sink: ", else: [log]", rule: "{name: any, when: {field: state}, notify: [team]}")
        _ = try await world.poll("a")
        _ = try await world.poll("b")
        #expect(world.log.contains("prod-1") && world.log.split(separator: "\n").count == 1, "\(world.log)")
        let shown = try await world.run("outbox", "show", "1")
        #expect(shown.out.contains("1 to 'team' by rule 'any': suppressed"), "\(shown.out)\(shown.err)")
        #expect(shown.out.contains("told by 'log': the receiver answered 400"))
        let object = try #require(try await world.run("outbox", "show", "2", "--json").json.first)
        #expect(object["sink"] as? String == "log" && object["state"] as? String == "sent")
        let unknown = try await world.run("outbox", "show", "77")
        #expect(unknown.code == 65 && unknown.err.contains("no delivery 77"), "\(unknown.err)")
        let explained = try await world.run("explain", "1")
        #expect(
            explained.out.contains("→ team: suppressed") && explained.out.contains("→ log: sent"), "\(explained.out)")
    }

    @Test("a sink that refuses us is told to another one, in words and as an event")
    func refused() async throws {
        let world = try await World(
            status: 401,
            rule: """
                {name: any, when: {field: state}, notify: [team]}
                  - {name: refused, when: {sink_state: [paused, disabled]}, notify: [team, log],
                     tests: [{sink_state: paused, expect: [team, log]}]}
                """)
        _ = try await world.poll("a")
        #expect(try await world.poll("b").code == 69)
        #expect(world.log.contains("team  paused: the receiver answered 401"), "\(world.log)")
        let events = try await world.run("tail", "--no-follow", "--json").json
        #expect(events.last?.text("type") == "io.vedette.sink.paused")
        #expect(events.last?.text("source") == "/sinks/team")
        let explained = try await world.run("explain", "2")
        #expect(explained.out.contains("it is about this sink itself"), "\(explained.out)")
        let check = try await world.run("check")
        #expect(check.code == 0, "\(check.err)")
    }
}
