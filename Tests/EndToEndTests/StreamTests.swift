// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import VedetteTestSupport

/// A server that pushes over kept connections: `POST /push` sends its body to all of them, and `POST /cut` cuts them. It
/// resumes behind `Last-Event-ID`, takes messages at `/hook`, and prints its port, then one object a line. It ends with its
/// input.
private let server = #"""
    import json, queue, sys, threading
    from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

    history, streams, lock = [], [], threading.Lock()
    def say(**values): print(json.dumps(values), flush=True)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        def log_message(self, *arguments): pass

        def do_POST(self):
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            with lock:
                if self.path == "/push":
                    history.append(body)
                    for stream in streams: stream.put(len(history))
                elif self.path == "/cut":
                    for stream in streams: stream.put(None)
                else: say(hook=json.loads(body)["data"]["item"]["state"])
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def chunk(self, text):
            self.wfile.write(b"%x\r\n%s\r\n" % (len(text), text.encode()))
            self.wfile.flush()

        def do_GET(self):
            last, stream = self.headers.get("Last-Event-ID"), queue.Queue()
            with lock:
                for number in range(int(last or 0), len(history)): stream.put(number + 1)
                streams.append(stream)
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            say(opened=last)
            try:
                self.chunk(": open\n\n")
                while number := stream.get(): self.chunk("id: %d\ndata: %s\n\n" % (number, history[number - 1]))
            except OSError: pass
            finally:
                self.close_connection = True
                with lock: streams.remove(stream)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    say(port=server.server_port)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    sys.stdin.read()
    """#

/// A server whose streams cannot be read, each in another way, until `POST /heal`: then each sends one good record and stays
/// open. It prints its port, then one object a line, and ends with its input.
private let brokenServer = #"""
    import json, sys, threading
    from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

    healed = threading.Event()
    def say(**values): print(json.dumps(values), flush=True)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        def log_message(self, *arguments): pass

        def do_POST(self):
            healed.set()
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def chunk(self, body):
            self.wfile.write(b"%x\r\n%s\r\n" % (len(body), body))
            self.wfile.flush()

        def do_GET(self):
            self.close_connection = True
            self.send_response(200)
            self.send_header("Content-Type", "application/x-ndjson")
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            say(opened=self.path)
            try:
                if healed.is_set(): self.chunk(b'{"id": "good"}\n')
                elif self.path == "/json": self.chunk(b'{"id": \n')
                elif self.path == "/long": self.chunk(b'{"id": "%s"}\n' % (b"x" * (1 << 20)))
                while self.path == "/endless" and not healed.is_set(): self.chunk(b"y" * (1 << 16))
                self.rfile.read(1)
            except OSError: pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    say(port=server.server_port)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    sys.stdin.read()
    """#

@Suite("Streams, over the wire", .timeLimit(.minutes(10)))
struct StreamTests {
    @Test("what a server pushes reaches the sink; a kill -9 and a cut connection leave no gap and repeat nothing")
    func resume() async throws {
        let child = try Child("/usr/bin/env", ["python3", "-c", server])
        let line = try await child.wait { !$0.isEmpty }[0]
        let port = try #require(Program.object(line)?["port"] as? Int)
        let origin = "http://127.0.0.1:\(port)"
        func push(_ state: String) async throws {
            let body = try JSONSerialization.data(withJSONObject: ["id": "job", "state": state])
            _ = try await Wire.call("POST", origin + "/push", body)
        }
        func told(_ states: [String]) async throws {
            let lines = try await child.wait { lines in
                lines.compactMap { Program.object($0)?["hook"] as? String }.count >= states.count
            }
            #expect(lines.compactMap { Program.object($0)?["hook"] as? String } == states)
        }
        let home = try Home()
        try home.write(
            """
            sources:
              jobs: {kind: json, url: "\(origin)/events", stream: true, mode: list, state: state, every: 1s, first: announce}
            sinks: {hook: {kind: webhook, url: "\(origin)/hook"}}
            rules: [{name: all, when: {any: [{appears: true}, {changes: state}]}, notify: hook}]
            """)
        let first = try await home.watcher()
        _ = try await child.wait { $0.contains { Program.object($0)?.keys.contains("opened") == true } }
        try await push("one")
        try await push("two")
        try await told(["one", "two"])
        #expect(try await home.status("jobs").text("connection") == "open")
        first.kill(SIGKILL)
        _ = await first.end()
        try await push("three")
        let second = try await home.watcher()
        try await told(["one", "two", "three"])
        _ = try await Wire.call("POST", origin + "/cut", Data())
        try await push("four")
        try await told(["one", "two", "three", "four"])
        second.kill(SIGTERM)
        #expect(await second.end(within: 10) == 0)
        #expect(try await home.status("jobs").text("connection") == nil)
        let events = try await home.events().compactMap { $0.text("data", "item", "state") }
        #expect(events == ["one", "two", "three", "four"])
        await child.destroy()
    }

    @Test(
        "I12: a stream whose records cannot be read is failing, once, until a record is stored, over a restart",
        .tags(.I12))
    func unreadable() async throws {
        let child = try Child("/usr/bin/env", ["python3", "-c", brokenServer])
        let line = try await child.wait { !$0.isEmpty }[0]
        let port = try #require(Program.object(line)?["port"] as? Int)
        let origin = "http://127.0.0.1:\(port)"
        let names = ["json", "long", "endless"]
        let home = try Home()
        let sources = names.map { "\($0): {kind: json, url: \"\(origin)/\($0)\", stream: true, every: 1s}" }
        try home.write("sources: {\(sources.joined(separator: ", "))}")
        let first = try await home.watcher()
        let tail = try Child(Program.path, ["tail", "--json", "--since", "1d"] + home.places)
        for name in names {
            let event = try await tail.event("source.failing") { $0.text("data", "source") == name }
            #expect(event.text("data", "error", "class") == (name == "json" ? "truncated" : "too-large"))
            #expect(try await home.status(name)["health"] as? String == "failing")
        }
        #expect(await first.stop() == 0)
        #expect(!first.text(of: .err).contains("answers again"), "\(first.text(of: .err))")
        let second = try await home.watcher()
        _ = try await Wire.call("POST", origin + "/heal", Data())
        for name in names {
            try await tail.event("source.recovered") { $0.text("data", "source") == name }
            let status = try await home.status(name)
            #expect(status["health"] as? String == "ok" && status.text("connection") == "open")
        }
        #expect(await second.stop() == 0)
        await tail.destroy()
        let events = try await home.events().compactMap { event in
            event.text("type").flatMap { $0.hasPrefix("io.vedette.source") ? $0 : nil }
        }
        #expect(
            events.sorted()
                == ["failing", "recovered"].flatMap { Array(repeating: "io.vedette.source.\($0)", count: 3) })
        await child.destroy()
    }

    @Test("probe proposes a stream for server-sent events, and what it prints is told from then on")
    func probed() async throws {
        let child = try Child("/usr/bin/env", ["python3", "-c", server])
        let line = try await child.wait { !$0.isEmpty }[0]
        let port = try #require(Program.object(line)?["port"] as? Int)
        let origin = "http://127.0.0.1:\(port)"
        func push(_ state: String) async throws {
            _ = try await Wire.call("POST", origin + "/push", Data(#"{"id": "job", "state": "\#(state)"}"#.utf8))
        }
        try await push("queued")
        try await push("running")
        let home = try Home()
        let probed = try await home.vedette("probe", origin + "/events", "--write", "jobs")
        #expect(probed.code == 0, "\(probed.err)")
        #expect(probed.err.contains("2 records of text/event-stream: a stream of JSON objects"), "\(probed.err)")
        let text = try String(contentsOf: home.config.appending(path: "jobs.yaml"), encoding: .utf8)
        #expect(text.contains("\n    stream: true\n") && text.contains("\n    key: id\n"), "\(text)")
        #expect(try await home.vedette("check").code == 0)
        let watcher = try await home.watcher()
        // The server's past is the baseline.
        while try await home.status("jobs").text("connection") != "open" {}
        try await push("done")
        try await watcher.wait { $0.contains { $0.contains("done") } }
        #expect(await watcher.stop() == 0)
        await child.destroy()
    }

    @Test("a brief connection reads what a server sends at once, and a server that does not push is polled")
    func brief() async throws {
        let child = try Child("/usr/bin/env", ["python3", "-c", server])
        let line = try await child.wait { !$0.isEmpty }[0]
        let port = try #require(Program.object(line)?["port"] as? Int)
        let origin = "http://127.0.0.1:\(port)"
        for id in ["a", "b"] {
            _ = try await Wire.call("POST", origin + "/push", Data(#"{"id": "\#(id)"}"#.utf8))
        }
        let home = try Home()
        try home.write("sources: {jobs: {kind: json, url: \"\(origin)/events\", stream: true, mode: list}}")
        let once = try await home.vedette("run", "--once")
        #expect(once.code == 0, "\(once.err)")
        #expect(try await home.vedette("list", "jobs", "--json").json.compactMap { $0.text("key") } == ["a", "b"])
        let fresh = try await home.vedette("list", "jobs", "--fresh", "--json")
        #expect(fresh.json.compactMap { $0.text("key") } == ["a", "b"], "\(fresh.err)")
        await child.destroy()
    }
}
