// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import VedetteTestSupport

@Suite("tail", .timeLimit(.minutes(10)))
struct TailTests {
    private func seqs(_ lines: [String]) -> [Int] {
        lines.compactMap { Program.object($0)?.at("data", "seq") as? Int }
    }

    @Test("tail --json follows over restarts and a kill -9 of the watcher, without gap or repeat", .tags(.I10))
    func follows() async throws {
        let world = try await Appliance()
        try await world.set(59, "starting")
        let tail = try Child(Program.path, ["tail", "--json"] + world.home.places)
        try await tail.wait(for: .err) { $0.contains { $0.contains("waiting for a watcher") } }
        for (round, signal) in [SIGTERM, SIGKILL, SIGTERM].enumerated() {
            let watcher = try await world.home.watcher()
            if round == 0 { try await watcher.wait(for: .err) { $0.contains { $0.contains("baseline") } } }
            for (step, state) in ["stopping", "stopped", "starting"].enumerated() {
                try await world.set(59, state)
                try await tail.wait { $0.count >= round * 3 + step + 1 }
            }
            watcher.kill(signal)
            _ = await watcher.end(within: 10)
        }
        let lines = tail.lines(of: .out)
        #expect(seqs(lines) == Array(1...9))
        #expect(lines == (try await world.home.vedette("tail", "--no-follow", "--json", "-n", "99")).lines)
        tail.kill(SIGTERM)
        _ = await tail.end()
    }

    /// A journal with five events: 1 to 3 of `a`, 4 and 5 of `b`.
    private func history() async throws -> Home {
        let home = try Home()
        let write = { (name: String, count: Int) in
            let rows = (0..<count).map { "{\"id\": \"\(name)\($0)\", \"title\": \"item \($0)\"}" }
            try "[\(rows.joined(separator: ","))]".write(
                to: home.directory.appending(path: "\(name).json"), atomically: true, encoding: .utf8)
        }
        let url = { (name: String) in home.directory.appending(path: "\(name).json").absoluteString }
        func configure(_ name: String) throws {
            try home.write(
                """
                sources: {\(name): {kind: json, url: "\(url(name))", first: announce}}
                sinks: {out: {kind: stdout, format: json}}
                rules: [{name: ends, when: {appears: true, item: {key: {regex: "[02]$"}}}, notify: [out]}]
                """)
        }
        for (name, count) in [("a", 3), ("b", 2)] {
            try write(name, count)
            try configure(name)
            let result = try await home.vedette("run", "--once")
            guard result.code == 0 else { throw Trouble(result.err) }
        }
        return home
    }

    @Test("tail takes -n, times, --source, --rule, --item, --type, --sent, --no-follow and --template")
    func options() async throws {
        let home = try await history()
        func tail(_ options: String...) async throws -> [Int] {
            let result = try await Program.run(["tail", "--no-follow", "--json"] + options + home.places)
            #expect(result.code == 0, "\(result.err)")
            return seqs(result.lines)
        }
        #expect(try await tail() == [1, 2, 3, 4, 5])
        #expect(try await tail("-n", "2") == [4, 5])
        #expect(try await tail("-n", "0") == [])
        #expect(try await tail("--since", "1h") == [1, 2, 3, 4, 5])
        #expect(try await tail("--source", "a") == [1, 2, 3])
        #expect(try await tail("--source", "a", "-n", "1") == [3])
        #expect(try await tail("--rule", "ends") == [1, 3, 4])
        #expect(try await tail("--rule", "ends", "--source", "b", "--since", "1h") == [4])
        #expect(try await tail("--since", "1h", "-n", "1") == [5])
        #expect(try await tail("--until", "1h") == [])
        #expect(try await tail("--since", "yesterday", "--until", "0s") == [1, 2, 3, 4, 5])
        #expect(try await tail("--type", "appeared", "--sent") == [1, 3, 4])
        #expect(try await tail("--type", "failing", "--type", "changed") == [])
        #expect(try await tail("--item", "b1") == [5])
        #expect(try await tail("--source", "a", "--item", "item 1") == [2])
        let template = try await home.vedette("tail", "--no-follow", "--template", "{{source.name}}/{{item.title}}")
        #expect(template.lines == ["a/item 0", "a/item 1", "a/item 2", "b/item 0", "b/item 1"])
        let human = try await home.vedette("tail", "--no-follow", "-n", "1")
        #expect(human.lines.count == 1)
        #expect(human.out.contains("item 1") && human.out.contains("appeared") && !human.out.contains("\u{1B}"))
        let marked = try await home.vedette("tail", "--no-follow", "-n", "2")
        #expect(marked.lines.map { $0.contains(" * b") } == [true, false], "\(marked.out)")
        let explained = try await home.vedette("explain", "5")
        #expect(explained.code == 0 && explained.out.contains("item 1"))
    }

    @Test("tail refuses what it cannot do with a clear error of usage")
    func usage() async throws {
        let home = try await history()
        for options in [
            ["--since", "soon"], ["-n", "-1"], ["--json", "--template", "x"], ["--template", "{{item.}}"],
            ["--template", "{{unknown.name}}"], ["--since", "tomorrow"], ["--since", "1h", "--until", "2h"],
        ] {
            let result = try await Program.run(["tail", "--no-follow"] + options + home.places)
            #expect(result.code == 64, "\(options): \(result.code) \(result.err)")
            #expect(!result.err.isEmpty && result.out.isEmpty)
        }
    }

    @Test("tail refuses a name that is unknown, with the nearest one")
    func names() async throws {
        let home = try await history()
        for (options, guess) in [
            (["--source", "bb"], "there is no source 'bb'"),
            (["--rule", "end"], "there is no rule 'end'; did you mean 'ends'?"),
            (["--type", "apeared"], "no event is of the type 'apeared'; did you mean 'appeared'?"),
            (["--item", "b10"], "no source has an item 'b10'; did you mean 'b0'?"),
            (["--item", "item 4", "--source", "a"], "a has no item 'item 4'; did you mean 'item 0'?"),
            (["--item", "item 1"], "2 sources have an item 'item 1': a, b; name one with --source"),
        ] {
            let result = try await Program.run(["tail"] + options + home.places)
            #expect(result.code == 64 && result.err.contains(guess), "\(options): \(result.err)")
        }
    }

    @Test("tail --template warns of a name that no configured source can have, and prints")
    func templateNames() async throws {
        let home = try await history()
        func tail(_ template: String) async throws -> Program.Result {
            let result = try await home.vedette("tail", "--no-follow", "-n", "1", "--template", template)
            #expect(result.code == 0)
            return result
        }
        let wrong = try await tail("{{item.nmae}}{{item.key}}")
        #expect(wrong.lines == ["b1"])
        #expect(wrong.err.contains("warning: --template: 1:1: unknown name 'item.nmae'; did you mean 'item.name'?"))
        #expect(try await tail("{{item.key}}").err.isEmpty)
    }

    @Test("tail into head ends with 0 as soon as head has seen enough, though nothing new happens")
    func head() async throws {
        let home = try await history()
        let command = "timeout -s KILL 15 \"$@\" | head -n 1; exit ${PIPESTATUS[0]}"
        let pipe = try Child("/bin/bash", ["-c", command, "bash", Program.path, "tail", "--json"] + home.places)
        #expect(await pipe.end(within: 60) == 0, "\(pipe.text(of: .err))")
        #expect(pipe.lines(of: .out).count == 1)
        #expect(pipe.text(of: .err).isEmpty)
    }

    @Test("tail --no-follow without a journal is 69 and says where it looked")
    func noJournal() async throws {
        let home = try Home()
        let result = try await home.vedette("tail", "--no-follow")
        #expect(result.code == 69)
        #expect(result.err.contains(home.state.path))
    }
}
