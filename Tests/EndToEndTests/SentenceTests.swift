// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@Suite("The ten sentences of Rules.md through the whole program", .timeLimit(.minutes(3)))
struct SentenceTests {
    /// The rules of the page without their tests. What takes minutes or hours there takes a second here, and the span of the
    /// limit three.
    private static func rules() throws -> String {
        let page = Program.root.appending(path: "Sources/vedette/Documentation.docc/Rules.md")
        let text = try String(contentsOf: page, encoding: .utf8)
        let part = try #require(
            text.components(separatedBy: "## Ten sentences").last?.components(separatedBy: "\n## ").first)
        let blocks = part.components(separatedBy: "```yaml\n").dropFirst().compactMap {
            $0.components(separatedBy: "```").first
        }
        #expect(blocks.count == 10)
        let lines = blocks.joined().components(separatedBy: "\n").filter {
            !$0.hasPrefix("    tests:") && !$0.hasPrefix("      - {")
        }
        return lines.joined(separator: "\n").replacing("per: 10m", with: "per: 3s")
            .replacing(/\b(?:15m|30m|2m|1h)\b/, with: "1s")
    }

    /// Two hours that are far from now, since the tests run at any time of day.
    private static var night: String {
        let hour = (Calendar.current.component(.hour, from: Date()) + 11) % 24
        return String(format: "%02d:00-%02d:00", hour, (hour + 2) % 24)
    }

    private struct World {
        let home: Home

        func write(_ name: String, _ rows: String...) throws {
            let file = home.directory.appending(path: name + ".json")
            try Data("[\(rows.map { "{\($0)}" }.joined(separator: ","))]".utf8).write(to: file, options: .atomic)
        }

        func system(_ name: String, _ state: String) -> String {
            #""id": "\#(name)", "name": "\#(name)", "state": "\#(state)""#
        }

        func run(_ name: String, _ state: String, _ more: String = #""build": "1""#) -> String {
            #""id": "\#(name)", "state": "\#(state)", \#(more)"#
        }
    }

    @Test("each sentence tells what it says, against a server and lists that change")
    func sentences() async throws {
        let lab = try await Lab("appliance,receiver")
        let world = World(home: try Home(lab))
        let home = world.home
        let list = { (name: String) in "file://" + home.directory.appending(path: name + ".json").path }
        let sinks = ["desktop", "team", "colleague", "mail"].map { name in
            #"  \#(name): {kind: stdout, template: "\#(name) {{rule.name}} {{event.source}} {{item.key}} {{item.state}}"}"#
        }
        try home.write(
            """
            servers:
              lab: {url: "\(lab["appliance"])", user: lamato, password: {env: LAB_PASSWORD}, tls: {pin: "\(lab["pin"])"}}
            sources:
              site: {kind: http, server: lab, path: /resources/virtualSystems, every: 200ms, fails: 1}
              lab-systems: {kind: json, url: "\(list("systems"))", state: state, fields: {name: name}, every: 200ms}
              ci-runs: {kind: json, url: "\(list("runs"))", state: state, every: 200ms, fails: 1, fields: {branch: branch, price: price, build: build}}
              blog-updates: {kind: json, url: "\(list("blog"))", every: 200ms}
            windows:
              night: {daily: "\(Self.night)"}
            sinks:
            \(sinks.joined(separator: "\n"))
            rules:
            \(try Self.rules())
            """)
        let (system, run) = (world.system, { world.run($0, $1, $2) })
        try world.write(
            "systems", system("prod-1", "Starting"), system("test-1", "Starting"), system("prod-2", "Queued"))
        let main = #""branch": "main", "build": "1""#
        var runs = ["r1": run("r1", "queued", main.replacing("main", with: "x")), "r2": run("r2", "in_progress", main)]
        runs["r3"] = run("r3", "queued", #""price": 100, "build": "1""#)
        for name in ["r4", "r5", "r6"] { runs[name] = run(name, "in_progress", #""build": "77""#) }
        func writeRuns() throws {
            let rows = runs.sorted { $0.key < $1.key }.map { "{\($0.value)}" }.joined(separator: ",")
            try Data("[\(rows)]".utf8).write(to: home.directory.appending(path: "runs.json"), options: .atomic)
        }
        try writeRuns()
        try world.write("blog", #""id": "old", "title": "Old""#)
        let watcher = try await home.watcher()
        try await watcher.wait(for: .err) { $0.count { $0.contains("baseline") } >= 4 }

        // 3: it has been starting for so long, since before the watcher started.
        try await watcher.wait { $0.contains("desktop stuck lab-systems prod-1 Starting") }
        // 1, and no test system.
        try world.write(
            "systems", system("prod-1", "Ready for use"), system("test-1", "Ready for use"), system("prod-2", "Queued"))
        for sink in ["desktop", "team"] {
            try await watcher.wait { $0.contains("\(sink) system-ready lab-systems prod-1 Ready for use") }
        }
        // 2: at once, and to the colleague when it still fails.
        try world.write(
            "systems", system("prod-1", "Ready for use"), system("test-1", "Ready for use"), system("prod-2", "RM01902")
        )
        try await watcher.wait { $0.contains("desktop system-failed lab-systems prod-2 RM01902") }
        try await watcher.wait { $0.contains("colleague system-failed lab-systems prod-2 RM01902") }
        // 4: down for so long. 8: what is gone meanwhile is told after it.
        try await lab.post("control", "/lab/fault", ["kind": "500", "times": -1])
        try await watcher.wait { $0.contains { $0.hasPrefix("team site-down site ") && $0.hasSuffix(" down") } }
        try world.write("systems", system("test-1", "Ready for use"), system("prod-2", "RM01902"))
        while try await !home.events().contains(where: { $0["type"] as? String == "io.vedette.item.disappeared" }) {}
        #expect(!watcher.lines(of: .out).contains { $0.contains("system-gone") })
        try await lab.post("control", "/lab/fault", ["kind": NSNull()])
        try await watcher.wait { $0.contains { $0.hasPrefix("desktop system-gone lab-systems prod-1") } }
        // 5: once, and the last state when the time is over.
        runs["r1"] = run("r1", "in_progress", #""build": "1""#)
        try writeRuns()
        try await watcher.wait { $0.contains("desktop flapping ci-runs r1 in_progress") }
        runs["r1"] = run("r1", "waiting", #""build": "1""#)
        try writeRuns()
        try await watcher.wait { $0.contains("desktop flapping ci-runs r1 waiting") }
        // 7: again and again.
        runs["r2"] = run("r2", "completed/failure", main)
        try writeRuns()
        try await watcher.wait { $0.count { $0 == "desktop broken-build ci-runs r2 completed/failure" } >= 3 }
        // 9: the price; the certificate's days are known, and nothing is told of a change that crosses no bound.
        runs["r3"] = run("r3", "queued", #""price": 106, "build": "1""#)
        try writeRuns()
        try await watcher.wait { $0.contains("desktop price ci-runs r3 queued") }
        #expect(try await home.items("site").contains { $0.contains("certificate_days") })
        // 10: once per build.
        for name in ["r4", "r5"] { runs[name] = run(name, "completed/success", #""build": "77""#) }
        runs["r6"] = run("r6", "completed/success", #""build": "78""#)
        try writeRuns()
        try await watcher.wait { $0.contains("desktop build-is-up ci-runs r6 completed/success") }
        try Data("[{".utf8).write(to: home.directory.appending(path: "runs.json"), options: .atomic)
        try await watcher.wait { $0.contains { $0.hasPrefix("desktop unreadable ci-runs") } }
        // 6: it waits for eight o'clock.
        try world.write("blog", #""id": "old", "title": "Old""#, #""id": "new", "title": "New""#)
        while try await !home.events().contains(where: { $0.text("subject") == "new" }) {}
        #expect(try await home.vedette("status").out.contains("digest: 1 event"))

        let told = watcher.lines(of: .out)
        #expect(told.count { $0.contains("build-is-up") } == 2)
        #expect(
            !told.contains {
                $0.contains("system-ready lab-systems test-1") || $0.hasPrefix("mail ") || $0.contains("certificate")
            })
        #expect(await watcher.stop() == 0)
        await lab.end()
    }
}
