// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// Prints the seq of each event of a stream, one a line, from behind the last one it is given; it comes back when the
/// connection ends, as a browser does, and ends with its input.
private let streamReader = #"""
    import http.client, sys, threading, time
    port_file, last = sys.argv[1], sys.argv[2]
    threading.Thread(target=lambda: (sys.stdin.read(), __import__("os")._exit(0)), daemon=True).start()
    while True:
        try:
            connection = http.client.HTTPConnection("127.0.0.1", int(open(port_file).read()), timeout=30)
            connection.request("GET", "/api/v1/events", headers={"Accept": "text/event-stream", "Last-Event-ID": last})
            response = connection.getresponse()
            for line in response:
                if line.startswith(b"id: "):
                    last = line[4:].strip().decode()
                    print(last, flush=True)
        except (OSError, ValueError, http.client.HTTPException): time.sleep(0.05)
    """#

@Suite("What programs ask of a watcher", .timeLimit(.minutes(10)))
struct MachineTests {
    /// A watcher that serves a page, and one source whose rows a test changes.
    private struct World {
        let home: Home
        let rows: URL

        init() throws {
            home = try Home()
            rows = home.directory.appending(path: "rows.json")
            try write(1...1)
            try home.write(
                """
                settings: {listen: "127.0.0.1:0"}
                sources:
                  rows: {kind: json, url: "\(rows.absoluteString)", key: id, state: state, every: 200ms}
                  away: {kind: json, url: "http://127.0.0.1:1/", every: 1s}
                sinks:
                  here: {kind: file, path: "\(home.directory.path)/out.txt", format: line}
                rules: [{name: all, when: {source: rows, appears: true}, notify: [here]}]
                """)
        }

        func write(_ ids: ClosedRange<Int>) throws {
            let text = ids.map { #"{"id": \#($0), "state": "Ready"}"# }.joined(separator: ",")
            try "[\(text)]".write(to: rows, atomically: true, encoding: .utf8)
        }

        /// Starts the watcher, and waits until it has the baseline.
        func start() async throws -> (watcher: Child, port: Int) {
            let watcher = try await home.watcher()
            let lines = try await watcher.wait(for: .err) { lines in
                lines.contains { $0.contains("the page is at") } && lines.contains { $0.contains("item") }
            }
            let address = lines.first { $0.contains("the page is at") }?.split(separator: ":").last ?? ""
            return (watcher, try #require(Int(address.prefix { $0.isNumber })))
        }
    }

    private func get(_ port: Int, _ target: String) async throws -> String {
        String(decoding: try await Wire.call("GET", "http://127.0.0.1:\(port)\(target)", nil), as: UTF8.self)
    }

    /// Runs a program to its end, with a text as its input.
    private func run(_ program: String, _ arguments: [String], in directory: URL, input: String? = nil) async throws
        -> Program.Result
    {
        var command = ([program] + arguments).map { "'\($0)'" }.joined(separator: " ")
        if let input {
            let file = directory.appending(path: "input")
            try input.write(to: file, atomically: true, encoding: .utf8)
            command += " < '\(file.path)'"
        }
        let child = try Child("/bin/sh", ["-c", command])
        let code = await child.end()
        return Program.Result(code: code, out: child.text(of: .out), err: child.text(of: .err))
    }

    @Test("promtool accepts the metrics of a running watcher, and they tell what it did")
    func metrics() async throws {
        let world = try World()
        let (watcher, port) = try await world.start()
        try world.write(1...3)
        while try await !get(port, "/metrics").contains(
            #"vedette_deliveries_sent_today{sink="here"} 2"#)
        {}
        let text = try await get(port, "/metrics")
        for line in [
            #"vedette_source_items{source="rows"} 3"#, #"vedette_events_total{type="io.vedette.item.appeared"} 2"#,
            #"vedette_delivery_attempts_total{sink="here",outcome="sent"} 2"#, "vedette_journal_stalled 0",
            #"vedette_rule_messages_total{rule="all",outcome="sent"} 2"#,
            #"vedette_build_info{version="#,
            #"vedette_polls_total{source="rows",outcome="read"} 2"#,
            #"vedette_poll_lateness_seconds_bucket{lane="polls",le="+Inf"}"#, "process_resident_memory_bytes ",
        ] {
            #expect(text.contains(line), "no \(line) in:\n\(text)")
        }
        let checked = try await run("promtool", ["check", "metrics"], in: world.home.directory, input: text)
        #expect(checked.code == 0 && checked.err.isEmpty && checked.out.isEmpty, "\(checked.out)\(checked.err)")
        #expect(await watcher.stop() == 0)
    }

    @Test("a real Prometheus scrapes a watcher")
    func prometheus() async throws {
        let world = try World()
        let (watcher, port) = try await world.start()
        let folder = world.home.directory
        try """
        global: {scrape_interval: 1s}
        scrape_configs: [{job_name: vedette, static_configs: [{targets: ["127.0.0.1:\(port)"]}]}]
        rule_files: ["\(Program.root.path)/contrib/prometheus/rules.yaml"]
        """.write(to: folder.appending(path: "prometheus.yml"), atomically: true, encoding: .utf8)
        // Prometheus does not tell which port the system chose.
        let own = Int.random(in: 20_000..<30_000)
        let prometheus = try Child(
            "/usr/bin/env",
            [
                "prometheus", "--config.file=\(folder.path)/prometheus.yml", "--storage.tsdb.path=\(folder.path)/data",
                "--web.listen-address=127.0.0.1:\(own)",
            ])
        try await prometheus.wait(for: .err) { $0.contains { $0.contains("ready to receive web requests") } }
        let query = "/api/v1/query?query=vedette_source_items%7Bsource%3D%22rows%22%7D"
        while try await !get(own, query).contains(#""1"]"#) {}
        let rules = try await get(own, "/api/v1/rules")
        #expect(rules.contains("VedettePollsLate") && !rules.contains(#""health":"err""#))
        await prometheus.destroy()
        #expect(await watcher.stop() == 0)
    }

    @Test("the alerts are valid, and fire when they should and not before")
    func alerts() async throws {
        let folder = Program.root.appending(path: "contrib/prometheus").path
        let checked = try await run(
            "promtool", ["check", "rules", "\(folder)/rules.yaml"], in: FileManager.default.temporaryDirectory)
        #expect(checked.code == 0, "\(checked.out)\(checked.err)")
        let tested = try await run(
            "promtool", ["test", "rules", "\(folder)/rules-test.yaml"], in: FileManager.default.temporaryDirectory)
        #expect(tested.code == 0, "\(tested.out)\(tested.err)")
    }

    @Test("a stream of events goes on over a restart of the watcher, without gap or repeat")
    func stream() async throws {
        let world = try World()
        var (watcher, port) = try await world.start()
        let portFile = world.home.directory.appending(path: "port")
        try "\(port)".write(to: portFile, atomically: true, encoding: .utf8)
        let reader = try Child("/usr/bin/env", ["python3", "-c", streamReader, portFile.path, "0"])
        func seqs(_ source: [String]) -> [Int] { source.compactMap { Int($0) } }
        try world.write(1...4)
        try await reader.wait { $0.count >= 3 }
        watcher.kill(SIGKILL)
        _ = await watcher.end()
        try world.write(1...9)
        (watcher, port) = try await world.start()
        try "\(port)".write(to: portFile, atomically: true, encoding: .utf8)
        let stored = try await world.home.vedette("tail", "--json", "--no-follow", "-n", "1")
        let last = try #require((stored.json.first?["data"] as? [String: Any])?["seq"] as? Int)
        let lines = try await reader.wait { lines in lines.last.flatMap { Int($0) } ?? 0 >= max(last, 8) }
        #expect(seqs(lines) == Array(1...(seqs(lines).last ?? 0)))
        await reader.destroy()
        #expect(await watcher.stop() == 0)
    }

    @Test("one watcher watches the feed of another, and misses no event of a burst that fills three pages")
    func watched() async throws {
        let world = try World()
        let (watcher, port) = try await world.start()
        let other = try Home()
        try other.write(
            """
            sources: {other: {kind: feed, url: "http://127.0.0.1:\(port)/events.atom?source=rows", every: 1s}}
            sinks: {here: {kind: file, path: "\(other.directory.path)/out.txt", format: line}}
            rules: [{name: all, when: {appears: true}, notify: [here]}]
            """)
        let second = try await other.watcher()
        try await second.wait(for: .err) { $0.contains { $0.contains("baseline") } }
        try world.write(1...131)
        while try await other.sink("here")["sentToday"] as? Int != 130 {}
        #expect(await second.stop() == 0)
        #expect(await watcher.stop() == 0)
    }

    @Test("feedparser reads the feed without a complaint")
    func feedparser() async throws {
        let world = try World()
        let (watcher, port) = try await world.start()
        try world.write(1...3)
        while try await get(port, "/events.atom?source=rows").components(separatedBy: "<entry>").count < 3 {}
        let program = """
            import feedparser, sys
            feed = feedparser.parse("http://127.0.0.1:\(port)/events.atom?source=rows")
            print(feed.bozo, feed.version, len(feed.entries), feed.entries[0].id.startswith("urn:uuid:"), feed.entries[0].title)
            """
        let child = try Child("/usr/bin/python3", ["-c", program])
        #expect(await child.end() == 0, "\(child.text(of: .err))")
        #expect(child.text(of: .out).hasPrefix("False atom10 2 True "), "\(child.text(of: .out))")
        #expect(await watcher.stop() == 0)
    }
}
