// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import VedetteTestSupport

@Suite("run: one watcher for a journal, and --once", .timeLimit(.minutes(10)))
struct OnceTests {
    @Test("a second run ends with 75 and names the pid of the first")
    func second() async throws {
        let world = try await Appliance()
        let watcher = try await world.home.watcher()
        for options in [["run"], ["run", "--once"]] {
            let second = try await Program.run(
                options + world.home.places, environment: ["LAB_PASSWORD": Lab.password])
            #expect(second.code == 75)
            #expect(second.err.contains("process \(watcher.pid) "), "\(second.err)")
        }
        #expect(await watcher.stop() == 0)
        #expect(try await world.home.vedette("run", "--once").code == 0)
    }

    @Test("run --once says the baseline, keeps the state for the next, and says what it polled")
    func once() async throws {
        let lab = try await Lab("appliance,feeds", "--feeds", "2")
        let home = try Home(lab)
        try home.write(
            """
            servers: {lab: {url: "\(lab["appliance"])", user: lamato, password: {env: LAB_PASSWORD}, tls: {pin: "\(lab["pin"])"}}}
            sources:
              systems: {kind: cloudburst, server: lab}
              news: {kind: feed, url: "\(lab["feeds"])/feed/1.xml"}
            sinks: {out: {kind: stdout, format: json}}
            rules: [{name: all, when: {any: [{source: systems}, {source: news}], changes: [state]}, notify: [out]}]
            """)
        let items = try await lab.get("control", "/lab/systems") as? [Any]
        let first = try await home.vedette("run", "--once")
        #expect(first.code == 0, "\(first.err)")
        let entries = try await home.items("news").count
        #expect(entries > 0)
        // A stdout sink has stdout to itself: the summary goes beside it.
        #expect(first.out.isEmpty)
        #expect(first.err.contains("\nbaseline: \((items?.count ?? 0) + entries) items in 2 sources\n"), "\(first.err)")
        try await lab.post("control", "/lab/set", ["id": 59, "state": "ready"])
        let second = try await home.vedette("run", "--once")
        #expect(second.code == 0, "\(second.err)")
        #expect(second.json.map { $0.text("subject") } == ["59"])
        #expect(second.err.contains("messages: 1 sent, 0 not"))
        #expect(second.err.contains("in 2 sources, 1 event"))
    }

    @Test("run --once ends with 69 when a source fails, and the other one is kept")
    func failing() async throws {
        let lab = try await Lab("appliance,faults")
        let home = try Home(lab)
        try home.write(
            """
            servers: {lab: {url: "\(lab["appliance"])", user: lamato, password: {env: LAB_PASSWORD}, tls: {pin: "\(lab["pin"])"}}}
            sources:
              systems: {kind: cloudburst, server: lab}
              broken: {kind: json, url: "\(lab["faults"])/status?code=500"}
            """)
        let result = try await home.vedette("run", "--once")
        #expect(result.code == 69)
        #expect(result.lines.contains("baseline: 6 items in 1 source"))
        #expect(result.lines.contains { $0.hasPrefix("failed: broken: ") })
        let again = try await home.vedette("run", "--once")
        #expect(again.code == 69 && again.err.contains("1 source still failing"), "\(again.code) \(again.err)")
        #expect(again.lines.contains { $0.contains("not polled") && $0.contains("broken") }, "\(again.out)")
        let forced = try await home.vedette("run", "--once", "--force")
        #expect(forced.code == 69)
        #expect(forced.lines.contains { $0.hasPrefix("failed: broken: ") })
    }

    @Test(
        "I5: a delivery that stays pending ends run --once with 69, and the next one sends it with the same id",
        .tags(.I5))
    func pending() async throws {
        let world = try await Appliance()
        try await world.set(59, "starting")
        #expect(try await world.home.vedette("run", "--once").code == 0)
        try await world.lab.post("receiver", "/fail", ["path": "/hook", "times": 1, "status": 500])
        try await world.set(59, "ready")
        let failed = try await world.home.vedette("run", "--once")
        #expect(failed.code == 69)
        #expect(failed.err.contains("messages: 1 sent, 1 not"), "\(failed.err)")
        #expect(try await world.home.sink("hook")["pending"] as? Int == 1)
        let sent = try await world.home.vedette("run", "--once")
        #expect(sent.code == 0, "\(sent.out)")
        let posts = (try await world.lab.get("receiver", "/received") as? [[String: Any]]) ?? []
        #expect(posts.count == 2)
        #expect(Set(posts.map(\.messageID)).count == 1)
        #expect(try await world.home.sink("hook")["pending"] as? Int == 0)
    }

    @Test("run --once keeps a bound that was lowered, attempts the rest once, and carries out waiting requests")
    func boundsAndRequests() async throws {
        let home = try Home()
        let place = home.directory.appending(path: "rows.json")
        func serve(_ count: Int) throws {
            let rows = (0..<count).map { "{\"id\": \($0)}" }.joined(separator: ",")
            try "[\(rows)]".write(to: place, atomically: true, encoding: .utf8)
        }
        func configure(_ queue: String) throws {
            // Nobody listens there.
            try home.write(
                """
                sources: {rows: {kind: json, url: "\(place.absoluteString)", first: announce}}
                sinks: {hook: {kind: webhook, url: "http://127.0.0.1:1/", queue: {count: \(queue)}, parallel: true}}
                rules: [{name: all, when: {appears: true}, notify: [hook]}]
                """)
        }
        try serve(3000)
        try configure("100000")
        let first = try await home.vedette("run", "--once")
        #expect(first.code == 69 && first.err.contains("3000 messages not delivered"), "\(first.err)")
        #expect(try await home.sink("hook")["pending"] as? Int == 3000)
        try configure("20")
        try serve(0)
        let lowered = try await home.vedette("run", "--once")
        #expect(lowered.code == 69 && lowered.err.contains("beyond the bounds of queues"), "\(lowered.err)")
        let sink = try await home.sink("hook")
        #expect(sink["pending"] as? Int == 20 && sink["dead"] as? Int == 2980)
        // The list that turned empty is suspect.
        #expect(try await home.status("rows")["items"] as? Int == 3000)
        let accepted = try await home.vedette("accept", "rows")
        #expect(accepted.code == 0 && accepted.err.contains("the next `vedette run` accepts"), "\(accepted.err)")
        _ = try await home.vedette("run", "--once", "--force")
        _ = try await home.vedette("run", "--once", "--force")
        #expect(try await home.events().contains { ($0["type"] as? String) == "io.vedette.item.disappeared" })
    }

    @Test("run --once always ends: many at a time, each with one message at its very end")
    func ends() async throws {
        let home = try Home()
        let place = home.directory.appending(path: "rows.json")
        try "[{\"id\": 1}]".write(to: place, atomically: true, encoding: .utf8)
        try home.write(
            """
            sources: {rows: {kind: json, url: "\(place.absoluteString)", first: announce}}
            sinks: {out: {kind: stdout, format: json}}
            rules: [{name: all, when: {appears: true}, notify: [out]}]
            """)
        let config = home.config.path
        let codes = await withTaskGroup(of: [Int32].self) { group in
            for lane in 1...6 {
                let state = home.directory.appending(path: "state-\(lane)").path
                group.addTask { await OnceTests.run(12, config: config, state: state) }
            }
            return await group.reduce(into: []) { $0 += $1 }
        }
        #expect(codes == Array(repeating: 0, count: 72))
    }

    private static func run(_ times: Int, config: String, state: String) async -> [Int32] {
        var codes: [Int32] = []
        for number in 1...times {
            let arguments = ["run", "--once", "--config", config, "--state", "\(state)-\(number)"]
            codes.append(((try? await Program.run(arguments))?.code) ?? -1)
        }
        return codes
    }
}
