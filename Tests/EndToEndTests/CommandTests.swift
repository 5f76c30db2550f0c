// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@Suite("The other commands", .timeLimit(.minutes(10)))
struct CommandTests {
    @Test("list, show and status say what is known of a source, for people and as JSON")
    func known() async throws {
        let world = try await Appliance()
        try await world.set(59, "starting")
        let watcher = try await world.home.watcher()
        try await watcher.wait(for: .err) { $0.contains { $0.contains("baseline") } }
        try await world.set(59, "ready")
        try await watcher.event("item.changed") { $0.text("subject") == "59" }
        let list = try await world.home.vedette("list", "systems")
        #expect(list.code == 0)
        #expect(list.lines.first?.hasPrefix("KEY") == true)
        #expect(list.lines.contains { $0.hasPrefix("59 ") && $0.contains("Ready for use") })
        #expect(list.lines.last?.contains("Résumé \"β\" <edge> & co") == true)
        let show = try await world.home.vedette("show", "systems", "WAS lab clone 05", "--json")
        #expect(show.json.first?.text("item", "key") == "59")
        #expect((show.json.first?.at("history") as? [Any])?.count == 1)
        let human = try await world.home.vedette("show", "systems", "59")
        #expect(human.out.contains("Starting → Ready for use"), "\(human.out)")
        let status = try await world.home.status("systems")
        #expect(status["health"] as? String == "ok")
        #expect(status["items"] as? Int == 6)
        #expect(status.at("states", "Ready for use") as? Int == 5)
        let table = try await world.home.vedette("status")
        #expect(table.out.contains(", pid \(watcher.pid)\n"))
        #expect(await watcher.stop() == 0)
        #expect(try await world.home.vedette("status").out.contains("not running"))
    }

    @Test("list and show read a URL, a file, and a source that nothing has read, without a journal")
    func fresh() async throws {
        let world = try await Appliance()
        let lab = try await Lab("feeds", "--feeds", "2")
        #expect(try await world.home.vedette("list", "systems").code == 69)
        let fresh = try await world.home.vedette("list", "systems", "--fresh", "--json")
        #expect(fresh.json.compactMap { $0.text("key") } == ["51", "56", "59", "63", "66", "67"])
        let url = try await Program.run(["list", "\(lab["feeds"])/feed/0.xml", "--json"])
        #expect(url.code == 0 && url.json.count > 1, "\(url.err)")
        let file = ReplayTests.fixtures.appending(path: "cloudburst-virtualSystems-1.json").path
        let read = try await Program.run(["list", file])
        #expect(read.code == 0 && read.out.contains("Portal QA"))
        let shown = try await Program.run(["show", file, "Portal QA", "--json"])
        #expect(shown.json.first?.text("item", "title") == "Portal QA", "\(shown.err)")
        let entry = try await Program.run(["show", "\(lab["feeds"])/feed/0.xml", url.json[0].text("key") ?? ""])
        #expect(entry.code == 0 && entry.out.contains(url.json[0].text("title") ?? "?"), "\(entry.err)")
        #expect(try await world.home.vedette("show", "systems", "59", "--stored").code == 69)
        let item = try await world.home.vedette("show", "systems", "59", "--json")
        #expect(item.json.first?.text("item", "key") == "59", "\(item.err)")
        #expect(!FileManager.default.fileExists(atPath: world.home.state.path))
        await lab.end()
    }

    @Test("a configured source is listed, not a file of its name in the directory; ./NAME is the file")
    func listPrefersSource() async throws {
        let home = try Home()
        let folder = home.directory.path
        try "[{\"id\": \"of-the-source\"}]".write(toFile: folder + "/body.json", atomically: true, encoding: .utf8)
        for name in ["s", "other"] {
            try "[{\"id\": \"of-the-file\"}]".write(toFile: "\(folder)/\(name)", atomically: true, encoding: .utf8)
        }
        try home.write("sources: {s: {kind: json, url: \"file://\(folder)/body.json\"}}")
        _ = try await home.vedette("run", "--once")
        for (subject, key) in [("s", "of-the-source"), ("./s", "of-the-file"), ("other", "of-the-file")] {
            let command = "cd '\(folder)' && exec '\(Program.path)' list --json '\(subject)' \"$@\""
            let child = try Child("/bin/sh", ["-c", command, "sh"] + home.places)
            #expect(await child.end() == 0, "\(subject): \(child.text(of: .err))")
            #expect(child.text(of: .out).contains(key), "\(subject): \(child.text(of: .out))")
        }
    }

    @Test(
        "help and version end with 74 where they cannot be written", arguments: ["--help", "--version", "run --help"])
    func unwritable(words: String) async throws {
        let child = try Child("/bin/sh", ["-c", "exec '\(Program.path)' \(words) >/dev/full"])
        #expect(await child.end() == 74)
        #expect(child.text(of: .err).contains("failed to write to standard output"), "\(child.text(of: .err))")
    }

    @Test("status says how many old entries a window did not announce, with the title of the last")
    func unannounced() async throws {
        let home = try Home()
        func write(_ entries: [(String, Int)]) throws {
            let items = entries.map { "{\"id\": \"\($0.0)\", \"title\": \"Entry \($0.0)\", \"at\": \($0.1)}" }
            try "[\(items.joined(separator: ","))]".write(
                toFile: home.directory.path + "/body.json", atomically: true, encoding: .utf8)
        }
        try home.write(
            "sources: {s: {kind: json, url: \"file://\(home.directory.path)/body.json\", mode: window, time: at}}")
        try write([("c", 1_795_000_003), ("b", 1_795_000_002)])
        _ = try await home.vedette("run", "--once")
        try write([("b", 1_795_000_002), ("a", 1_795_000_001)])
        let run = try await home.vedette("run", "--once")
        #expect(run.err.contains("s: not announced, since older than the window: 1 item, 'Entry a'"), "\(run.err)")
        let status = try await home.status("s")["unannounced"] as? [String: Any]
        #expect(status?["count"] as? Int == 1 && status?["last"] as? String == "Entry a")
        let table = try await home.vedette("status")
        #expect(table.out.contains("1 older than the window, not announced; last 'Entry a'"), "\(table.out)")
    }

    @Test(
        "an id that several entries of a feed have, and an entry that its place makes old, are logged once and in status"
    )
    func placedAndShared() async throws {
        let home = try Home()
        func write(_ numbers: [Int]) throws {
            let items = numbers.map {
                "<item><title>T\($0)</title><link>https://a.example/\($0)</link><guid isPermaLink='false'>N/A</guid></item>"
            }
            try "<rss><channel>\(items.joined())</channel></rss>".write(
                toFile: home.directory.path + "/feed.xml", atomically: true, encoding: .utf8)
        }
        try home.write("sources: {s: {kind: feed, url: \"file://\(home.directory.path)/feed.xml\"}}")
        try write([1, 2, 3, 4])
        let shared = "s: several entries have 1 value in common that would key each, last 'N/A'"
        #expect(try await home.vedette("run", "--once").err.contains(shared))
        try write([1, 2, 4, 5])
        let run = try await home.vedette("run", "--once")
        #expect(!run.err.contains("several entries"), "\(run.err)")
        #expect(run.err.contains("not announced, since undated behind the known ones"), "\(run.err)")
        let status = try await home.status("s")
        #expect((status["sharedKeys"] as? [String: Any])?["last"] as? String == "N/A")
        let unannounced = status["unannounced"] as? [String: Any]
        #expect(unannounced?["undated"] as? Bool == true && unannounced?["last"] as? String == "T5")
        let table = try await home.vedette("status", "s")
        #expect(table.out.contains("several entries have 'N/A' in common"), "\(table.out)")
    }

    @Test("an unknown source, sink, kind or item is an error with a suggestion")
    func suggestions() async throws {
        let world = try await Appliance()
        #expect(try await world.home.vedette("run", "--once").code == 0)
        for (arguments, code, guess) in [
            (["list", "sistems"], 64, "systems"), (["show", "system", "59"], 64, "systems"),
            (["show", "systems", "Portal QB"], 65, "Portal QA"), (["send", "hok"], 64, "hook"),
            (["replay", "sytems", "x"], 64, "systems"), (["list", "http://127.0.0.1:1/", "--kind", "jsn"], 64, "json"),
        ] {
            let result = try await Program.run(
                arguments + world.home.places, environment: ["LAB_PASSWORD": Lab.password])
            #expect(result.code == code, "\(arguments): \(result.err)")
            #expect(result.err.contains("did you mean '\(guess)'?"), "\(arguments): \(result.err)")
            #expect(result.out.isEmpty)
        }
    }

    @Test("a command's exit status counts, also where whoever started the program ignores SIGCHLD")
    func ignoredChildren() async throws {
        let home = try Home()
        try home.write("sinks: {bad: {kind: command, command: [sh, -c, exit 3]}}")
        let script =
            "import os, signal, sys; signal.signal(signal.SIGCHLD, signal.SIG_IGN); os.execv(sys.argv[1], sys.argv[1:])"
        let child = try Child("/usr/bin/env", ["python3", "-c", script, Program.path, "send", "bad"] + home.places)
        #expect(await child.end() == 69)
        #expect(child.text(of: .err).contains("exit status 3"), "\(child.text(of: .err))")
    }

    @Test("send takes the real path: 0 when the message was delivered, 69 with the reason when not")
    func send() async throws {
        let world = try await Appliance()
        let sent = try await world.home.vedette("send", "hook", "--text", "hello from here")
        #expect(sent.code == 0, "\(sent.err)")
        let post = try await world.lab.received(1)[0]
        #expect((post["body"] as? String)?.contains("io.vedette.sink.test") == true)
        #expect(post.messageID.hasPrefix("msg_"))
        for status in [400, 500] {
            try await world.lab.post("receiver", "/fail", ["path": "/hook", "times": 1, "status": status])
            let refused = try await world.home.vedette("send", "hook")
            #expect(refused.code == 69)
            #expect(refused.err.contains("\(status)"), "\(refused.err)")
        }
        let out = try await world.home.vedette("send", "out")
        #expect(out.code == 0 && out.json.count == 1)
        await world.lab.end()
        let gone = try await world.home.vedette("send", "hook")
        #expect(gone.code == 69)
        #expect(gone.err.hasPrefix("vedette: hook: "), "\(gone.err)")
    }

    @Test("journal backup copies the journal of a running watcher; check finds a torn page; repair saves the rest")
    func journal() async throws {
        let world = try await Appliance()
        let watcher = try await world.home.watcher()
        try await watcher.wait(for: .err) { $0.contains { $0.contains("baseline") } }
        let folder = world.home.directory.appending(path: "restored")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let copy = folder.appending(path: "journal.db").path
        let backup = try await world.home.vedette("journal", "backup", copy)
        #expect(backup.code == 0, "\(backup.err)")
        #expect(try FileManager.default.attributesOfItem(atPath: copy)[.posixPermissions] as? Int == 0o600)
        #expect(try await world.home.vedette("journal", "backup", copy).code == 73)
        #expect(try await world.home.vedette("journal", "repair").code == 75)
        #expect(await watcher.stop() == 0)
        let places = ["--config", world.home.places[1], "--state", folder.path]
        let environment = ["LAB_PASSWORD": Lab.password]
        let list = try await Program.run(["list", "systems", "--json"] + places, environment: environment)
        #expect(list.json.count == 6, "\(list.err)")
        let check = try await Program.run(["journal", "check", "--state", folder.path])
        #expect(check.code == 0 && check.out.contains("is sound"), "\(check.out)\(check.err)")
        let sound = try await Program.run(["journal", "repair", "--state", folder.path])
        #expect(sound.code == 0 && sound.out.contains("nothing was changed"), "\(sound.out)\(sound.err)")
        let root = try await world.home.sqlite("select rootpage from sqlite_schema where name = 'item'", in: copy)
        let end = try #require(Int(root)) * 4096
        var bytes = try Data(contentsOf: URL(filePath: copy))
        bytes.replaceSubrange(end - 4096..<end, with: Data(count: 4096))
        try bytes.write(to: URL(filePath: copy))
        let repair = try await Program.run(["journal", "repair", "--state", folder.path])
        #expect(repair.code == 0 && repair.out.contains("the damaged journal is kept as"), "\(repair.out)\(repair.err)")
        #expect(repair.out.contains("source 'systems' begins with a new baseline"), "\(repair.out)")
        #expect(try await Program.run(["journal", "check", "--state", folder.path]).code == 0)
        for page in stride(from: 4096, to: bytes.count, by: 4096) {
            bytes.replaceSubrange(page..<page + 64, with: Data(count: 64))
        }
        try bytes.write(to: URL(filePath: copy))
        let torn = try await Program.run(["journal", "check", "--state", folder.path])
        #expect(torn.code == 65 && torn.err.contains("damaged"), "\(torn.out)\(torn.err)")
    }

    @Test("--help and --version are results; an unknown command or option is 64")
    func conventions() async throws {
        let version = try await Program.run(["--version"])
        #expect(version.code == 0 && version.lines.count == 1)
        let commands = [
            "run", "tail", "status", "list", "show", "wait", "poll", "check", "replay", "send", "accept", "probe",
            "trust", "doctor", "explain", "test", "ack", "snooze", "mute", "silences", "outbox", "schema", "journal",
        ]
        for command in commands {
            let help = try await Program.run([command, "--help"])
            #expect(help.code == 0 && help.out.contains("USAGE: vedette \(command)"), "\(command)")
        }
        for arguments in [["rnu"], ["run", "--onec"], ["wait", "systems"], ["show", "systems"]] {
            let result = try await Program.run(arguments)
            #expect(result.code == 64, "\(arguments): \(result.code)")
            #expect(result.out.isEmpty && !result.err.isEmpty)
        }
        let misspelt = try await Program.run(["statu", "--config", "here"])
        #expect(misspelt.code == 64 && misspelt.err.contains("no command 'statu'; did you mean 'status'?"))
        for (path, guess) in [(["statu"], "status"), (["outbox", "clea"], "clear")] {
            let help = try await Program.run(["help"] + path)
            #expect(help.code == 64 && help.out.isEmpty && help.err.contains("did you mean '\(guess)'?"), "\(help)")
        }
        for path in [[], ["help"], ["outbox", "clear"], ["status", "--help"]] as [[String]] {
            let help = try await Program.run(["help"] + path)
            #expect(help.code == 0 && help.out.contains("USAGE: vedette"), "\(help)")
        }
    }
}
