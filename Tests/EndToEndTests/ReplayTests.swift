// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@Suite("replay, without a network and without a journal")
struct ReplayTests {
    static let fixtures = Program.root.appending(path: "Tests/Fixtures")

    /// An event in the words of expected-events-cloudburst.ndjson, as one comparable text.
    private func essence(_ event: [String: Any], poll: Int, type: String) throws -> String {
        let item = event["item"] as? [String: Any] ?? event
        var essence: [String: Any] = ["poll": poll, "type": type]
        for name in ["key", "title", "state"] { essence[name] = item[name] }
        let changes = (event["changes"] as? [[String: Any]]) ?? []
        essence["changes"] = try changes.map { change in
            try text(["field": change["field"], "from": change["from"] ?? NSNull(), "to": change["to"] ?? NSNull()])
        }.sorted()
        return try text(essence)
    }

    private func text(_ value: [String: Any?]) throws -> String {
        let data = try JSONSerialization.data(withJSONObject: value.compactMapValues { $0 }, options: .sortedKeys)
        return String(decoding: data, as: UTF8.self)
    }

    private func expected() throws -> [String] {
        let file = ReplayTests.fixtures.appending(path: "expected-events-cloudburst.ndjson")
        return try String(contentsOf: file, encoding: .utf8).split(separator: "\n").map { line in
            let event = try #require(Program.object(String(line)))
            return try essence(event, poll: event["poll"] as? Int ?? 0, type: event.text("type") ?? "")
        }
    }

    @Test("one body is the baseline, which is told, since it makes no events")
    func baseline() async throws {
        let file = ReplayTests.fixtures.appending(path: "cloudburst-virtualSystems-1.json").path
        let one = try await Program.run(["replay", "--kind", "cloudburst", file])
        #expect(one.code == 0 && one.out.isEmpty, "\(one.out)")
        let words = one.err.matches(of: #/^poll 1: baseline of \d+ items; name a second file to see what changed\n$/#)
        #expect(words.count == 1, "\(one.err)")
        let two = try await Program.run(["replay", "--kind", "cloudburst", file, file])
        #expect(two.code == 0 && two.err.hasSuffix("items\n"), "\(two.err)")
    }

    @Test(
        "replay of the four CloudBurst polls, in two languages, yields exactly the expected events and their messages")
    func cloudburst() async throws {
        let home = try Home()
        try home.write(
            """
            sources: {s: {kind: cloudburst, url: "https://wca.example.com", codes: \(Appliance.codes)}}
            sinks: {out: {kind: stdout}}
            rules: [{name: ready, when: {field: state, from: Starting, to: Ready for use}, notify: [out]}]
            """)
        let files = (1...4).map { ReplayTests.fixtures.appending(path: "cloudburst-virtualSystems-\($0).json").path }
        let result = try await Program.run(["replay", "s", "--json"] + files + home.places)
        #expect(result.code == 0, "\(result.err)")
        let events = try result.json.map { event in
            let poll = event.text("data", "poll").flatMap { Int($0.dropFirst(2)) } ?? 0
            let type = event.text("type")?.split(separator: ".").last.map(String.init) ?? ""
            return try essence(event["data"] as? [String: Any] ?? [:], poll: poll, type: type)
        }
        #expect(events.sorted() == (try expected()).sorted())
        #expect(result.json.map { $0.at("data", "seq") as? Int } == (1...14).map { $0 })
        let sent = result.err.split(separator: "\n").filter { $0.contains("→ out (ready)") }
        #expect(sent.count == 3, "\(result.err)")
        #expect(!FileManager.default.fileExists(atPath: home.state.path))
    }

    @Test(
        "replay of three Connections polls yields every new entry, though a known, edited row stands between new ones")
    func connections() async throws {
        let files = (1...3).map { poll in
            ["connections-public-\(poll).xml", "connections-public-\(poll)-p2.xml"]
                .map { ReplayTests.fixtures.appending(path: $0).path }.joined(separator: "+")
        }
        let result = try await Program.run(["replay", "--kind", "feed", "--json"] + files)
        #expect(result.code == 0, "\(result.err)")
        let file = ReplayTests.fixtures.appending(path: "expected-transitions.json")
        let known = try JSONSerialization.jsonObject(with: Data(contentsOf: file)) as? [String: Any]
        let transitions = try #require(known?["connections"] as? [[String: Any]])
        for transition in transitions {
            let poll = "p-\(transition["to"] as? Int ?? 0)"
            for (type, list) in [("appeared", "added"), ("changed", "changed")] {
                let titles = result.json.filter {
                    $0.text("data", "poll") == poll && $0.text("type") == "io.vedette.item.\(type)"
                }.compactMap { $0.text("data", "item", "title") }
                #expect(titles.sorted() == (transition[list] as? [String])?.sorted(), "\(type) of \(poll)")
            }
        }
        #expect(!result.out.contains("disappeared"))
    }

    @Test("of a source with a stream each file is a connection: its records are read one by one, up to a broken one")
    func streams() async throws {
        let home = try Home()
        try home.write(
            """
            sources: {jobs: {kind: json, url: "https://ci.example.com/events", stream: true, key: id, state: state}}
            sinks: {out: {kind: stdout}}
            rules: [{name: done, when: {field: state, from: running, to: done}, notify: [out]}]
            """)
        let connections = [
            """
            : hello

            id: 1
            data: {"id": "job", "state": "queued"}

            id: 2
            data: {"id": "job", "state": "running"}

            id: 3
            data: {"id": "other", "state": "queued"}


            """,
            """
            {"id": "job", "state": "done"}
            {"id": "more", "state":
            """,
        ]
        let files = try connections.enumerated().map { number, text in
            let file = home.directory.appending(path: "connection-\(number)")
            try text.write(to: file, atomically: true, encoding: .utf8)
            return file.path
        }
        let result = try await Program.run(["replay", "jobs", "--json"] + files + home.places)
        #expect(
            result.code == 65 && result.err.contains("poll 2: truncated: a record of the stream: "), "\(result.err)")
        let told = result.json.map { event in
            [event.text("data", "poll"), event.text("subject"), event.text("data", "item", "state")].compactMap { $0 }
                .joined(separator: " ")
        }
        #expect(told.sorted() == ["p-1 job queued", "p-1 job running", "p-1 other queued", "p-2 job done"])
        #expect(result.err.contains("→ out (done): job: running → done"), "\(result.err)")
    }

    @Test("a file whose own name has a plus sign is one page of replay")
    func plusSign() async throws {
        let home = try Home()
        let file = home.directory.appending(path: "a+b.json")
        try "[{\"id\": 1}]".write(to: file, atomically: true, encoding: .utf8)
        let result = try await Program.run(["replay", "--kind", "json", file.path, file.path])
        #expect(result.code == 0, "\(result.err)")
    }

    @Test("a body that cannot be read fails its poll and leaves the snapshot: replay goes on and ends with 65")
    func badBody() async throws {
        let names = ["virtualSystems-1.json", "error-500.html", "empty-200.txt", "virtualSystems-2.json"]
        let files = names.map { ReplayTests.fixtures.appending(path: "cloudburst-\($0)").path }
        let result = try await Program.run(["replay", "--kind", "cloudburst", "--json"] + files)
        #expect(result.code == 65)
        #expect(result.err.contains("poll 2: wrong-type: "))
        #expect(result.err.contains("poll 3: empty: "))
        #expect(result.json.count == 5)
        #expect(result.json.allSatisfy { $0.text("data", "poll") == "p-4" })
    }

    @Test("a file that is not there, and a kind that is not there, are errors of usage with a remedy")
    func usage() async throws {
        let missing = try await Program.run(["replay", "--kind", "feed", "/nowhere.xml"])
        #expect(missing.code == 64)
        #expect(missing.err.contains("/nowhere.xml"))
        let kind = try await Program.run(["replay", "--kind", "fed", "/nowhere.xml"])
        #expect(kind.code == 64)
        #expect(kind.err.contains("did you mean 'feed'?"))
    }

    @Test("replay and list name the cause for which a file cannot be read")
    func unreadable() async throws {
        let home = try Home()
        let directory = home.directory.path
        let script = """
            import os, socket, sys
            os.chdir(sys.argv[1])
            socket.socket(socket.AF_UNIX).bind("socket")
            os.symlink("loop", "loop")
            """
        let child = try Child("/usr/bin/env", ["python3", "-c", script, directory])
        #expect(await child.end(within: 60) == 0, "\(child.text(of: .err))")
        for (path, cause) in [
            (directory, "Is a directory"), (directory + "/socket", "it is no regular file"),
            (directory + "/loop", "Too many levels of symbolic links"),
            (directory + "/missing", "No such file or directory"),
        ] {
            let replay = try await home.vedette("replay", "--kind", "feed", path)
            #expect(replay.code == 64 && replay.err.contains("\(path): \(cause)"), "\(replay.err)")
            // Without a file `list` looks for a source of that name.
            guard FileManager.default.fileExists(atPath: path) else { continue }
            let list = try await home.vedette("list", path)
            #expect(list.code == 64 && list.err.contains("\(path): \(cause)"), "\(list.err)")
        }
    }

    @Test("replay and list refuse a file that is too large, before they read all of it")
    func large() async throws {
        let home = try Home()
        let file = home.directory.appending(path: "large.json")
        try Data().write(to: file)
        let handle = try FileHandle(forWritingTo: file)
        try handle.truncate(atOffset: 1 << 40)
        try handle.close()
        for command in [["replay", "--kind", "json"], ["list"]] {
            let result = try await Program.run(command + [file.path] + home.places)
            #expect(result.code == 65 && result.err.contains("large.json is larger than 64 MiB"), "\(result.err)")
        }
    }
}
