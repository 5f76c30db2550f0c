// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@Suite("A sink that refuses us, over restarts of the program", .timeLimit(.minutes(10)))
struct StoppedSinkTests {
    /// One list whose changes go to a receiver that answers 401, and to a file.
    private struct World {
        let lab: Lab
        let home: Home
        private let list: URL
        private let log: URL

        init() async throws {
            lab = try await Lab("faults")
            home = try Home(lab)
            list = home.directory.appending(path: "list.json")
            log = home.directory.appending(path: "taken.log")
            try serve("a")
            try home.write(
                """
                sources:
                  s: {kind: json, url: "file://\(list.path)", state: state, every: 200ms}
                sinks:
                  team: {kind: webhook, url: "\(lab["faults"])/status?code=401"}
                  out: {kind: stdout, format: line}
                rules:
                  - {name: any, when: {field: state}, notify: [team, out]}
                """)
        }

        func serve(_ state: String) throws {
            try Data(#"[{"id": 1, "title": "prod-1", "state": "\#(state)"}]"#.utf8).write(to: list, options: .atomic)
        }

        /// Changes the list, and waits until the other sink has the change.
        func change(to state: String, _ watcher: Child) async throws {
            try serve(state)
            try await watcher.wait { $0.contains { $0.contains(state) } }
        }

        /// The messages to the receiver that are not sent, and how often each was tried.
        func waiting() async throws -> [(state: String, attempts: Int)] {
            try await home.vedette("outbox", "--sink", "team", "--json").json.map {
                ($0.text("state") ?? "", $0["attempts"] as? Int ?? -1)
            }
        }
    }

    @Test(
        "a paused sink stays paused over a restart and gets no request; outbox retry --sink resumes it"
    )
    func restart() async throws {
        let world = try await World()
        let first = try await world.home.watcher()
        try await first.wait(for: .err) { $0.contains { $0.contains("baseline") } }
        try await world.change(to: "Refused", first)
        try await first.wait(for: .err) { $0.contains { $0.contains("team: paused") } }
        #expect(await first.stop() == 0)
        #expect(try await world.home.vedette("outbox", "drop", "--sink", "team").out.contains("1 message dropped"))

        let second = try await world.home.watcher()
        try await second.wait(for: .err) { $0.contains { $0.contains("the sink 'team' is still paused") } }
        try await world.change(to: "Held", second)
        let held = try await world.waiting().filter { $0.state != "dead" }
        #expect(held.map(\.attempts) == [0], "\(held)")
        #expect(await second.stop() == 0)
        #expect(try await world.home.vedette("outbox", "drop", "--sink", "team").code == 0)

        let third = try await world.home.watcher()
        try await third.wait(for: .err) { $0.contains { $0.contains("the sink 'team' is still paused") } }
        let retry = try await world.home.vedette("outbox", "retry", "--sink", "team")
        #expect(
            retry.out.contains("the sink 'team', which is paused, takes messages again"), "\(retry.out)\(retry.err)")
        try await world.change(to: "Tried", third)
        // It is tried, and refuses us once more.
        try await third.wait(for: .err) { $0.contains { $0.contains("team: paused") } }
        #expect(await third.stop() == 0)
    }
}
