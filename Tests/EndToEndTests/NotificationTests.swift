// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@Suite("Bubbles on a desktop", .timeLimit(.minutes(10)))
struct NotificationTests {
    private func configure(_ world: Appliance) throws {
        try world.configure(extra: "  - {name: notice, when: {source: systems, field: state}, notify: [desk]}\n")
        let place = world.home.config.appending(path: "desk.yaml")
        try "sinks: {desk: {kind: desktop}}\n".write(to: place, atomically: true, encoding: .utf8)
    }

    /// Waits, by asking again at each poll of the watcher, until nothing is pending for the desktop.
    private func shown(_ world: Appliance) async throws {
        for _ in 0..<100 {
            if try await world.home.sink("desk")["pending"] as? Int == 0 { return }
            try await world.polled(1)
        }
        throw Trouble("a notification is still pending")
    }

    @Test(
        "a watcher's notifications are replaced in place, not stacked: one for each item, with its latest state",
        .enabled(if: Desktop.missing.isEmpty, "missing programs: \(Desktop.missing.joined(separator: ", "))"))
    func replaced() async throws {
        let desktop = try await Desktop()
        let world = try await Appliance()
        try configure(world)
        try await world.set(59, "starting")
        let watcher = try Child(
            Program.path, ["run"] + world.home.places,
            environment: desktop.environment.merging(["LAB_PASSWORD": Lab.password]) { $1 })
        try await watcher.wait(for: .err) { $0.contains { $0.contains("baseline") } }
        for (id, state, count) in [(59, "ready", 1), (59, "stopping", 2), (56, "stopping", 3), (59, "stopped", 4)] {
            try await world.set(id, state)
            try await watcher.wait { $0.filter { $0.contains("item.changed") }.count == count }
            try await shown(world)
        }
        #expect(try await desktop.displayed() == 2)
        let notifications = try await desktop.shown()
        #expect(notifications.count == 2, "\(notifications)")
        #expect(
            notifications.contains {
                ($0.title + $0.text).contains("WAS lab clone 05") && ($0.title + $0.text).contains("Stopped")
            })
        #expect(
            notifications.contains {
                ($0.title + $0.text).contains("Portal QA") && ($0.title + $0.text).contains("Stopping")
            }
        )
        #expect(await watcher.stop() == 0)
        await desktop.end()
    }

    @Test(
        "a notification waits for log-in, and comes when there is a desktop; a daemon that starts anew gets the next one",
        .enabled(if: Desktop.missing.isEmpty, "missing programs: \(Desktop.missing.joined(separator: ", "))"))
    func login() async throws {
        let place = Desktop.place()
        let world = try await Appliance()
        try configure(world)
        try await world.set(59, "starting")
        let watcher = try Child(
            Program.path, ["run"] + world.home.places,
            environment: ["LAB_PASSWORD": Lab.password, "DBUS_SESSION_BUS_ADDRESS": Desktop.address(at: place)])
        try await watcher.wait(for: .err) { $0.contains { $0.contains("baseline") } }
        try await world.set(59, "ready")
        try await watcher.wait(for: .err) { $0.contains { $0.contains("no session bus") } }
        #expect(try await world.home.sink("desk")["pending"] as? Int == 1)
        let desktop = try await Desktop(at: place)
        try await shown(world)
        #expect(try await desktop.displayed() == 1)
        try await desktop.restartDaemon()
        try await world.set(59, "stopping")
        try await watcher.wait { $0.filter { $0.contains("item.changed") }.count == 2 }
        try await shown(world)
        #expect(try await desktop.displayed() == 1)
        #expect(await watcher.stop() == 0)
        await desktop.end()
    }

    @Test(
        "send says that a notification was shown, and without a bus what is missing",
        .enabled(if: Desktop.missing.isEmpty, "missing programs: \(Desktop.missing.joined(separator: ", "))"))
    func send() async throws {
        let home = try Home()
        try home.write("sinks: {desk: {kind: desktop}}")
        let without = try await home.vedette(
            "send", "desk", environment: ["DBUS_SESSION_BUS_ADDRESS": "unix:path=/nowhere/bus"])
        #expect(without.code == 69)
        #expect(without.err.hasPrefix("vedette: desk: "), "\(without.err)")
        let desktop = try await Desktop()
        let sent = try await home.vedette("send", "desk", "--text", "hello", environment: desktop.environment)
        #expect(sent.code == 0, "\(sent.err)")
        #expect(try await desktop.shown().map(\.text) == ["hello"])
        await desktop.end()
    }
}
