// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@Suite("What a person asks of a watcher", .timeLimit(.minutes(10)))
struct ScreensTests {
    /// One row, a file that takes each message, and a hook where nobody listens.
    private func made(rules: String = "[here]", settings: String = "") throws -> (home: Home, rows: URL) {
        let home = try Home()
        let rows = home.directory.appending(path: "rows.json")
        try #"[{"id": 1, "title": "prod-1"}]"#.write(to: rows, atomically: true, encoding: .utf8)
        try home.write(
            """
            sources: {rows: {kind: json, url: "\(rows.absoluteString)", key: id, first: announce, every: 1s}}
            sinks:
              here: {kind: file, path: "\(home.directory.path)/out.txt", format: line}
              hook: {kind: webhook, url: "http://127.0.0.1:1/"}
            rules: [{name: all, when: {appears: true}, notify: \(rules)}]
            \(settings)
            """)
        return (home, rows)
    }

    @Test("status tells what each sink sent, and --check ends with 1 without a watcher and 0 while all is well")
    func check() async throws {
        let (home, _) = try made()
        let before = try await home.vedette("status", "--check")
        #expect(before.code == 1 && before.lines.first?.hasPrefix("not running: it never ran") == true, "\(before.out)")
        let watcher = try await home.watcher()
        while try await home.sink("here")["sentToday"] as? Int != 1 {}
        let status = try await home.vedette("status", "--check")
        #expect(status.code == 0, "\(status.out)")
        #expect(status.lines.first?.hasPrefix("running since ") == true)
        #expect(status.lines.contains { $0.hasPrefix("here  ") && $0.contains("  1      0        0") }, "\(status.out)")
        let one = try await home.vedette("status", "rows", "--check")
        #expect(one.code == 0 && one.out.contains("rows  json, every 1 s"), "\(one.out)")
        let unknown = try await home.vedette("status", "row")
        #expect(unknown.code == 64 && unknown.err.contains("did you mean 'rows'?"), "\(unknown.err)")
        #expect(await watcher.stop() == 0)
        #expect(try await home.vedette("status", "--check").code == 1)
    }

    @Test("with an error in a file, status shows the watcher and what the journal has, and --check ends with 1")
    func errors() async throws {
        let (home, _) = try made()
        let watcher = try await home.watcher()
        while try await home.sink("here")["sentToday"] as? Int != 1 {}
        try home.write("sources: [", to: "broken.yaml")
        let status = try await home.vedette("status")
        #expect(status.code == 0 && status.out.hasPrefix("running since "), "\(status)")
        #expect(status.lines.contains { $0.contains("the configuration has 1 error") }, "\(status)")
        #expect(status.lines.contains { $0.hasPrefix("rows  ") && $0.contains("ok") }, "\(status)")
        #expect(try await home.status("rows")["items"] as? Int == 1)
        #expect(try await home.vedette("status", "--check").code == 1)
        #expect(try await home.vedette("status", "rows", "--check").code == 1)
        #expect(try await home.vedette("status", "row").code == 64)
        #expect(await watcher.stop() == 0)
        let nowhere = try await Program.run(["status", "--config", "/nowhere", "--state", home.state.path])
        #expect(nowhere.code == 78, "\(nowhere)")
    }

    @Test("outbox tells why a message died; clear deletes it, and the counts go down; empty lists say so")
    func clear() async throws {
        let (home, _) = try made(rules: "[hook]")
        #expect(try await home.vedette("run", "--once").code == 69)
        let empty = try await home.vedette("outbox", "--sink", "here")
        #expect(empty.code == 0 && empty.out.isEmpty && empty.err.contains("pending or dead"), "\(empty.err)")
        #expect(try await home.vedette("outbox", "clear").code == 64)
        #expect(try await home.vedette("outbox", "clear", "--all").out == "0 dead messages cleared\n")
        let alive = try await home.vedette("outbox", "clear", "1")
        #expect(alive.code == 65 && alive.err.contains("message 1 is retry, not dead"), "\(alive.err)")
        let unknown = try await home.vedette("outbox", "--sink", "hok")
        #expect(unknown.code == 64 && unknown.err.contains("there is no sink 'hok'; did you mean 'hook'?"))
        for command in ["retry", "drop", "clear"] {
            for (option, name) in [("--sink", "hok"), ("--rule", "nosuch")] {
                let refused = try await home.vedette("outbox", command, option, name)
                #expect(refused.code == 64 && refused.err.contains("there is no \(option.dropFirst(2)) '\(name)'"))
            }
        }
        #expect(try await home.vedette("outbox", "drop", "--all").out == "1 message dropped\n")
        let dead = try await home.vedette("outbox")
        #expect(dead.lines.last?.contains("dropped by hand") == true, "\(dead.out)")
        #expect(try await home.sink("hook")["dead"] as? Int == 1)
        #expect(try await home.vedette("outbox", "clear", "--sink", "hook").out == "1 dead message cleared\n")
        #expect(try await home.sink("hook")["dead"] as? Int == 0)
        let silences = try await home.vedette("silences")
        #expect(silences.code == 0 && silences.err.contains("no silence is set"), "\(silences.err)")
    }

    @Test("--log json has one object a line with source and poll; -v tells each poll")
    func jsonLog() async throws {
        let (home, _) = try made(rules: "[here, hook]")
        let watcher = try Child(Program.path, ["run", "-v", "--log", "json"] + home.places)
        try await watcher.wait(for: .err) { $0.contains { $0.contains("unchanged") } }
        #expect(await watcher.stop() == 0)
        let rows = watcher.lines(of: .err).compactMap { line in
            try? JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
        }
        #expect(rows.count == watcher.lines(of: .err).count, "\(watcher.text(of: .err))")
        let first = rows.first { ($0["text"] as? String)?.contains("baseline of 1 item") == true }
        #expect(
            first?["source"] as? String == "rows" && first?["poll"] != nil && first?["level"] as? String == "notice")
        #expect(rows.contains { $0["sink"] as? String == "here" && $0["message"] != nil })
    }

    @Test("a heartbeat comes at the start, and run --once sends one after a run that went well")
    func heartbeat() async throws {
        let lab = try await Lab("receiver")
        let address = "\(lab["receiver"])/ping"
        let (home, _) = try made(settings: "settings: {heartbeat: {url: \"\(address)\", method: POST, every: 1h}}")
        let files = try FileManager.default.contentsOfDirectory(at: home.config, includingPropertiesForKeys: nil)
        for file in files { try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path) }
        let watcher = try await home.watcher()
        #expect(try await lab.received(1, path: "/ping").count == 1)
        #expect(await watcher.stop() == 0)
        #expect(try await home.vedette("run", "--once", "--force").code == 0)
        #expect(try await lab.received(2, path: "/ping").count == 2)
        await lab.end()
    }
}
