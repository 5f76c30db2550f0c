// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@Suite("What a watcher writes lines to is rotated and closed under it", .timeLimit(.minutes(10)))
struct RotationTests {
    /// A list in a file, whose one row changes as told, into a log and to standard output.
    private struct World {
        let home: Home
        private let list: URL
        let log: URL

        init() throws {
            home = try Home()
            (list, log) = (home.directory.appending(path: "list.json"), home.directory.appending(path: "events.log"))
            try write("0")
            try home.write(
                """
                sources:
                  s: {kind: json, url: "file://\(list.path)", state: state, every: 100ms}
                sinks:
                  log: {kind: file, path: "\(log.path)", template: "{{change.to}}"}
                  out: {kind: stdout, template: "{{change.to}}"}
                rules:
                  - {name: any, when: {field: state}, notify: [log, out]}
                """)
        }

        func write(_ state: String) throws {
            try Data(#"[{"id": 1, "title": "x", "state": "\#(state)"}]"#.utf8).write(to: list, options: .atomic)
        }

        func lines(_ file: URL) -> [String] {
            ((try? String(contentsOf: file, encoding: .utf8)) ?? "").split(separator: "\n").map(String.init)
        }

        /// Asks the watcher how it is until the log ends with that line.
        func logged(_ line: String) async throws {
            for _ in 0..<200 where lines(log).last != line { _ = try await home.vedette("status") }
            guard lines(log).last == line else { throw Trouble("no \(line) in the log: \(lines(log))") }
        }
    }

    @Test("as logrotate does it: a renamed file keeps its lines, SIGHUP or not, and the next line begins a new one")
    func rotated() async throws {
        let world = try World()
        let watcher = try await world.home.watcher()
        try await watcher.wait(for: .err) { $0.contains { $0.contains("baseline") } }
        let old = ["1", "2"].map { world.log.appendingPathExtension($0) }
        for (turn, file) in old.enumerated() {
            try world.write("\(turn)a")
            try await world.logged("\(turn)a")
            try FileManager.default.moveItem(at: world.log, to: file)
            if turn == 0 {
                watcher.kill(SIGHUP)
                try await watcher.wait(for: .err) { $0.contains { $0.contains("reloaded: ") } }
            }
            try world.write("\(turn)b")
            try await world.logged("\(turn)b")
        }
        #expect(await watcher.stop() == 0)
        #expect(
            world.lines(old[0]) == ["0a"] && world.lines(old[1]) == ["0b", "1a"] && world.lines(world.log) == ["1b"])
        #expect(watcher.lines(of: .out) == ["0a", "0b", "1a", "1b"])
    }

    @Test("a reader that goes away ends stdout alone: what is pending for it is dead, and the log goes on")
    func closed() async throws {
        let world = try World()
        // `vedette run … | head -n 1`
        let shell = try Child(
            "/bin/sh", ["-c", "\"$0\" \"$@\" | head -n 1", Program.path, "run"] + world.home.places)
        try await shell.wait(for: .err) { $0.contains { $0.contains("baseline") } }
        for state in ["a", "b", "c", "d"] {
            try world.write(state)
            try await world.logged(state)
        }
        #expect(shell.lines(of: .out) == ["a"])
        #expect(world.lines(world.log) == ["a", "b", "c", "d"])
        let outbox = try await world.home.vedette("outbox").out
        #expect(outbox.contains("dead") && outbox.contains("stdout is closed"), "\(outbox)")
        let status = try await world.home.vedette("status").out
        let pid = try #require(status.firstMatch(of: /pid ([0-9]+)/).flatMap { Int32($0.1) })
        kill(pid, SIGTERM)
        #expect(await shell.end(within: 60) == 0)
    }
}
