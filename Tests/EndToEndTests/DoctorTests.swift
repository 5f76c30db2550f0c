// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@Suite("Doctor", .timeLimit(.minutes(10)))
struct DoctorTests {
    private static let secret = "hook-s3cret"

    /// Adds a desktop sink and others.
    private func configure(_ world: Appliance, sinks: String = "") throws {
        try world.configure()
        let file = world.home.config.appending(path: "desk.yaml")
        try "sinks:\n  desk: {kind: desktop}\n\(sinks)".write(to: file, atomically: true, encoding: .utf8)
    }

    private func environment(_ desktop: Desktop) -> [String: String] {
        desktop.environment.merging(["LAB_PASSWORD": Lab.password]) { $1 }
    }

    @Test(
        "where everything works it reports so, line by line and as JSON, and sends no message",
        .enabled(if: Desktop.missing.isEmpty, "missing programs: \(Desktop.missing.joined(separator: ", "))"))
    func good() async throws {
        let desktop = try await Desktop()
        let world = try await Appliance()
        try configure(world)
        let watcher = try Child(Program.path, ["run"] + world.home.places, environment: environment(desktop))
        try await watcher.wait(for: .err) { $0.contains { $0.contains("baseline") } }
        let result = try await world.home.vedette("doctor", environment: environment(desktop))
        #expect(result.code == 0, "\(result.out)\(result.err)")
        func says(_ start: String, _ words: String) -> Bool {
            result.lines.contains { $0.hasPrefix(start) && $0.contains(words) }
        }
        #expect(says("ok    configuration", "1 source, 3 sinks, 3 rules in 2 files"))
        #expect(says("ok    watcher", "process \(watcher.pid) is watching"))
        #expect(says("ok    journal", "every page is sound"))
        #expect(says("ok    server lab", "has the pinned key"))
        #expect(says("ok    sink hook", "answers"))
        #expect(says("ok    sink desk", "dunst"))
        #expect(says("warn  sink desk", "vedette.desktop is not installed"))
        #expect(!result.lines.contains { $0.hasPrefix("fail") } && !result.out.contains("\u{1B}"))
        #expect(result.err.hasPrefix("no check failed: "), "\(result.err)")
        let json = try await world.home.vedette("doctor", "--json", environment: environment(desktop)).json
        #expect(json.count == result.lines.count)
        #expect(Set(json.compactMap { $0["verdict"] as? String }) == ["ok", "warn"])
        #expect(try await desktop.displayed() == 0)
        #expect((try await world.lab.get("receiver", "/received") as? [Any])?.isEmpty == true)
        #expect(await watcher.stop() == 0)
        await desktop.end()
    }

    @Test("failures are reported with the remedy and without secrets; --offline makes no connection")
    func bad() async throws {
        let world = try await Appliance()
        try configure(
            world,
            sinks: """
                  closed: {kind: webhook, url: "http://127.0.0.1:1/\(DoctorTests.secret)"}
                  program: {kind: command, command: [no-such-program]}
                  log: {kind: file, path: /nowhere/log}
                """)
        let environment = [
            "LAB_PASSWORD": Lab.password, "DBUS_SESSION_BUS_ADDRESS": "unix:path=/nowhere/bus",
        ]
        let result = try await world.home.vedette("doctor", environment: environment)
        #expect(result.code == 69)
        let failed = result.lines.filter { $0.hasPrefix("fail") }
        for words in ["closed ", "program ", "log ", "desk "] {
            #expect(failed.contains { $0.hasPrefix("fail  sink \(words)") }, "\(words): \(result.out)")
        }
        #expect(failed.count == 4 && result.err.hasPrefix("vedette: 4 checks failed"), "\(result.out)\(result.err)")
        #expect(result.lines.contains { $0.hasPrefix("warn  watcher") && $0.contains("no watcher runs") })
        #expect(!(result.out + result.err).contains(DoctorTests.secret) && !result.out.contains(Lab.password))
        #expect(!FileManager.default.fileExists(atPath: world.home.state.path), "it created something")
        let offline = try await world.home.vedette("doctor", "--offline", environment: environment)
        #expect(offline.lines.filter { $0.hasPrefix("fail") }.count == 3)
        #expect(!offline.out.contains("127.0.0.1"))
    }

    @Test("errors of the configuration are reported with their places, and end it with 78")
    func broken() async throws {
        let world = try await Appliance()
        let result = try await world.home.vedette("doctor", environment: [:])
        #expect(result.code == 78)
        #expect(result.lines.first?.contains("vedette.yaml:5:15: the environment variable 'LAB_PASSWORD'") == true)
        #expect(result.lines.contains { $0.hasPrefix("ok    clock") })
        let nowhere = try await Program.run(["doctor", "--config", "/nowhere", "--state", world.home.state.path])
        #expect(nowhere.code == 78 && nowhere.lines.first?.hasPrefix("fail  configuration") == true)
    }

    @Test("a paused sink and a journal with a torn page are reported")
    func journal() async throws {
        let world = try await Appliance()
        #expect(try await world.home.vedette("run", "--once").code == 0)
        try await world.lab.post("receiver", "/fail", ["path": "/hook", "times": -1, "status": 401])
        try await world.set(59, "stopping")
        #expect(try await world.home.vedette("run", "--once").code == 69)
        let paused = try await world.home.vedette("doctor")
        #expect(paused.code == 69)
        #expect(
            paused.lines.contains {
                $0.hasPrefix("fail  sink hook") && $0.contains("`vedette outbox retry --sink hook`")
            },
            "\(paused.out)")
        let file = world.home.state.appending(path: "journal.db")
        var bytes = try Data(contentsOf: file)
        for page in stride(from: 4096, to: bytes.count, by: 4096) {
            bytes.replaceSubrange(page..<page + 64, with: Data(count: 64))
        }
        try bytes.write(to: file)
        let damaged = try await world.home.vedette("doctor")
        #expect(damaged.code == 69)
        #expect(damaged.lines.contains { $0.hasPrefix("fail  journal") && $0.contains("damaged") }, "\(damaged.out)")
    }

    @Test(
        "a daemon or a bus that hangs is reported, and waited for within limits",
        .enabled(if: Desktop.missing.isEmpty, "missing programs: \(Desktop.missing.joined(separator: ", "))"))
    func hanging() async throws {
        let desktop = try await Desktop()
        let home = try Home()
        try home.write("sinks: {desk: {kind: desktop}}")
        desktop.freezeDaemon()
        let daemon = try await home.vedette("doctor", environment: desktop.environment)
        #expect(daemon.code == 69)
        #expect(daemon.out.contains("the notification daemon does not answer"), "\(daemon.out)")
        desktop.freezeBus()
        let bus = try await home.vedette("doctor", environment: desktop.environment)
        #expect(bus.code == 69)
        #expect(bus.out.contains("the session bus does not answer"), "\(bus.out)")
        await desktop.end()
    }
}
