// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import VedetteTestSupport

@Suite("Crashes", .timeLimit(.minutes(10)))
struct CrashTests {
    static let seed: UInt64 = 20_261_121

    @Test(
        "I1, I4, I5, I6, I10: 20 × kill -9 while systems change and the receiver fails: nothing is lost, invented or repeated under another id",
        .tags(.I1, .I4, .I5, .I6, .I10)
    )
    func kills() async throws {
        let world = try await Appliance(every: "100ms")
        try configure(world)
        #expect(try await world.home.vedette("run", "--once").code == 0)
        let baseline = try await world.home.items("systems").compactMap(Program.object)
        var dice = SplitMix64(CrashTests.seed)
        for _ in 1...20 { try await live(world, &dice) }
        try await settle(world)
        let ledger = try await Ledger(world, baseline: baseline)
        ledger.checkEvents()
        ledger.checkHistory()
        ledger.checkDeliveries()
        ledger.checkOrder()
        #expect(ledger.events.count >= 20)
    }

    private func configure(_ world: Appliance) throws {
        try world.configure(
            every: "100ms",
            extra: """
                  - {name: all, when: {source: systems, changes: [state, message, args, title]}, notify: [hook]}
                  - {name: left, when: {source: systems, disappears: true}, notify: [hook]}
                """)
    }

    /// One life of a watcher: some steps of the story, some trouble, and its end at any instant.
    private func live(_ world: Appliance, _ dice: inout SplitMix64) async throws {
        let watcher = try Child(
            Program.path, ["run"] + world.home.places, environment: ["LAB_PASSWORD": Lab.password])
        for _ in 0..<dice.below(4) {
            try await world.lab.post("control", "/lab/step", ["times": 1, "births": true])
            switch dice.below(5) {
            case 0:
                try await world.lab.post(
                    "receiver", "/fail", ["path": "/hook", "times": 1, "status": 503, "retry_after": 1])
            case 1: try await world.fault(["500", "cut-length", "cut-gzip"][dice.below(3)], times: 1)
            default: break
            }
            let polls = try await world.polls()
            _ = try await world.lab.get("control", "/lab/log?min=\(1 + dice.below(2))&after=\(polls)&timeout=5")
        }
        // The instant is the point: anywhere between two system calls of what the last answer set off.
        try await Task.sleep(for: .microseconds(dice.below(60_000)))
        watcher.kill(SIGKILL)
        _ = await watcher.end(within: 10)
    }

    /// A last, whole life: everything that is still pending goes out, and the lab changes no more.
    private func settle(_ world: Appliance) async throws {
        try await world.heal()
        try await world.lab.post("receiver", "/fail", ["times": 0])
        let watcher = try await world.home.watcher()
        try await world.polled(6)
        for _ in 0..<200 {
            if try await world.home.sink("hook")["pending"] as? Int == 0 { break }
            try await world.polled(1)
        }
        #expect(await watcher.stop() == 0)
    }
}
