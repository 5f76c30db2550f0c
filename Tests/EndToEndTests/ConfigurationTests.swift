// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@Suite("The configuration, read and read again", .timeLimit(.minutes(10)))
struct ConfigurationTests {
    @Test("check says every error at once, with file, line, column and a suggestion, and ends with 78")
    func check() async throws {
        let home = try Home()
        try home.write(
            """
            sources:
              news: {kind: fed, url: "https://blog.example.com/feed"}
              more: {kind: feed, url: "https://blog.example.com/feed", evry: 5m}
            sinks:
              out: {kind: stdout}
            rules:
              - {name: r, when: {source: more, appears: true}, notify: [uot]}
            """)
        let result = try await home.vedette("check")
        #expect(result.code == 78)
        let errors = (result.out + result.err).split(separator: "\n")
        for (place, guess) in [("2:16", "feed"), ("3:60", "every"), ("7:61", "out")] {
            #expect(
                errors.contains { $0.contains("vedette.yaml:\(place): ") && $0.contains("did you mean '\(guess)'?") },
                "\(place): \(errors.joined(separator: "\n"))")
        }
        #expect(try await home.vedette("run").code == 78)
    }

    @Test("check warns of a jq program that does not compile, with its source")
    func jq() async throws {
        let home = try Home()
        try home.write("sources: {list: {kind: json, url: \"https://a.example.com/list\", jq: \".[] |\"}}")
        let result = try await home.vedette("check")
        #expect(result.code == 0)
        #expect(result.err.contains("warning: source list: the jq program is not valid: "), "\(result.err)")
    }

    @Test("a configuration without errors passes check, and one that is not there says where it was looked for")
    func places() async throws {
        let home = try Home()
        try home.write("sources: {news: {kind: feed, url: \"https://blog.example.com/feed\"}}")
        #expect(try await home.vedette("check").code == 0)
        let missing = try await Program.run(["check", "--config", "/nowhere/at/all"])
        #expect(missing.code != 0)
        #expect((missing.out + missing.err).contains("/nowhere/at/all"))
    }

    @Test("what the last poll of a source showed to be a mistake is a warning of check, until its options change")
    func remark() async throws {
        let home = try Home()
        let file = home.config.appending(path: "labels.json")
        func write(_ path: String) throws {
            try home.write(
                "sources: {issues: {kind: json, url: \"file://\(file.path)\", fields: {labels: \(path)}}}")
        }
        try write("labels.name")
        try Data(#"[{"id": 1, "labels": [{"name": "bug"}]}]"#.utf8).write(to: file)
        #expect(try await !home.vedette("check").err.contains("warning: issues"))
        #expect(try await home.vedette("run", "--once").code == 0)
        let checked = try await home.vedette("check")
        #expect(
            checked.code == 0 && checked.err.contains("warning: issues: 'labels.name' leads into a list"),
            "\(checked.err)")
        try write("\"labels.*.name\"")
        #expect(try await !home.vedette("check").err.contains("warning: issues"))
    }

    @Test("check tries a new filter on what the last poll stored, and says which expressions change nothing")
    func newFilter() async throws {
        let home = try Home()
        let file = home.config.appending(path: "page.txt")
        func write(_ filter: String) throws {
            try home.write("sources: {page: {kind: text, url: \"file://\(file.path)\"\(filter)}}")
        }
        try write("")
        try Data("one\n12 visitors\n".utf8).write(to: file)
        #expect(try await home.vedette("run", "--once").code == 0)
        try write(
            #", ignore: [{regex: '\d+ visitors'}, {regex: '\d+ guests'}, {regex: 'x', in: key}]"#
                + ", replace: [{regex: one, with: two}, {regex: two, with: three}]")
        let checked = try await home.vedette("check")
        #expect(
            checked.code == 0
                && checked.err.contains(#"warning: page: '\d+ guests' changes nothing in the 1 item of the last poll"#),
            "\(checked.err)")
        #expect(["'\\d+ visitors'", "'x'", "'two'"].allSatisfy { !checked.err.contains($0) })
        #expect(try await home.vedette("run", "--once").code == 0)
        #expect(try await !home.vedette("check").err.contains("warning: page"))
        #expect(try await !home.vedette("list", "page", "--json").out.contains("12 visitors"))
    }

    @Test("a literal password in a file that others can read is an error with the remedy, and is not printed")
    func literalSecret() async throws {
        let home = try Home()
        try home.write("servers: {lab: {url: \"https://a.example.com\", user: u, password: hunter-two-22}}")
        let place = home.config.appending(path: "vedette.yaml").path
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: place)
        let open = try await home.vedette("check")
        #expect(open.code == 78)
        #expect((open.out + open.err).contains("chmod 600"))
        #expect(!(open.out + open.err).contains("hunter-two-22"))
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: place)
        #expect(try await home.vedette("check").code == 0)
    }

    @Test(
        "a bad file keeps the old set running and says where it is wrong; a good one is taken, by SIGHUP or by itself")
    func reload() async throws {
        let world = try await Appliance()
        let watcher = try await world.home.watcher()
        try await watcher.wait(for: .err) { $0.contains { $0.contains("baseline") } }
        try world.home.write("sources: {systems: {kind: cloudbrust}}")
        try await watcher.wait(for: .err) { lines in
            lines.contains { $0.contains("vedette.yaml:1:27: ") && $0.contains("did you mean 'cloudburst'?") }
                && lines.contains { $0.contains("the previous one stays active") }
        }
        try await world.set(59, "ready")
        try await watcher.event("item.changed") { $0.text("subject") == "59" }
        try world.configure(extra: "  - {name: new, when: {source: systems, appears: true}, notify: [out]}")
        try await watcher.wait(for: .err) { $0.contains { $0.contains("reloaded: 1 source, 4 rules") } }
        try await world.lab.post("control", "/lab/create", ["name": "born", "state": "queued", "id": 4711])
        try await watcher.event("item.appeared") { $0.text("subject") == "4711" }
        watcher.kill(SIGHUP)
        try await watcher.wait(for: .err) { $0.filter { $0.contains("reloaded: ") }.count >= 2 }
        #expect(await watcher.stop() == 0)
        #expect(!watcher.text(of: .out).contains("source.failing"))
        #expect(watcher.text(of: .err).split(separator: "\n").filter { $0.contains("baseline") }.count == 1)
    }

    @Test("a secret that does not exist yet ends run with 75, so that its unit tries again; other errors with 78")
    func passingErrors() async throws {
        let home = try Home()
        func source(_ password: String, every: String = "1h") -> String {
            "sources: {s: {kind: json, server: lab, path: /x, every: \(every)}}\n"
                + "servers: {lab: {url: \"http://127.0.0.1:1\", user: u, password: {\(password)}}}"
        }
        for (text, code) in [
            (source("file: /nowhere/secret"), 75), (source("command: [/bin/false]"), 75),
            (source("env: VEDETTE_NO_SUCH_VARIABLE"), 78), (source("file: /nowhere/secret", every: "never"), 78),
        ] {
            try home.write(text)
            let result = try await home.vedette("run", "--once")
            #expect(Int(result.code) == code, "\(text): \(result.err)")
        }
    }

    @Test("a reload changes no snapshot: what changed meanwhile is announced with the state before it")
    func reloadKeepsState() async throws {
        let world = try await Appliance(every: "1h")
        try await world.set(59, "starting")
        let watcher = try await world.home.watcher()
        try await world.polled(1)
        try await world.set(59, "ready")
        try world.configure(every: "200ms")
        let event = try await watcher.event("item.changed") { $0.text("subject") == "59" }
        #expect((event.at("data", "changes") as? [[String: Any]])?.first?["from"] as? String == "Starting")
        #expect(await watcher.stop() == 0)
    }
}
