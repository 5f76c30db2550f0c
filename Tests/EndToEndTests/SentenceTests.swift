// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@Suite("The ten sentences of Rules.md through the whole program", .timeLimit(.minutes(10)))
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
    private static var farNight: String {
        let hour = (Calendar.current.component(.hour, from: Date()) + 11) % 24
        return String(format: "%02d:00-%02d:00", hour, (hour + 2) % 24)
    }

    /// The servers and lists that the sentences are about.
    private struct World {
        let lab: Lab
        let mail: MailServer
        let home: Home

        init(night: String) async throws {
            lab = try await Lab("appliance,feeds")
            home = try Home(lab)
            mail = try await MailServer(home.directory)
            let (directory, lab) = (home.directory, lab)
            let list = { (name: String) in "file://" + directory.appending(path: name + ".json").path }
            let sinks = ["desktop", "team", "colleague"].map { name in
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
                  blog-updates: {kind: feed, url: "\(lab["feeds"])/feed/0.xml", every: 200ms}
                windows:
                  night: {daily: "\(night)"}
                sinks:
                \(sinks.joined(separator: "\n"))
                  mail: {kind: mail, url: "smtp://127.0.0.1:\(mail.port)", from: watch@example.org, to: ann@example.org}
                rules:
                \(try SentenceTests.rules())
                """)
            try writeSystems(("prod-1", "Starting"), ("test-1", "Starting"), ("prod-2", "Queued"))
        }

        func write(_ name: String, _ rows: [String]) throws {
            let file = home.directory.appending(path: name + ".json")
            try Data("[\(rows.map { "{\($0)}" }.joined(separator: ","))]".utf8).write(to: file, options: .atomic)
        }

        func writeSystems(_ systems: (name: String, state: String)...) throws {
            try write(
                "systems", systems.map { #""id": "\#($0.name)", "name": "\#($0.name)", "state": "\#($0.state)""# })
        }

        func run(_ name: String, _ state: String, _ more: String = #""build": "1""#) -> String {
            #""id": "\#(name)", "state": "\#(state)", \#(more)"#
        }

        func end() async {
            await mail.end()
            await lab.end()
        }
    }

    @Test("each sentence tells what it says, against a server and lists that change")
    func sentences() async throws {
        let world = try await World(night: Self.farNight)
        let (home, lab) = (world.home, world.lab)
        let run = { world.run($0, $1, $2) }
        let main = #""branch": "main", "build": "1""#
        var runs = ["r1": run("r1", "queued", main.replacing("main", with: "x")), "r2": run("r2", "in_progress", main)]
        runs["r3"] = run("r3", "queued", #""price": 100, "build": "1""#)
        for name in ["r4", "r5", "r6"] { runs[name] = run(name, "in_progress", #""build": "77""#) }
        func writeRuns() throws { try world.write("runs", runs.sorted { $0.key < $1.key }.map(\.value)) }
        try writeRuns()
        let watcher = try await home.watcher()
        try await watcher.wait(for: .err) { $0.count { $0.contains("baseline") } >= 4 }

        // 3: it has been starting for so long, since before the watcher started.
        try await watcher.wait { $0.contains("desktop stuck lab-systems prod-1 Starting") }
        // 1, and no test system.
        try world.writeSystems(("prod-1", "Ready for use"), ("test-1", "Ready for use"), ("prod-2", "Queued"))
        for sink in ["desktop", "team"] {
            try await watcher.wait { $0.contains("\(sink) system-ready lab-systems prod-1 Ready for use") }
        }
        // 2: at once, and to the colleague when it still fails.
        try world.writeSystems(("prod-1", "Ready for use"), ("test-1", "Ready for use"), ("prod-2", "RM01902"))
        try await watcher.wait { $0.contains("desktop system-failed lab-systems prod-2 RM01902") }
        try await watcher.wait { $0.contains("colleague system-failed lab-systems prod-2 RM01902") }
        // 4: down for so long. 8: what is gone meanwhile is told after it.
        try await lab.post("control", "/lab/fault", ["kind": "500", "times": -1])
        try await watcher.wait { $0.contains { $0.hasPrefix("team site-down site ") && $0.hasSuffix(" down") } }
        try world.writeSystems(("test-1", "Ready for use"), ("prod-2", "RM01902"))
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
        try await lab.post("feeds", "/change", ["n": 1])
        while try await !home.vedette("status").out.contains("digest: 1 event") {}

        let told = watcher.lines(of: .out)
        #expect(told.count { $0.contains("build-is-up") } == 2)
        #expect(
            !told.contains {
                $0.contains("system-ready lab-systems test-1") || $0.contains("certificate")
            })
        #expect(world.mail.mail(1) == nil)
        #expect(await watcher.stop() == 0)
        await world.end()
    }

    /// Half past eleven in the next evening, by UTC.
    private static var evening: Date {
        let day = 86_400.0
        let today = (Date().timeIntervalSince1970 / day).rounded(.down) * day
        let late = Date(timeIntervalSince1970: today + 23.5 * 3600)
        return late > Date() ? late : late.addingTimeInterval(day)
    }

    @Test("sentences 4, 6 and 9 hold over nights and weeks: what is deferred, the mail at eight, the certificate")
    func nights() async throws {
        let world = try await World(night: "22:00-07:00")
        let (home, lab) = (world.home, world.lab)
        try world.write("runs", [world.run("r1", "queued")])
        let (clock, start) = (try await ShiftedClock(home.directory), Self.evening)
        /// A watcher that starts so many hours after the first evening, and has polled every source.
        func watcher(after hours: Double) async throws -> Child {
            var environment = try clock.environment(at: start.addingTimeInterval(hours * 3600))
            environment["LAB_PASSWORD"] = Lab.password
            let child = try Child(Program.path, ["run"] + home.places, environment: environment)
            let names = ["site", "lab-systems", "ci-runs", "blog-updates"]
            try await child.wait(for: .err) { lines in
                names.allSatisfy { name in lines.contains { $0.contains(" \(name): ") } }
            }
            return child
        }
        func status(until isReached: (String) -> Bool) async throws {
            while try await !isReached(home.vedette("status").out) {}
        }
        // 4: down in the night, and 6: two entries.
        let evening = try await watcher(after: 0)
        try await lab.post("control", "/lab/fault", ["kind": "500", "times": -1])
        try await lab.post("feeds", "/change", ["n": 2])
        try await status { $0.contains("deferred: ") && $0.contains("digest: 2 events") }
        #expect(await evening.stop() == 0)
        #expect(!evening.text(of: .out).contains("site-down"))
        // Half past seven: it is still down.
        let early = try await watcher(after: 8)
        try await early.wait { $0.contains { $0.hasPrefix("team site-down site ") && $0.hasSuffix(" down") } }
        #expect(world.mail.mail(1) == nil)
        // By the next night it is up, and it is down for a part of that night alone.
        try await lab.post("control", "/lab/fault", ["kind": NSNull()])
        try await status { $0.contains("1 up") }
        #expect(await early.stop() == 0)
        // Half past eight: one mail.
        let late = try await watcher(after: 9)
        while try await home.sink("mail")["lastSent"] as? String == nil {}
        #expect(await late.stop() == 0)
        let mail = try #require(world.mail.mail(1))
        #expect((mail["raw"] as? String)?.contains("Subject: 2 events in blog-updates") == true)
        #expect(world.mail.mail(2) == nil)
        let night = try await watcher(after: 24)
        try await lab.post("control", "/lab/fault", ["kind": "500", "times": -1])
        try await status { $0.contains("deferred: ") }
        try await lab.post("control", "/lab/fault", ["kind": NSNull()])
        try await status { !$0.contains("deferred: ") && $0.contains("1 up") }
        #expect(await night.stop() == 0)
        let morning = try await watcher(after: 32)
        #expect(await morning.stop() == 0)
        // 9: a certificate of thirty days, after eighteen.
        let weeks = try await watcher(after: 18 * 24)
        try await weeks.wait { $0.contains { $0.hasPrefix("desktop certificate site ") } }
        #expect(await weeks.stop() == 0)
        for child in [late, night, morning, weeks] { #expect(!child.text(of: .out).contains("site-down")) }
        for child in [evening, early, late, night, morning] {
            #expect(!child.text(of: .out).contains("certificate"))
        }
        await world.end()
    }
}
