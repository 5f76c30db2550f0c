// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import VedetteTestSupport

@Suite("Bad input gets a clear error and loses nothing", .timeLimit(.minutes(10)))
struct FailureTests {
    static let faults: [(fault: String, failure: String)] = [
        ("empty", "empty"), ("login", "wrong-type"), ("500", "server-error"), ("401", "unauthorized"),
        ("404", "not-found"), ("cut-length", "truncated"), ("cut-chunked", "truncated"), ("cut-gzip", "truncated"),
        ("cut-json", "truncated"), ("garbage", "malformed"), ("close", "closed"),
    ]

    @Test(
        "I2 and I3: a failed poll has its class, leads to failing and recovered, and never touches the snapshot",
        .tags(.I2, .I3),
        arguments: faults)
    func fault(_ fault: String, _ failure: String) async throws {
        let world = try await Appliance()
        try await world.set(59, "starting")
        let watcher = try await world.home.watcher()
        try await world.polled(2)
        let before = try await world.home.items("systems")
        try await world.fault(fault)
        let failing = try await watcher.event("source.failing")
        #expect(failing.text("data", "error", "class") == failure)
        #expect(failing.text("data", "error", "detail")?.isEmpty == false)
        let status = try await world.home.status("systems")
        #expect(status["health"] as? String == "failing")
        #expect(status["failures"] as? Int ?? 0 >= (failure == "unauthorized" ? 1 : 3))
        let after = try await world.home.items("systems")
        #expect(after == before)
        try await world.set(59, "ready")
        try await world.heal()
        try await watcher.event("source.recovered")
        let change = try await watcher.event("item.changed") { $0.text("subject") == "59" }
        #expect((change.at("data", "changes") as? [[String: Any]])?.first?["from"] as? String == "Starting")
        #expect(await watcher.stop() == 0)
        #expect(!watcher.text(of: .out).contains("item.disappeared"))
    }

    @Test("refused: an unreachable server is a failed poll")
    func refused() async throws {
        let home = try Home()
        // A port that was free a moment ago and that nobody listens on.
        try home.write("sources: {x: {kind: json, url: \"http://127.0.0.1:1/\", every: 200ms}}")
        let result = try await home.vedette("run", "--once")
        #expect(result.code == 69)
        #expect(result.out.contains("failed: x: http://127.0.0.1:1 does not accept connections"))
    }

    @Test("I12: a source whose poll the journal refuses fails, and says so, until one is stored again", .tags(.I12))
    func notStored() async throws {
        let home = try Home()
        let file = home.directory.appending(path: "x.json")
        try home.write("sources: {x: {kind: json, url: \"file://\(file.path)\", state: state, fails: 1}}")
        try Data(#"[{"id": "good", "state": "up"}]"#.utf8).write(to: file, options: .atomic)
        #expect(try await home.vedette("run", "--once").code == 0)
        // As for a row that an index of PostgreSQL does not take.
        _ = try await home.sqlite(
            "create trigger refuse before insert on item when new.key = 'bad' begin select raise(abort, 'too long'); end"
        )
        try Data(#"[{"id": "good", "state": "up"}, {"id": "bad", "state": "up"}]"#.utf8)
            .write(to: file, options: .atomic)
        let refused = try await home.vedette("run", "--once", "--force")
        #expect(refused.code == 69 && refused.out.contains("failed: x: the journal"), "\(refused)")
        #expect(try await home.status("x")["health"] as? String == "failing")
        let status = try await home.vedette("status")
        #expect(status.out.contains("refused a record (too long) [not-stored]"), "\(status.out)")
        #expect(try await home.vedette("status", "--check").code == 1)
        #expect(try await home.items("x").count == 1)
        _ = try await home.sqlite("drop trigger refuse")
        #expect(try await home.vedette("run", "--once", "--force").code == 0)
        #expect(try await home.status("x")["health"] as? String == "ok")
        let kinds = try await home.events().compactMap { $0.text("type") }
        #expect(
            kinds == ["io.vedette.source.failing", "io.vedette.source.recovered", "io.vedette.item.appeared"],
            "\(kinds)")
    }

    @Test(
        "too-large: a body over its cap is refused, whether it says its length or not",
        arguments: ["&length=1", "&length=0"])
    func tooLarge(length: String) async throws {
        let lab = try await Lab("faults")
        let home = try Home(lab)
        try home.write("sources: {x: {kind: json, url: \"\(lab["faults"])/big?bytes=40000000\(length)\", every: 1s}}")
        let result = try await home.vedette("run", "--once")
        #expect(result.code == 69)
        let status = try await home.status("x")
        #expect(status.text("error", "class") == "too-large")
    }

    @Test(
        "a gzip bomb and a cut gzip stream are refused",
        arguments: [("gzipbomb?mb=60", "too-large"), ("cut/gzip", "truncated")])
    func gzip(path: String, failure: String) async throws {
        let lab = try await Lab("faults")
        let home = try Home(lab)
        try home.write("sources: {x: {kind: json, url: \"\(lab["faults"])/\(path)\", every: 1s}}")
        #expect(try await home.vedette("run", "--once").code == 69)
        #expect(try await home.status("x").text("error", "class") == failure)
    }

    @Test("I7: hosts that never answer delay no healthy source", .tags(.I7))
    func hanging() async throws {
        let lab = try await Lab("faults,feeds")
        let home = try Home(lab)
        let hanging = (0..<30).map { "  h\($0): {kind: feed, url: \"\(lab["silent"])/\($0)\", every: 1s}" }
        try home.write(
            """
            sources:
            \(hanging.joined(separator: "\n"))
              good: {kind: feed, url: "\(lab["feeds"])/feed/0.xml", every: 200ms}
            sinks: {out: {kind: stdout, format: json}}
            rules: [{name: new, when: {source: good, appears: true}, notify: [out]}]
            """)
        let watcher = try await home.watcher()
        try await watcher.wait(for: .err) { $0.contains { $0.contains("good: baseline") } }
        for round in 1...5 {
            try await lab.post("feeds", "/change", ["n": 1])
            try await watcher.wait { $0.count >= round }
        }
        // Not one of the hanging polls has ended yet: their first-byte deadline is half a minute away.
        #expect(!watcher.text(of: .err).contains("timeout"))
        #expect(await watcher.stop() == 0)
    }
}
