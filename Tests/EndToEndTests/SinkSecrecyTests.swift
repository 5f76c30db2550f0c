// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import VedetteTestSupport

/// A receiver whose every answer is an error that repeats the request, secrets and all; it prints its port, then each path.
private let receiver = #"""
    import json, sys, threading
    from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

    counts, lock = {}, threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *arguments): pass

        def do_POST(self):
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            head = self.path + "\n" + str(self.headers) + body
            with lock: count = counts[self.path] = counts.get(self.path, 0) + 1
            # The word that a service would put there: of the address, or of the header that says who asks.
            said = self.path.strip("/").split("/") + [v.split(" ")[-1] for n, v in self.headers.items() if n in (
                "Authorization", "X-Gotify-Key")]
            words = said[count % len(said)] if self.path != "/" else json.loads(body)["topic"]
            answer = json.dumps({"error": {"code": head, "status": words}, "errcode": words, "ok": False, "id": words,
                                 "description": words, "message": head}).encode()
            self.send_response((500, 429, 400)[count % 3])
            self.send_header("Content-Length", str(len(answer)))
            self.send_header("Retry-After", "0")
            self.end_headers()
            self.wfile.write(answer)
            # One write for a line: `print` writes its end apart, and another thread's line may come between.
            with lock: print(json.dumps({"path": self.path, "head": head}) + "\n", end="", flush=True)

        do_PUT = do_POST

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    print(json.dumps({"port": server.server_port}), flush=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    sys.stdin.read()
    """#

@Suite("Secrets of sinks are given to their receivers and to nobody else", .timeLimit(.minutes(10)))
struct SinkSecrecyTests {
    /// The name of the sink and of its variable, and what must be nowhere.
    static let secrets = [
        "S_SLACK": "sl4ckS3cretSl4ckS3cret", "S_MATTERMOST": "m4tterS3cretM4tterS3cret",
        "S_DISCORD": "d1scordS3cretD1scordS3cret", "S_TEAMS": "t3amsS3cretT3amsS3cret",
        "S_GOOGLE": "g00gleS3cretG00gleS3cret", "S_MATRIX": "syt_m4trixS3cretM4trixS3cret",
        "S_NTFY": "ntfyS3cretNtfyS3cret", "S_NTFY_TOKEN": "tk_ntfyT0kenNtfyT0ken",
        "S_GOTIFY": "g0tifyS3cretG0tifyS3cret",
        "S_TELEGRAM": "AAt3legramS3cretT3legramS3cret_x", "S_HOOK": "h00kS3cretH00kS3cret",
        "S_TOKEN": "b3arerS3cretB3arerS3cret", "S_PASSWORD": "p4sswordS3cretP4sswordS3cret",
        "S_SIGN": Data("s1gnS3cretS1gnS3cretS1gn".utf8).base64EncodedString(),
    ]

    private static func environment(_ url: String) -> [String: String] {
        var all = secrets
        for (name, path) in [
            ("S_SLACK", "/slack/"), ("S_MATTERMOST", "/hooks/"), ("S_DISCORD", "/discord/"), ("S_TEAMS", "/teams/"),
            ("S_GOOGLE", "/google/"), ("S_HOOK", "/hook/"),
        ] { all[name] = url + path + (secrets[name] ?? "") }
        all["S_TELEGRAM"] = "123456789:" + (secrets["S_TELEGRAM"] ?? "")
        all["S_SIGN"] = "whsec_" + (secrets["S_SIGN"] ?? "")
        return all
    }

    static let sinks = [
        "slack", "mattermost", "discord", "teams", "googlechat", "matrix", "ntfy", "gotify", "telegram", "hook",
        "basic",
    ]

    private static func configuration(_ url: String, list: String) -> String {
        """
        sources:
          s: {kind: json, url: "file://\(list)", state: state, every: 100ms}
        sinks:
          slack: {kind: slack, url: {env: S_SLACK}}
          mattermost: {kind: mattermost, url: {env: S_MATTERMOST}}
          discord: {kind: discord, url: {env: S_DISCORD}}
          teams: {kind: teams, url: {env: S_TEAMS}}
          googlechat: {kind: googlechat, url: {env: S_GOOGLE}}
          matrix: {kind: matrix, url: "\(url)", token: {env: S_MATRIX}, room: "!r:x"}
          ntfy: {kind: ntfy, url: "\(url)", topic: {env: S_NTFY}, token: {env: S_NTFY_TOKEN}}
          gotify: {kind: gotify, url: "\(url)", token: {env: S_GOTIFY}}
          telegram: {kind: telegram, url: "\(url)", token: {env: S_TELEGRAM}, chat: "1"}
          hook: {kind: webhook, url: {env: S_HOOK}, token: {env: S_TOKEN}, sign: {env: S_SIGN}}
          basic: {kind: webhook, url: "\(url)/basic", user: ann, password: {env: S_PASSWORD}}
        rules:
          - {name: any, when: {field: state}, notify: [\(sinks.joined(separator: ", "))]}
        """
    }

    @Test("I9: receivers that repeat what they were sent get it into no reason, log, journal or command", .tags(.I9))
    func nowhere() async throws {
        let place = await Place()
        defer { withExtendedLifetime(place) {} }
        let lab = try Child("/usr/bin/env", ["python3", "-c", receiver])
        let port = try #require(Program.object(try await lab.wait { !$0.isEmpty }[0])?["port"] as? Int)
        let (url, home) = ("http://127.0.0.1:\(port)", try Home())
        let list = home.directory.appending(path: "list.json")
        try Data(#"[{"id": 1, "state": "a"}]"#.utf8).write(to: list)
        try home.write(Self.configuration(url, list: list.path))
        let environment = Self.environment(url)
        let watcher = try Child(Program.path, ["run", "--verbose"] + home.places, environment: environment)
        try await watcher.wait(for: .err) { $0.contains { $0.contains("baseline") } }
        try Data(#"[{"id": 1, "state": "b"}]"#.utf8).write(to: list, options: .atomic)
        // The first answer to each is a 429 that asks for no rest, the second a 400.
        let sent = try await lab.wait {
            Set($0.compactMap { Program.object($0)?.text("path") }).count >= Self.sinks.count
        }
        for (name, secret) in Self.secrets where !["S_SIGN", "S_PASSWORD"].contains(name) {
            #expect(sent.contains { $0.contains(secret) }, "\(name) was never sent")
        }
        var seen = [Data(watcher.text(of: .err).utf8)]
        for command in ["outbox", "outbox --json", "status --json", "tail --no-follow --json"] {
            let result = try await Program.run(
                command.split(separator: " ").map(String.init) + home.places, environment: environment)
            seen.append(Data((result.out + result.err).utf8))
        }
        #expect(await watcher.stop() == 0)
        seen += [Data(watcher.text(of: .out).utf8), Data(watcher.text(of: .err).utf8)]
        for file in try FileManager.default.contentsOfDirectory(at: home.state, includingPropertiesForKeys: nil) {
            seen.append(try Data(contentsOf: file))
        }
        await lab.destroy()
        let encoded = Data("ann:\(Self.secrets["S_PASSWORD"] ?? "")".utf8).base64EncodedString()
        #expect(seen.contains { $0.firstRange(of: Data("the receiver answered".utf8)) != nil })
        for secret in Array(Self.secrets.values) + [encoded] {
            #expect(!seen.contains { $0.firstRange(of: Data(secret.utf8)) != nil }, "\(secret)")
        }
    }
}
