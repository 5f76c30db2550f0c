// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// A watcher whose notifications have buttons, and a person who presses them.
@Suite(
    "Buttons of a running watcher's notifications", .timeLimit(.minutes(10)),
    .enabled(if: Desktop.missing.isEmpty, "missing programs: \(Desktop.missing.joined(separator: ", "))"))
struct ButtonTests {
    private struct Scene {
        let desktop: Desktop
        let world: Appliance
        let watcher: Child

        init(_ desktop: Desktop) async throws {
            self.desktop = desktop
            world = try await Appliance()
            try world.configure(extra: "  - {name: notice, when: {source: systems, field: state}, notify: [desk]}\n")
            let place = world.home.config.appending(path: "desk.yaml")
            try "sinks: {desk: {kind: desktop}}\n".write(to: place, atomically: true, encoding: .utf8)
            try await world.set(59, "starting")
            watcher = try Child(
                Program.path, ["run"] + world.home.places,
                environment: desktop.environment.merging(["LAB_PASSWORD": Lab.password]) { $1 })
            try await watcher.wait(for: .err) { $0.contains { $0.contains("baseline") } }
        }

        /// Changes an item and returns the id of the event that says so.
        @discardableResult
        func change(_ item: Int, _ state: String, to word: String) async throws -> String {
            try await world.set(item, state)
            let event = try await watcher.event("item.changed") {
                let change = ($0.at("data", "changes") as? [[String: Any]])?.first
                return $0.text("subject") == "\(item)" && change?["to"] as? String == word
            }
            return event.text("id") ?? ""
        }

        /// Waits until an event's delivery to the desktop has ended, and returns what `explain` says of it.
        func explained(_ event: String) async throws -> String {
            for _ in 0..<100 {
                let lines = try await world.home.vedette("explain", event).lines
                if let line = lines.first(where: { $0.contains("→ desk:") }), !line.contains("pending") { return line }
                try await world.polled(1)
            }
            throw Trouble("this event is still pending for the desktop: \(event)")
        }

        func silences() async throws -> [[String: Any]] { try await world.home.vedette("silences", "--json").json }

        /// Waits for so many silences.
        func silenced(_ count: Int) async throws -> [[String: Any]] {
            for _ in 0..<100 {
                let silences = try await silences()
                if silences.count == count { return silences }
                try await world.polled(1)
            }
            throw Trouble("there are not \(count) silences: \(try await silences())")
        }

        func end() async throws {
            #expect(await watcher.stop() == 0)
            await desktop.end()
        }
    }

    @Test("Snooze 1 h, chosen in dunst: the item is silent, explain says why, and its end lets messages through")
    func snooze() async throws {
        let scene = try await Scene(Desktop())
        _ = try await scene.explained(scene.change(59, "ready", to: "Ready for use"))
        try await scene.desktop.choose("Snooze 1 h")
        let silence = try await scene.silenced(1)[0]
        #expect(silence["rule"] as? String == "notice" && silence["source"] as? String == "systems")
        #expect(silence["item"] as? String == "59" && silence["until"] != nil)
        let number = try #require(silence["id"] as? Int)
        let said = try await scene.explained(scene.change(59, "stopping", to: "Stopping"))
        #expect(said.contains("suppressed") && said.contains("silenced: "), "\(said)")
        // Another item's notification comes.
        let other = try await scene.explained(scene.change(56, "stopping", to: "Stopping"))
        #expect(other.contains("sent") && !other.contains("suppressed"), "\(other)")
        #expect(try await scene.world.home.vedette("silences", "end", "\(number)").code == 0)
        try await scene.world.polled(6)
        let after = try await scene.explained(scene.change(59, "stopped", to: "Stopped"))
        #expect(after.contains("sent") && !after.contains("suppressed"), "\(after)")
        try await scene.end()
    }

    @Test("Mute here: every item is silent for that rule on the desktop, other rules and sinks speak on")
    func mute() async throws {
        let scene = try await Scene(Desktop())
        _ = try await scene.explained(scene.change(59, "ready", to: "Ready for use"))
        try await scene.desktop.choose("Mute here")
        let silence = try await scene.silenced(1)[0]
        #expect(silence["rule"] as? String == "notice" && silence["item"] == nil && silence["until"] == nil)
        #expect(silence["sink"] != nil)
        // The rule `state` speaks to stdout: that is where `change` hears of it.
        let said = try await scene.explained(scene.change(56, "stopping", to: "Stopping"))
        #expect(said.contains("suppressed"), "\(said)")
        try await scene.end()
    }

    @Test("Open starts the browser with the item's address, which outlives the watcher")
    func open() async throws {
        let scene = try await Scene(Desktop())
        _ = try await scene.explained(scene.change(59, "ready", to: "Ready for use"))
        try await scene.desktop.choose("Open")
        let opened = try await scene.desktop.opened()
        #expect(opened.hasPrefix("https://") && opened.contains("59"), "\(opened)")
        try await scene.end()
    }
}
