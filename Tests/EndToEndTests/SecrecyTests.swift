// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import VedetteTestSupport

/// A server, a token's server, a receiver and a proxy in one. It prints its port, then what it was given to each path. Every
/// third answer to a path is an error that repeats the request, secrets and all. It ends with its input.
private let server = #"""
    import json, os, sys, threading
    from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
    from urllib.parse import urlparse

    counts, lock = {}, threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *arguments): pass

        def answer(self, status, value, headers={}):
            body = json.dumps(value).encode()
            self.send_response(status)
            for name, text in {"Content-Length": str(len(body)), **headers}.items(): self.send_header(name, text)
            self.end_headers()
            self.wfile.write(body)

        def do_POST(self):
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            self.said(urlparse(self.path).path, body)
            if self.path != "/token": return self.answer(204, None)
            self.answer(200, {"access_token": os.environ["S_ACCESS"], "token_type": "Bearer", "expires_in": 3600})

        def said(self, path, body=""):
            head = self.path + "\n" + str(self.headers) + body
            print(json.dumps({"path": path, "head": head}), flush=True)
            return head

        def do_GET(self):
            path = urlparse(self.path).path
            head = self.said(path)
            with lock: count = counts[path] = counts.get(path, 0) + 1
            if count % 3 == 0: return self.answer((401, 500, 403)[count // 3 % 3], {"error": head, "title": head})
            cookie = "sid=%s; Path=%s; Max-Age=3600" % (os.environ["S_COOKIE"], path)
            self.answer(200, [{"id": 1, "title": "turn %d" % count}], {"Set-Cookie": cookie})

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    print(json.dumps({"port": server.server_port}), flush=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    sys.stdin.read()
    """#

@Suite("Secrets are given to their server and to nobody else", .timeLimit(.minutes(10)))
struct SecrecyTests {
    static let secrets = [
        "S_BEARER": "b3arer-kept-secret", "S_QUERY": "qu3ry-kept-secret",
        "S_CLIENT": "cl1ent-kept-secret",
        "S_PROXY": "pr0xy-kept-secret", "S_HOOK": "h00k-kept-secret", "S_HEADER": "h3ader-kept-secret",
        "S_ACCESS": "acc3ss-kept-secret", "S_COOKIE": "c00kie-kept-secret",
    ]

    /// What the users of the passwords are called; both go out as one base64 text.
    static let encoded = ["client:cl1ent-kept-secret", "carrier:pr0xy-kept-secret"].map {
        Data($0.utf8).base64EncodedString()
    }

    /// All that a source, a proxy or a sink can be given to say who asks.
    private func configure(_ home: Home, port: Int, cookies: String) throws {
        let url = "http://127.0.0.1:\(port)"
        try home.write(
            """
            servers:
              bearer: {url: "\(url)/bearer", cookies: none, token: {env: S_BEARER}}
              header: {url: "\(url)/header", cookies: none, headers: {X-Key: {env: S_HEADER}}}
              query: {url: "\(url)/query", cookies: none, query: {api_key: {env: S_QUERY}}}
              cookie: {url: "\(url)/cookie", cookies: \(cookies)}
              grant:
                url: "\(url)/grant"
                cookies: none
                oauth2: {token_url: "\(url)/token", client_id: client, client_secret: {env: S_CLIENT}}
              carried:
                url: http://far.example/carried
                cookies: none
                proxy: {url: "\(url)", user: carrier, password: {env: S_PROXY}}
            sources:
            \(Self.servers.map { "  \($0): {kind: json, server: \($0), every: 100ms, fails: 1}" }.joined(separator: "\n"))
            sinks:
              out: {kind: stdout, format: json}
              hook: {kind: webhook, url: "\(url)/hook", headers: {X-Hook: {env: S_HOOK}}}
            rules:
              - {name: items, when: {source: "*", changes: [title]}, notify: [out, hook]}
              - {name: health, when: {source: "*", source_state: [failing, recovered]}, notify: [out, hook]}
            """)
    }

    static let servers = ["bearer", "header", "query", "cookie", "grant", "carried"]

    /// Every byte that a watcher says and keeps, by where it stands.
    private func watched(cookies: String) async throws -> [String: Data] {
        let place = await Place()
        defer { withExtendedLifetime(place) {} }
        let lab = try Child("/usr/bin/env", ["python3", "-c", server], environment: Self.secrets)
        let port = try #require(Program.object(try await lab.wait { !$0.isEmpty }[0])?["port"] as? Int)
        let home = try Home()
        try configure(home, port: port, cookies: cookies)
        let environment = Self.secrets.filter { !["S_ACCESS", "S_COOKIE"].contains($0.key) }
        let watcher = try Child(
            Program.path, ["run", "--verbose"] + home.places, environment: environment)
        let paths = Set(Self.servers.map { "/\($0)" } + ["/token", "/hook"])
        // The third answer to each is an error that repeats the request, the fourth is good again.
        let lines = try await lab.wait { lines in
            let asked = lines.compactMap { Program.object($0)?.text("path") }
            return paths.allSatisfy { path in
                asked.filter { $0 == path }.count >= (path == "/token" ? 1 : 7)
            }
        }
        for (name, secret) in Self.secrets where !["S_ACCESS", "S_CLIENT", "S_PROXY"].contains(name) {
            #expect(lines.contains { $0.contains(secret) }, "\(name) was never sent")
        }
        for text in Self.encoded {
            #expect(lines.contains { $0.contains(text) }, "\(text) was never sent")
        }
        var seen = ["cmdline": try Data(contentsOf: URL(filePath: "/proc/\(watcher.pid)/cmdline"))]
        for command in Self.commands {
            seen["\(command) while it runs"] = try await said(command, home, environment)
        }
        try read(home.state, into: &seen, "while it runs")
        #expect(await watcher.stop() == 0)
        try read(home.state, into: &seen, "afterwards")
        for command in Self.commands {
            seen["\(command) afterwards"] = try await said(command, home, environment)
        }
        (seen["stdout"], seen["stderr"]) = (
            Data(watcher.text(of: .out).utf8), Data(watcher.text(of: .err).utf8)
        )
        await lab.destroy()
        return seen
    }

    static let commands = [
        "status --json", "status", "tail --no-follow --json", "list cookie --json",
        "show query 1 --json",
        "outbox --json", "check", "list grant --fresh --json", "list carried --fresh",
    ]

    private func said(_ command: String, _ home: Home, _ environment: [String: String]) async throws
        -> Data
    {
        let arguments = command.split(separator: " ").map(String.init) + home.places
        let result = try await Program.run(arguments, environment: environment)
        return Data((result.out + result.err).utf8)
    }

    private func read(_ directory: URL, into seen: inout [String: Data], _ when: String) throws {
        for file in try FileManager.default.contentsOfDirectory(
            at: directory, includingPropertiesForKeys: nil)
        {
            seen["\(file.lastPathComponent) \(when)"] = try Data(contentsOf: file)
        }
    }

    private func places(of secret: String, in seen: [String: Data]) -> [String] {
        seen.filter { $0.value.range(of: Data(secret.utf8)) != nil }.keys.sorted()
    }

    @Test(
        "I9: no token, query secret, client's secret, cookie or proxy's password is in any file, line or command",
        .tags(.I9)
    )
    func nowhere() async throws {
        let seen = try await watched(cookies: "memory")
        #expect(
            seen["stdout"]?.isEmpty == false && seen["journal.db afterwards"]?.isEmpty == false,
            "\(seen.keys)")
        for secret in Array(Self.secrets.values) + Self.encoded {
            #expect(places(of: secret, in: seen) == [], "\(secret)")
        }
    }

    @Test("with 'cookies: journal' the cookie is in the journal's own files and nowhere else")
    func cookie() async throws {
        let seen = try await watched(cookies: "journal")
        let cookie = try #require(Self.secrets["S_COOKIE"])
        let found = places(of: cookie, in: seen)
        #expect(!found.isEmpty && found.allSatisfy { $0.hasPrefix("journal.db") }, "\(found)")
        for secret in Array(Self.secrets.values) + Self.encoded where secret != cookie {
            #expect(places(of: secret, in: seen) == [], "\(secret)")
        }
    }
}
