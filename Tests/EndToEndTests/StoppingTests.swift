// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import VedetteTestSupport

@Suite("Stopping", .timeLimit(.minutes(10)))
struct StoppingTests {
    private func posts(_ lab: Lab) async throws -> [[String: Any]] {
        (try await lab.get("receiver", "/received") as? [[String: Any]]) ?? []
    }

    @Test(
        "I5 and I10: SIGTERM ends the program within 10 s while a receiver hangs; what is pending goes out next time, with its id",
        .tags(.I5, .I10)
    )
    func hangingReceiver() async throws {
        let world = try await Appliance()
        try await world.set(59, "starting")
        let watcher = try await world.home.watcher()
        try await watcher.wait(for: .err) { $0.contains { $0.contains("baseline") } }
        try await world.lab.post("receiver", "/fail", ["path": "/hook", "times": -1, "hang": 60])
        try await world.set(59, "ready")
        _ = try await world.lab.get("receiver", "/received?min=1")
        try await world.set(59, "stopping")
        try await watcher.wait { $0.count == 2 }
        #expect(await watcher.stop() == 0)
        #expect(try await world.home.sink("hook")["pending"] as? Int == 2)
        try await world.lab.post("receiver", "/fail", ["times": 0])
        let next = try await world.home.watcher()
        let accepted = try await world.lab.received(2)
        #expect(await next.stop() == 0)
        let first = try await posts(world.lab)[0]
        #expect(accepted.map(\.messageID).first == first.messageID)
        #expect(accepted.first?["body"] as? String == first["body"] as? String)
        #expect(Set(accepted.map(\.messageID)).count == 2)
        #expect(try await world.home.sink("hook")["pending"] as? Int == 0)
        #expect(
            accepted.compactMap { Program.object($0["body"] as? String ?? "")?.text("id") }
                == watcher.events.compactMap { $0.text("id") })
    }

    @Test("I10: SIGTERM and SIGINT end the program while servers hang", .tags(.I10), arguments: [SIGTERM, SIGINT])
    func hangingServer(_ signal: Int32) async throws {
        let lab = try await Lab("faults")
        let home = try Home(lab)
        try home.write(
            """
            sources:
              a: {kind: json, url: "\(lab["faults"])/hang", every: 1s}
              b: {kind: json, url: "\(lab["silent"])/", every: 1s}
              c: {kind: json, url: "\(lab["faults"])/drip?bytes_per_s=100", every: 1s}
            """)
        let watcher = try await home.watcher()
        _ = try await lab.get("faults", "/raw-requests?min=2&timeout=20")
        watcher.kill(signal)
        #expect(await watcher.end(within: 10) == 0)
    }

    @Test("a second SIGTERM does not wait: it ends the program at once with 143")
    func twice() async throws {
        let world = try await Appliance()
        let watcher = try await world.home.watcher()
        try await watcher.wait(for: .err) { $0.contains { $0.contains("baseline") } }
        try await world.lab.post("receiver", "/fail", ["path": "/hook", "times": -1, "hang": 60])
        try await world.set(59, "ready")
        _ = try await world.lab.get("receiver", "/received?min=1")
        watcher.kill(SIGTERM)
        try await watcher.wait(for: .err) { $0.contains { $0.contains("stopping") } }
        watcher.kill(SIGTERM)
        #expect(await watcher.end(within: 5) == 143)
        #expect(try await world.home.sink("hook")["pending"] as? Int == 1)
    }
}
