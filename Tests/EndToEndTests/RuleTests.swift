// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@Suite("Rules through the whole program", .timeLimit(.minutes(10)))
struct RuleTests {
    /// A list in a file, whose one row has a state, and rules over it.
    private struct World {
        let home: Home
        private let file: URL

        init(_ rules: String, sink: String = "{kind: stdout, format: line}", every: String = "60s") throws {
            home = try Home()
            file = home.directory.appending(path: "list.json")
            try home.write(
                """
                sources:
                  s: {kind: json, url: "file://\(file.path)", state: state, every: \(every)}
                sinks:
                  out: \(sink)
                rules:
                \(rules)
                """)
        }

        func write(_ state: String) throws {
            try Data(#"[{"id": 1, "title": "prod-1", "state": "\#(state)"}]"#.utf8).write(to: file, options: .atomic)
        }

        /// One poll of every source, and every message that comes of it.
        func poll(_ state: String, code: Int32 = 0) async throws -> String {
            try write(state)
            let result = try await run("run", "--once")
            #expect(result.code == code, "\(result.err)")
            return result.out
        }

        func run(_ arguments: String...) async throws -> Program.Result {
            try await Program.run(arguments + home.places)
        }
    }

    @Test("what a rule says, what is silent and what was held back is told by explain, and over a restart")
    func explained() async throws {
        let world = try World(
            "  - {name: down, when: {field: state, to: down}, limit: {count: 1, per: 1h}, notify: [out]}")
        #expect(try await world.poll("up").isEmpty)
        #expect(try await world.poll("down").contains("prod-1"))
        #expect(try await world.poll("up").isEmpty)
        #expect(try await world.poll("down").isEmpty, "the limit holds over a restart")
        let told = try await world.run("explain", "1")
        #expect(told.out.contains("down: matches") && told.out.contains("→ out: sent"), "\(told.out)\(told.err)")
        let unmet = try await world.run("explain", "2")
        #expect(unmet.out.contains("down: does not match: to is 'up', not 'down'"), "\(unmet.out)\(unmet.err)")
        let held = try await world.run("explain", "3")
        #expect(held.out.contains("suppressed") && held.out.contains("limit of 1 per 1 h"), "\(held.out)\(held.err)")
        #expect(held.out.contains("limited: prod-1, down, told when the limit allows it"), "\(held.out)")
        let rehearsed = try await world.run("test", "--since", "1h")
        #expect(rehearsed.out.contains("down → out: prod-1: up → down"), "\(rehearsed.out)\(rehearsed.err)")
    }

    @Test(
        "explain of an event that limit held back shows the message that told it, and explain of that lists its events")
    func gathered() async throws {
        let home = try Home()
        let file = home.directory.appending(path: "list.json")
        try home.write(
            """
            sources:
              s: {kind: json, url: "file://\(file.path)", state: state, every: 60s}
            sinks:
              out: {kind: stdout}
            rules:
              - {name: few, when: {field: state}, limit: {count: 1, per: 1s, by: rule}, notify: [out]}
            """)
        func poll(_ states: String...) async throws -> String {
            let rows = states.enumerated().map { #"{"id": \#($0), "title": "prod-\#($0)", "state": "\#($1)"}"# }
            try Data("[\(rows.joined(separator: ","))]".utf8).write(to: file, options: .atomic)
            return try await Program.run(["run", "--once"] + home.places).out
        }
        #expect(try await poll("up", "up", "up").isEmpty)
        #expect(try await poll("down", "down", "down").contains("prod-0"))
        var told = ""
        for _ in 0..<100 where told.isEmpty { told = try await poll("down", "down", "down") }
        // The events come in the order of the list, so the second item's is held back.
        let held = try await Program.run(["explain", "2"] + home.places)
        #expect(
            held.out.contains("→ out: suppressed") && held.out.contains("limit of 1 per 1 s"), "\(held.out)\(held.err)")
        let lines = held.out.components(separatedBy: "gathered into one message:\n").last ?? ""
        #expect(lines.contains("        prod-1: up → down\n"), "\(held.out)")
        #expect(lines.contains("        prod-2: up → down\n"), "\(held.out)")
        #expect(lines.contains("    → out: sent"), "\(held.out)")
        let object = try JSONSerialization.jsonObject(with: Data(told.utf8)) as? [String: Any]
        let id = try #require(object?["id"] as? String, "\(told)")
        let message = try await Program.run(["explain", id] + home.places)
        let parts = message.out.components(separatedBy: "few: made this message\n    about 2 events:\n")
        let listed = try #require(parts.last?.split(separator: "\n"), "\(message.out)\(message.err)")
        #expect(parts.count == 2 && listed.count == 3, "\(message.out)\(message.err)")
        #expect(listed.first?.hasPrefix("        2  ") == true && listed[0].contains("prod-1"), "\(message.out)")
        #expect(listed.dropFirst().first?.hasPrefix("        3  ") == true, "\(message.out)")
        #expect(listed.last?.hasPrefix("    → out: sent at ") == true, "\(message.out)")
    }

    @Test("snooze keeps a rule silent, silences lists it, and end lets it speak")
    func silenced() async throws {
        let world = try World("  - {name: any, when: {field: state}, notify: [out]}")
        #expect(try await world.poll("a").isEmpty)
        let snoozed = try await world.run("snooze", "--rule", "any", "--for", "1h")
        #expect(snoozed.code == 0 && snoozed.out.hasPrefix("silence 1: rule 'any', until"), "\(snoozed)")
        #expect(try await world.poll("b").isEmpty)
        #expect(try await world.run("explain", "1").out.contains("silenced: rule 'any'"))
        #expect(try await world.run("silences").out.hasPrefix("1  rule 'any'"))
        let ended = try await world.run("silences", "end", "1", "99")
        #expect(ended.code == 65 && ended.out == "ended 1 silence\n", "\(ended)")
        #expect(ended.err.contains("no silence has the number 99"), "\(ended)")
        #expect(try await world.run("silences").out.isEmpty)
        #expect(try await world.poll("c").contains("prod-1"))
        let unknown = try await world.run("mute", "--rule", "an")
        #expect(unknown.code == 64 && unknown.err.contains("did you mean 'any'?"), "\(unknown.err)")
    }

    @Test("ack without a watcher stops the reminders of the next run; status, explain and the end say who it was")
    func acknowledged() async throws {
        let world = try World(
            "  - {name: down, when: {field: state, to: down}, remind: {every: 1s}, resolved: true, notify: [out]}",
            sink: "{kind: stdout, format: json}")
        #expect(try await world.poll("up").isEmpty)
        let early = try await world.run("ack", "down", "prod-1")
        #expect(early.code == 65 && early.err.contains("no match that it told is true now"), "\(early)")
        #expect(try await world.poll("down").contains("prod-1"))
        let unknown = try await world.run("ack", "down", "prod-2")
        #expect(unknown.code == 65 && unknown.err.contains("it did of 'prod-1'"), "\(unknown)")
        #expect(try await world.run("ack", "dwon", "prod-1").err.contains("did you mean 'down'?"))
        let done = try await world.run("ack", "down", "prod-1", "--note", "disk")
        #expect(done.code == 0 && done.out.hasPrefix("acknowledged: prod-1, rule 'down'"), "\(done)")
        #expect(done.err.contains("no watcher runs"))
        #expect(try await world.poll("down").isEmpty, "the reminder was due")
        #expect(try await world.run("status").out.contains("acknowledged: prod-1, down, by "))
        #expect(try await world.run("explain", "1").out.contains("acknowledged: prod-1, down, by "))
        let now = try await world.run("explain", "--now", "down", "1")
        #expect(now.code == 0 && now.out.contains("told 'prod-1: up → down' (firing)"), "\(now)")
        #expect(now.out.contains("now: the reminder waits [acknowledged]: acknowledged by "), "\(now)")
        #expect(try await world.poll("up").contains(#""note":"disk""#))
        let over = try await world.run("ack", "down", "prod-1", "--undo")
        #expect(over.code == 65 && over.err.contains("nothing to acknowledge"), "\(over)")
        #expect(try await world.run("explain", "--now", "down", "prod-1").out.contains("(over)"))
    }

    @Test("a snooze tells at its end what is still so, and a snooze of one sink names that sink")
    func snoozeEnds() async throws {
        let world = try World("  - {name: down, when: {field: state, to: down}, notify: [out]}")
        #expect(try await world.poll("up").isEmpty)
        let snoozed = try await world.run("snooze", "--sink", "out", "--for", "1h")
        #expect(snoozed.out.hasPrefix("silence 1: sink 'out', until"), "\(snoozed)")
        #expect(try await world.poll("down").isEmpty)
        #expect(try await world.run("silences", "end", "1").code == 0)
        #expect(try await world.poll("down").contains("s  prod-1  up → down"))
        #expect(try await world.poll("down").isEmpty)
        let unknown = try await world.run("snooze", "--sink", "ou")
        #expect(unknown.code == 64 && unknown.err.contains("did you mean 'out'?"), "\(unknown.err)")
    }

    @Test("sentence 8: what is gone while the site is down is told after it, when it is still gone")
    func dependsOnSite() async throws {
        let lab = try await Lab("appliance,receiver")
        let home = try Home(lab)
        let file = home.directory.appending(path: "list.json")
        func write(_ keys: Int...) throws {
            let rows = keys.map { #"{"id": \#($0), "title": "prod-\#($0)"}"# }.joined(separator: ",")
            try Data("[\(rows)]".utf8).write(to: file, options: .atomic)
        }
        try home.write(
            """
            servers:
              lab: {url: "\(lab["appliance"])", user: lamato, password: {env: LAB_PASSWORD}, tls: {pin: "\(lab["pin"])"}}
            sources:
              site: {kind: http, server: lab, path: /resources/virtualSystems, every: 200ms, fails: 1}
              lab-systems: {kind: json, url: "file://\(file.path)", every: 200ms}
            sinks:
              out: {kind: stdout, format: json}
            rules:
              - {name: site, when: {source: site, field: state}, notify: out}
              - {name: system-gone, when: {source: lab-systems, disappears: true}, depends: site, notify: out}
            """)
        try write(1, 2)
        let watcher = try await home.watcher()
        try await watcher.wait(for: .err) { $0.count { $0.contains("baseline") } >= 2 }
        try await lab.post("control", "/lab/fault", ["kind": "500", "times": -1])
        try await watcher.event("item.changed") { $0.text("data", "item", "state") == "down" }
        try write(1)
        while try await !home.events().contains(where: { $0["type"] as? String == "io.vedette.item.disappeared" }) {}
        #expect(!watcher.events.contains { $0["type"] as? String == "io.vedette.item.disappeared" })
        try await lab.post("control", "/lab/fault", ["kind": NSNull()])
        try await watcher.event("item.disappeared") { $0.text("subject") == "2" }
        #expect(await watcher.stop() == 0)
        let told = watcher.events.compactMap { $0.text("data", "item", "state") ?? $0.text("subject") }
        #expect(told == ["down", "up", "2"])
        await lab.end()
    }

    @Test("an object at the root is one item whose key is the name of its source")
    func wholeDocument() async throws {
        let home = try Home()
        let file = home.directory.appending(path: "health.json")
        try home.write(
            """
            sources:
              health: {kind: json, url: "file://\(file.path)", state: status}
            sinks:
              out: {kind: stdout, format: line}
            rules:
              - {name: any, when: {field: state}, notify: [out]}
            """)
        var printed = ""
        for status in ["ok", "down"] {
            try Data(#"{"status": "\#(status)", "uptime": 5}"#.utf8).write(to: file, options: .atomic)
            printed = try await home.vedette("run", "--once").out
        }
        #expect(printed.contains("health  health  ok → down"), "\(printed)")
    }

    @Test("outbox lists what is dead, tries it again and drops what is pending")
    func outbox() async throws {
        let world = try World(
            "  - {name: any, when: {field: state}, notify: [out]}",
            sink: "{kind: command, command: [\"/bin/sh\", \"-c\", \"exit 1\"]}")
        _ = try await world.poll("a")
        _ = try await world.poll("b", code: 69)
        let listed = try await world.run("outbox")
        #expect(listed.out.contains("dead") && listed.out.contains("prod-1: a → b"), "\(listed.out)\(listed.err)")
        let retried = try await world.run("outbox", "retry", "--sink", "out")
        #expect(retried.out == "1 message will be tried again\n", "\(retried.out)\(retried.err)")
        let dropped = try await world.run("outbox", "drop", "--sink", "out")
        #expect(dropped.out == "1 message dropped\n", "\(dropped.out)\(dropped.err)")
        #expect(try await world.run("outbox").out.contains("dropped by hand"))
        #expect(try await world.run("outbox", "retry").code == 64)
    }

    @Test("kill -9 in the middle of a for and of a limit: the next run sends what the first would have sent, once")
    func killed() async throws {
        let world = try World(
            """
              - {name: stuck, when: {field: state, to: down}, for: 15s, notify: [out]}
              - {name: first, when: {field: state, to: down}, limit: {count: 1, per: 1h}, notify: [out]}
            """, every: "100ms")
        _ = try await world.poll("up")
        let watcher = try Child(Program.path, ["run"] + world.home.places)
        try world.write("down")
        try await watcher.wait { $0.contains { $0.contains("prod-1") } }
        // Until the journal knows it, the next run would say it again.
        while try await !world.run("explain", "1").out.contains("→ out: sent") {}
        watcher.kill(SIGKILL)
        _ = await watcher.end(within: 10)
        let status = try await world.run("status")
        #expect(status.out.contains("stuck  held: prod-1, down for"), "\(status.out)")
        #expect(!status.out.contains("first"), "a limit that holds nothing back does not wait: \(status.out)")
        let next = try Child(Program.path, ["run"] + world.home.places)
        try await next.wait { $0.contains { $0.contains("prod-1") } }
        #expect(await next.stop() == 0)
        #expect(next.lines(of: .out).filter { $0.contains("prod-1") }.count == 1)
        let told = try await world.run("explain", "1")
        #expect(told.out.components(separatedBy: "→ out: sent").count == 3, "\(told.out)")
    }

    @Test("snooze, mute and tail refuse unknown names, items and states, times that are none, and the past")
    func unknownNames() async throws {
        let world = try World("  - {name: any, when: {field: state}, notify: [out]}")
        #expect(try await world.poll("up").isEmpty)
        func refused(_ arguments: String..., by words: String) async throws {
            let result = try await Program.run(arguments + world.home.places)
            #expect(result.code == 64 && result.err.contains(words), "\(arguments): \(result.code) \(result.err)")
        }
        try await refused("snooze", "--item", "prod-2", by: "there is no item 'prod-2'; did you mean 'prod-1'?")
        try await refused("mute", "--source", "t", by: "there is no source 't'")
        try await refused("snooze", "--rule", "any", "--until", "25:00", by: "'25:00' is no time; write a local time")
        try await refused("snooze", "--rule", "any", "--until", "2h", by: "write how long with --for 2h")
        try await refused("snooze", "--rule", "any", "--until", "1 day left", by: "'1 day left' is no time")
        try await refused("snooze", "--rule", "any", "--until", "1795000000", by: "'1795000000' is no time")
        try await refused("snooze", "--rule", "any", "--until", "2020-01-01", by: "in the past")
        try await refused("tail", "--no-follow", "--source", "x", by: "there is no source 'x'")
        try await refused("tail", "--no-follow", "--rule", "an", by: "there is no rule 'an'; did you mean 'any'?")
        let day = try await world.run("snooze", "--rule", "any", "--until", "tomorrow 7:00")
        #expect(day.code == 0 && day.out.contains("until 2"), "\(day.out)\(day.err)")
        #expect(day.out.contains("07:00:00"), "people read local time: \(day.out)")
        let state = try await world.run("snooze", "--item", "prod-1", "--until", "upp")
        #expect(state.code == 0 && state.err.contains("did you mean 'up'?"), "\(state.err)")
        for (state, until) in [("1 day left", "1 day left"), ("6", "7")] {
            _ = try await world.poll(state)
            let kept = try await world.run("snooze", "--rule", "any", "--until", until)
            #expect(kept.code == 0 && kept.out.contains("until '\(until)'"), "\(kept)")
        }
    }

    @Test("wait warns of a state that no item has and one nearly has, and refuses one that its kind never has")
    func misspeltState() async throws {
        let world = try World("  - {name: any, when: {field: state}, notify: [out]}", every: "200ms")
        try world.write("Ready")
        let child = try Child(Program.path, ["wait", "s", "prod-1", "--to", "ready"] + world.home.places)
        try await child.wait(for: .err) { $0.contains { $0.contains("did you mean 'Ready'?") } }
        try world.write("ready")
        #expect(await child.end() == 0, "\(child.text(of: .err))")
        try world.home.write(#"sources: {site: {kind: http, url: "http://127.0.0.1:9/"}}"#)
        for states in [["--to", "donw"], ["--to", "up", "--fail", "donw"]] {
            let refused = try await Program.run(
                ["wait", "site", "x", "--timeout", "100ms"] + states + world.home.places)
            #expect(refused.code == 64 && refused.err.contains("did you mean 'down'?"), "\(refused)")
        }
    }

    @Test("a failing test is an error for check and a warning for run, and every one is reported")
    func failingTests() async throws {
        let world = try World(
            """
              - name: a
                when: {field: state, to: down}
                notify: out
                tests: [{change: {state: [up, down]}, expect: nothing}]
              - name: b
                when: {field: state, to: up}
                notify: out
                tests: [{change: {state: [up, down]}, expect: out}]
            """)
        let check = try await world.run("check")
        #expect(check.code == 78 && check.err.contains("2 tests of rules failed"), "\(check.err)")
        #expect(check.err.contains("rule 'a': expected nothing") && !check.err.contains("warning"), "\(check.err)")
        _ = try await world.poll("up")
        let run = try await world.run("run", "--once")
        #expect(
            run.code == 0 && run.err.contains("warning: ") && run.err.contains("rule 'b': expected out"), "\(run.err)")
        #expect(try await !world.run("status").err.contains("warning"))
    }

    @Test("replay and test print what is held and deferred with the time until when")
    func waiting() async throws {
        let world = try World(
            """
              - {name: slow, when: {field: state, to: down}, for: 5m, notify: [out]}
              - {name: quiet, when: {field: state, to: down}, quiet: {during: always}, notify: [out]}
            windows: {always: {daily: "00:00-24:00"}}
            """)
        func body(_ state: String, _ name: String) throws -> String {
            let file = world.home.directory.appending(path: name)
            try #"[{"id": 1, "title": "prod-1", "state": "\#(state)"}]"#.write(
                to: file, atomically: true, encoding: .utf8)
            return file.path
        }
        let replay = try await world.run(
            "replay", "s", try body("up", "1.json"), try body("down", "2.json"), try body("down", "3.json"), "--every",
            "6m")
        let lines = replay.lines
        #expect(lines.contains { $0.contains("… slow: held: prod-1, down for 0 s of 5 min, until ") }, "\(replay.out)")
        #expect(lines.contains { $0.contains("… quiet: deferred: prod-1, down, until ") }, "\(replay.out)")
        #expect(
            lines.last { $0.contains("slow") }?.contains("→ out (slow): prod-1: up → down") == true, "\(replay.out)")
        _ = try await world.poll("up")
        _ = try await world.poll("down")
        let test = try await world.run("test", "--since", "1h")
        #expect(
            test.out.contains("slow: held: prod-1, down for ") && test.out.contains(" of 5 min, until "), "\(test.out)")
        #expect(!test.out.contains("Z)"), "people read local time: \(test.out)")
    }

    @Test("explain tells what a rule that was added later would do")
    func addedLater() async throws {
        let world = try World("  - {name: up, when: {field: state, to: up}, notify: [out]}")
        _ = try await world.poll("up")
        _ = try await world.poll("down")
        try world.home.write(
            "rules: [{name: late, when: {field: state, to: down}, for: 5m, notify: [out]}]", to: "late.yaml")
        let told = try await world.run("explain", "1")
        #expect(told.out.contains("today's rule alone would do this"), "\(told.out)\(told.err)")
        #expect(told.out.contains("held: prod-1, down for 0 s of 5 min, until"), "\(told.out)")
    }

    @Test("the schema in contrib is what the program's tables say")
    func schema() async throws {
        let printed = try await Program.run(["schema"])
        let kept = try String(
            contentsOf: Program.root.appending(path: "contrib/vedette.schema.json"), encoding: .utf8)
        #expect(printed.out == kept, "write it anew: vedette schema > contrib/vedette.schema.json")
    }
}
