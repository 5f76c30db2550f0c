// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@Suite("Help")
struct HelpTests {
    /// Returns the commands that `--help` lists.
    private func commands(in help: String) -> [String] {
        let commands = help.matches(of: #/(?m)^  ([a-z]+)  /#).map { String($0.1) }
        // In another layout the pattern finds none, and no page would be tested.
        #expect(commands.count == Set(commands).count && commands.count > 20)
        return commands
    }

    @Test("--help lists every command in one group, and each command's page has two examples and its own options first")
    func pages() async throws {
        let help = try await Program.run(["--help"])
        let groups = help.out.matches(of: #/(?m)^([A-Z ]+) SUBCOMMANDS:$/#).map { String($0.1) }
        #expect(groups == ["WATCH", "LOOK", "SET UP", "QUIET", "REPAIR"])
        for command in commands(in: help.out) {
            let page = try await Program.run([command, "--help"]).out
            let examples =
                page.components(separatedBy: "Examples:\n").dropFirst().first?
                .components(separatedBy: "\n\n").first ?? ""
            #expect(
                examples.split(separator: "\n").filter { $0.contains("vedette \(command)") }.count >= 2, "\(command)")
            let options = page.matches(of: #/(?m)^  (?:-\w, )?(--[a-z-]+)/#).map { String($0.1) }
            guard let config = options.firstIndex(of: "--config") else { continue }
            #expect(Set(options[config...]).isSubset(of: ["--config", "--state", "--color", "--help"]), "\(command)")
        }
    }

    @Test("each paragraph of help fills its lines, and no example is broken, at 80 columns")
    func paragraphs() async throws {
        let commands = commands(in: try await Program.run(["--help"]).out)
        let all: [[String]] = [[], ["journal", "copy"]] + commands.map { [$0] }
        for command in all {
            let page = try await Program.run(command + ["--help"]).out
            let lines = page.components(separatedBy: "\nUSAGE: ")[0].split(
                separator: "\n", omittingEmptySubsequences: false)
            var isExample = false
            for (line, next) in zip(lines, lines.dropFirst()) {
                if isExample {
                    #expect(next.isEmpty || next.hasPrefix("  "), "\(next)")
                } else if let word = next.split(separator: " ").first, !line.isEmpty, line != "Examples:" {
                    #expect(line.count + 1 + word.count >= 80, "\(line)")
                }
                if line == "Examples:" { isExample = true }
            }
        }
    }

    @Test("a command that needs no server, desktop or calendar loads none of their libraries")
    func libraries() async throws {
        let loaded = try await Program.run(["--version"], environment: ["LD_DEBUG": "files"])
        let names = loaded.err.matches(of: #/file=lib([a-z0-9-]+)\S* \[0\];  needed by/#).map { String($0.1) }
        #expect(names.contains("sqlite3"), "\(loaded.err.prefix(500))")
        #expect(Set(names).isDisjoint(with: ["curl", "pq", "notify", "gio-2", "ical", "microhttpd"]))
    }

    @Test("-V prints what --version prints, also behind a command, which does not run then")
    func version() async throws {
        let long = try await Program.run(["--version"])
        #expect(long.code == 0 && long.lines.count == 1 && long.err.isEmpty)
        for arguments in [["-V"], ["run", "--version"], ["journal", "check", "-V"]] {
            let other = try await Program.run(arguments)
            #expect(other.code == 0 && other.out == long.out && other.err.isEmpty, "\(arguments)")
        }
    }
}

/// Each shell loads the script that the program makes for it, and a user presses Tab and Enter in a terminal.
@Suite("Completion", .timeLimit(.minutes(10)))
struct CompletionTests {
    private static let terminal = """
        import os, pty, re, sys
        shell, script, line = sys.argv[1:]
        flags = {"bash": ["--norc", "--noprofile"], "fish": ["--no-config"], "zsh": ["-f"]}[shell]
        load = f"source '{script}'"
        if shell == "zsh":
            load = f"fpath=('{os.path.dirname(script)}' $fpath); autoload -Uz compinit; compinit -u -D"
        process, terminal = pty.fork()
        if process == 0:
            os.environ["TERM"] = "dumb"
            os.execvp(shell, [shell, *flags, "-i"])
        def wait_for(pattern):
            text = ""
            while not (found := re.search(pattern, text)):
                text += os.read(terminal, 4096).decode(errors="replace")
            return found
        os.write(terminal, f"{load}; echo LOAD''ED\\n".encode())
        wait_for("LOADED")
        os.write(terminal, f"{line}\\t\\n".encode())
        print(wait_for("ran<([^>]*)>").group(1))
        os.close(terminal)
        os.waitpid(process, 0)
        """

    private static let feed = """
        <rss version="2.0"><channel><title>News</title><link>https://news.example.com/</link><description>News</description>
        <item><title>First</title><guid isPermaLink="false">item-1</guid></item></channel></rss>
        """

    private static func configuration(_ home: URL) -> String {
        """
        sources: {news: {kind: feed, url: "file://\(home.path)/feed.xml"}}
        sinks: {here: {kind: stdout, format: line}}
        rules: [{name: posts, when: {source: news, appears: true}, notify: [here]}]
        """
    }

    @Test(
        "a Tab completes commands, and the names of sources, sinks, rules, servers and items",
        arguments: ["bash", "fish", "zsh"])
    func names(_ shell: String) async throws {
        let home = FileManager.default.temporaryDirectory.appending(path: "vedette-completion-\(UUID())")
        try FileManager.default.createDirectory(at: home, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: home) }
        try Data(CompletionTests.feed.utf8).write(to: home.appending(path: "feed.xml"))
        try Data(CompletionTests.configuration(home).utf8).write(to: home.appending(path: "one.yaml"))
        let places = "--config \(home.path) --state \(home.path)/state"
        let once = try await Program.run(["run", "--once"] + places.split(separator: " ").map(String.init))
        #expect(once.code == 0, "\(once.err)")
        // A broken file does not stop completion, and no secret is read for it.
        let broken =
            "servers: {lab: {url: 'https://host.example.com', user: x, password: {command: [sleep, '60']}, ever: 1}}\n"
        try Data(broken.utf8).write(to: home.appending(path: "two.yaml"))
        let script = home.appending(path: "_vedette")
        try Data(try await Program.run(["--generate-completion-script", shell]).out.utf8).write(to: script)
        // What the user runs in the end only prints its arguments.
        let bin = home.appending(path: "bin")
        try FileManager.default.createDirectory(at: bin, withIntermediateDirectories: true)
        let stand = """
            #!/bin/sh
            [ "$1" != ---completion ] || exec '\(Program.path)' "$@"
            echo "ran<$*>"
            """
        let file = bin.appending(path: "vedette")
        try Data(stand.utf8).write(to: file)
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: file.path)
        let environment = [
            "PATH": "\(bin.path):\(ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin")",
            // fish keeps files of its own in the temporary folder.
            "HOME": home.path, "TMPDIR": home.path, "XDG_RUNTIME_DIR": home.path,
        ]
        for (typed, completed) in [
            ("stat", "status"), ("show \(places) n", "show \(places) news"),
            ("show \(places) news item", "show \(places) news item-1"), ("send \(places) h", "send \(places) here"),
            ("mute \(places) --rule p", "mute \(places) --rule posts"),
            ("mute \(places) --source news --item i", "mute \(places) --source news --item item-1"),
            ("probe \(places) --server l", "probe \(places) --server lab"),
            ("list --kind cl", "list --kind cloudburst"),
        ] {
            let child = try Child(
                "/usr/bin/env", ["python3", "-c", CompletionTests.terminal, shell, script.path, "vedette \(typed)"],
                environment: environment)
            #expect(await child.end(within: 120) == 0, "\(typed): \(child.text(of: .err))")
            #expect(child.text(of: .out).trimmingCharacters(in: .whitespacesAndNewlines) == completed, "\(typed)")
        }
    }
}
