// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// A server that refuses every request, with the reason in its body. It prints its port and ends with its input.
private let server = #"""
    import sys, threading
    from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *arguments): pass

        def do_GET(self):
            status, type, body = {
                "/systems": (404, "application/json", '{"message": "No such\\n system.", "status": 404}'),
                "/problem": (403, "application/problem+json", '{"title": "Wait", "detail": "for hunter-two-22 \\u001b[2J"}'),
                "/atom": (400, "application/xml", '<error xmlns="http://abdera.apache.org"><message>No.</message></error>'),
            }[self.path]
            self.send_response(status)
            self.send_header("Content-Type", type)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body.encode())

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    print(server.server_port, flush=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    sys.stdin.read()
    """#

@Suite("Refusals, over the wire", .timeLimit(.minutes(10)))
struct RefusalTests {
    @Test("what a server says when it refuses is shown by status, list and probe alike, without secrets")
    func alike() async throws {
        let child = try Child("/usr/bin/env", ["python3", "-c", server])
        let port = try #require(Int(try await child.wait { !$0.isEmpty }[0]))
        let origin = "http://127.0.0.1:\(port)"
        let home = try Home()
        try home.write("hunter-two-22", to: "key")
        try FileManager.default.setAttributes(
            [.posixPermissions: 0o600], ofItemAtPath: home.config.appending(path: "key").path)
        try home.write(
            """
            servers:
              keyed: {url: "\(origin)", headers: {X-Key: {file: "\(home.config.appending(path: "key").path)"}}}
            sources:
              systems: {kind: cloudburst, url: "\(origin)/systems"}
              problem: {kind: text, server: keyed, path: /problem}
              atom: {kind: feed, url: "\(origin)/atom"}
            """)
        _ = try await home.vedette("run", "--once")
        let words = ["systems": #""No such system.""#, "problem": #""Wait: for [secret] [2J""#, "atom": #""No.""#]
        for (name, words) in words {
            let error = try await home.status(name)["error"] as? [String: Any]
            let detail = error?["detail"] as? String ?? ""
            #expect(detail.contains(words), "\(detail)")
            let list = try await home.vedette("list", name, "--fresh")
            #expect(list.err.contains(words), "\(list.err)")
            let server = name == "problem" ? ["--server", "keyed"] : []
            let probe = try await Program.run(["probe", origin + "/\(name)"] + server + home.places)
            #expect(probe.code == 69 && probe.err.contains(words), "\(probe.err)")
            for text in [detail, list.err, probe.err] {
                #expect(!text.contains("hunter-two-22") && !text.contains("\u{1B}[2J"))
            }
        }
        await child.destroy()
    }
}
