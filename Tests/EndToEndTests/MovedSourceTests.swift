// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// A server whose `/old` was moved to `/new` for good, and whose `/gone` is gone. It prints its port and ends with its input.
private let server = #"""
    import sys, threading
    from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *arguments): pass

        def do_GET(self):
            path, _, query = self.path.partition("?")
            body = b'[{"id": 1}]' if path == "/new" else b""
            self.send_response({"/new": 200, "/old": 308}.get(path, 410))
            if path == "/old": self.send_header("Location", "/new?" + query)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    print(server.server_port, flush=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    sys.stdin.read()
    """#

@Suite("Sources that their server has moved, or taken away", .timeLimit(.minutes(10)))
struct MovedSourceTests {
    @Test("a permanent redirect is named in the log once, in status, on the page and by doctor; 410 says what it means")
    func moved() async throws {
        let child = try Child("/usr/bin/env", ["python3", "-c", server])
        let port = try #require(Int(try await child.wait { !$0.isEmpty }[0]))
        let origin = "http://127.0.0.1:\(port)"
        let home = try Home()
        try home.write(
            """
            sources:
              old: {kind: json, url: "\(origin)/old?page=1", every: 200ms}
              gone: {kind: json, url: "\(origin)/gone", every: 200ms}
            """)
        let watcher = try await home.watcher()
        let moved = "\(origin)/new?page=1"
        try await watcher.wait(for: .err) { lines in
            lines.contains { $0.contains("old: its server has moved it for good to \(moved)") }
                && lines.contains { $0.contains("gone: the server answered 410; it is gone for good") }
        }
        #expect(await watcher.stop() == 0)
        let status = try await home.vedette("status", "old")
        #expect(status.out.contains("moved for good to \(moved)"), "\(status.out)")
        #expect(try await home.status("old").text("movedTo") == moved)
        #expect(try await home.status("gone")["health"] as? String == "failing")
        let doctor = try await home.vedette("doctor", "--offline")
        #expect(doctor.out.contains("its server has moved it for good to \(moved)"), "\(doctor.out)")
        let again = try await home.vedette("run", "--once")
        #expect(!again.err.contains("moved it for good"), "\(again.err)")
        // The configuration follows.
        try home.write("sources: {old: {kind: json, url: \"\(moved)\", every: 200ms}}")
        #expect(try await home.status("old").text("movedTo") == nil)
        #expect(try await !home.vedette("doctor", "--offline").out.contains("moved it for good"))
        await child.destroy()
    }
}
