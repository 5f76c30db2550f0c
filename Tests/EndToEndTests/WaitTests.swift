// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@Suite("wait, by the journal of a watcher and by itself", .timeLimit(.minutes(10)))
struct WaitTests {
    enum Eyes: String, CaseIterable, Sendable { case watcher, alone }

    /// `wait` as it runs, and the watcher that must live as long.
    private func wait(
        _ world: Appliance, _ eyes: Eyes, _ arguments: String..., then change: () async throws -> Void = {}
    ) async throws -> Program.Result {
        try await wait(world, eyes, arguments, then: change)
    }

    private func wait(
        _ world: Appliance, _ eyes: Eyes, _ arguments: [String], then change: () async throws -> Void = {}
    ) async throws -> Program.Result {
        var watcher: Child?
        if eyes == .watcher {
            watcher = try await world.home.watcher()
            try await watcher?.wait(for: .err) { $0.contains { $0.contains("baseline") } }
        }
        let polls = try await world.polls()
        let child = try Child(
            Program.path, ["wait"] + arguments + world.home.places, environment: ["LAB_PASSWORD": Lab.password])
        // Alone it has looked once when the lab was asked once; beside a watcher either order ends the same.
        if eyes == .alone { _ = try await world.lab.get("control", "/lab/log?min=1&after=\(polls)") }
        try await change()
        let code = await child.end()
        if let watcher { #expect(await watcher.stop() == 0) }
        return Program.Result(code: code, out: child.text(of: .out), err: child.text(of: .err))
    }

    @Test("wait ends with 0 when the state is reached", arguments: Eyes.allCases)
    func reached(_ eyes: Eyes) async throws {
        let world = try await Appliance()
        let result = try await wait(world, eyes, "systems", "59", "--to", "Ready for use", "--timeout", "20s") {
            try await world.set(59, "running")
            try await world.set(59, "ready")
        }
        #expect(result.code == 0, "\(result.err)")
    }

    @Test("wait ends with 0 at once when the item is already there, also by its title", arguments: Eyes.allCases)
    func already(_ eyes: Eyes) async throws {
        let world = try await Appliance()
        let result = try await wait(world, eyes, "systems", "Portal QA", "--to", "Stopped", "--to", "Ready for use")
        #expect(result.code == 0, "\(result.err)")
        #expect(result.err.contains("Portal QA: Ready for use"))
    }

    @Test("wait ends with 1 when the item is gone", arguments: Eyes.allCases)
    func gone(_ eyes: Eyes) async throws {
        let world = try await Appliance()
        let result = try await wait(world, eyes, "systems", "59", "--to", "Ready for use", "--timeout", "20s") {
            try await world.lab.post("control", "/lab/delete", ["id": 59])
        }
        #expect(result.code == 1)
        #expect(result.err.contains("59: gone"), "\(result.err)")
    }

    @Test("wait ends with 1 when the item is in a --fail state", arguments: Eyes.allCases)
    func failed(_ eyes: Eyes) async throws {
        let world = try await Appliance()
        let result = try await wait(
            world, eyes, "systems", "59", "--to", "Ready for use", "--fail", "Failed", "--timeout", "20s"
        ) {
            try await world.set(59, "failed")
        }
        #expect(result.code == 1)
        #expect(result.err.contains("59: Failed"), "\(result.err)")
    }

    @Test("wait ends with 124 when the time is over", arguments: Eyes.allCases)
    func timeout(_ eyes: Eyes) async throws {
        let world = try await Appliance()
        let result = try await wait(world, eyes, "systems", "59", "--to", "Ready for use", "--timeout", "700ms")
        #expect(result.code == 124, "\(result.err)")
    }

    @Test("wait with --timeout 0s looks once: 0 when the state is reached, else 124", arguments: Eyes.allCases)
    func noTime(_ eyes: Eyes) async throws {
        let states = ["--to", "Stopped", "--to", "Ready for use", "--timeout", "0s"]
        let reached = try await wait(try await Appliance(), eyes, ["systems", "Portal QA"] + states)
        #expect(reached.code == 0, "\(reached.err)")
        let missing = try await wait(try await Appliance(), eyes, ["systems", "late"] + states)
        #expect(missing.code == 124 && !missing.err.contains("no answer yet"), "\(missing.err)")
    }

    @Test("wait for an unknown item or source says which ones there are", arguments: Eyes.allCases)
    func unknown(_ eyes: Eyes) async throws {
        let world = try await Appliance()
        let key = try await wait(world, eyes, "systems", "Portal Q", "--to", "Ready for use")
        #expect(key.code == 65)
        #expect(key.err.contains("did you mean 'Portal QA'?"), "\(key.err)")
        let source = try await world.home.vedette("wait", "system", "59", "--to", "Ready for use")
        #expect(source.code == 64)
        #expect(source.err.contains("did you mean 'systems'?"), "\(source.err)")
    }

    @Test("a title that two items have is an error with their keys", arguments: Eyes.allCases)
    func ambiguous(_ eyes: Eyes) async throws {
        let world = try await Appliance()
        for id in [801, 802] { try await world.lab.post("control", "/lab/create", ["name": "twin", "id": id]) }
        let result = try await wait(world, eyes, "systems", "twin", "--to", "Ready for use")
        #expect(result.code == 65)
        #expect(result.err.contains("801, 802"), "\(result.err)")
    }

    @Test("a failed poll does not end the waiting", arguments: Eyes.allCases)
    func failedPoll(_ eyes: Eyes) async throws {
        let world = try await Appliance()
        let result = try await wait(world, eyes, "systems", "59", "--to", "Ready for use", "--timeout", "20s") {
            let polls = try await world.polls()
            try await world.fault("500", times: 2)
            _ = try await world.lab.get("control", "/lab/log?min=2&after=\(polls)")
            try await world.set(59, "ready")
        }
        #expect(result.code == 0, "\(result.err)")
    }

    @Test("wait --gone ends with 0 when a list turns empty that may be empty", arguments: Eyes.allCases)
    func goneWithAll(_ eyes: Eyes) async throws {
        let world = try await Appliance(options: "empty: valid")
        let result = try await wait(world, eyes, "systems", "59", "--gone", "--timeout", "20s") {
            try await world.lab.post("control", "/lab/clear", [:])
        }
        #expect(result.code == 0, "\(result.err)")
        #expect(result.err.contains("59: gone"), "\(result.err)")
    }

    @Test("with --timeout it waits for an item that is not listed yet", arguments: Eyes.allCases)
    func notListedYet(_ eyes: Eyes) async throws {
        let world = try await Appliance()
        let result = try await wait(world, eyes, "systems", "late", "--to", "Ready for use", "--timeout", "20s") {
            try await world.lab.post("control", "/lab/create", ["name": "late", "id": 803])
            try await world.set(803, "ready")
        }
        #expect(result.code == 0, "\(result.err)")
        let other = try await Appliance()
        let never = try await wait(other, eyes, "systems", "Portal Q", "--to", "Ready for use", "--timeout", "700ms")
        #expect(never.code == 124)
        #expect(never.err.contains("no such item yet; did you mean 'Portal QA'?"), "\(never.err)")
    }

    @Test("with --timeout it waits for a server that fails at the start")
    func serverIsDown() async throws {
        let world = try await Appliance()
        try await world.fault("500", times: 2)
        let result = try await wait(world, .alone, "systems", "59", "--to", "Ready for use", "--timeout", "20s") {
            try await world.set(59, "ready")
        }
        #expect(result.code == 0, "\(result.err)")
        #expect(result.err.contains("systems: server-error: "), "\(result.err)")
    }

    @Test("without a watcher and without --timeout, wait ends with 69 when its first poll fails, and says why")
    func firstPollFails() async throws {
        let world = try await Appliance()
        try await world.fault("500")
        let result = try await wait(world, .alone, "systems", "59", "--to", "Ready for use")
        #expect(result.code == 69)
        #expect(result.err.contains("systems: server-error: "), "\(result.err)")
    }

    @Test("without a watcher, wait polls a source that fails at its usual interval")
    func manyFailedPolls() async throws {
        let world = try await Appliance()
        let result = try await wait(world, .alone, "systems", "59", "--to", "Ready for use", "--timeout", "20s") {
            let polls = try await world.polls()
            // Twelve of them would back off for minutes.
            try await world.fault("500", times: 12)
            _ = try await world.lab.get("control", "/lab/log?min=12&after=\(polls)&timeout=20")
            try await world.set(59, "ready")
        }
        #expect(result.code == 0, "\(result.err)")
    }
}
