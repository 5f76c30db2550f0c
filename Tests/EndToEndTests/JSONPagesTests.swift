// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// A server of JSON in pages; it prints its port, then each request. It ends with its input.
private let server = #"""
    import json, sys, threading
    from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
    from urllib.parse import parse_qs, urlparse

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *arguments): pass

        def answer(self, value, headers={}):
            body = json.dumps(value).encode()
            self.send_response(200)
            for name, text in {"Content-Length": str(len(body)), **headers}.items(): self.send_header(name, text)
            self.end_headers()
            self.wfile.write(body)

        def said(self, body=None):
            print(json.dumps({"method": self.command, "path": self.path, "type": self.headers.get("Content-Type"), "body": body}), flush=True)

        def do_POST(self):
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            self.said(body)
            isFirst = "after" not in body["variables"]
            if self.path == "/limited" and not isFirst: return self.answer({"data": None, "errors": [{"message": "too fast"}]})
            node = {"id": 1 if isFirst else 2, "title": "a" if isFirst else "b", "state": "OPEN"}
            self.answer({"data": {"nodes": [node], "page": {"end": "C1", "more": isFirst}}})

        def do_GET(self):
            self.said()
            query = parse_qs(urlparse(self.path).query)
            start = int(query.get("start", ["0"])[0])
            items = [{"id": "n%d" % number} for number in range(5)][start:start + 2]
            if "link" in query:
                return self.answer(items, {"Link": '</?link=1&start=%d>; rel="next"' % (start + 2)} if start < 4 else {})
            self.answer({"total": 5, "items": items})

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    print(json.dumps({"port": server.server_port}), flush=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    sys.stdin.read()
    """#

@Suite("JSON in pages, over the wire", .timeLimit(.minutes(10)))
struct JSONPagesTests {
    /// The keys that one run finds, how it ended, and what the server was asked.
    private func run(_ path: String, _ options: String) async throws -> (
        Program.Result, keys: [String], asked: [[String: Any]]
    ) {
        let child = try Child("/usr/bin/env", ["python3", "-c", server])
        let line = try await child.wait { !$0.isEmpty }[0]
        let port = try #require(Program.object(line)?["port"] as? Int)
        let home = try Home()
        try home.write("sources: {s: {kind: json, url: \"http://127.0.0.1:\(port)\(path)\", \(options)}}")
        let result = try await home.vedette("run", "--once")
        let listed = try await home.vedette("list", "s", "--json")
        await child.destroy()
        let asked = child.text(of: .out).split(separator: "\n").dropFirst().compactMap { Program.object(String($0)) }
        return (result, listed.json.compactMap { $0.text("key") }, asked)
    }

    private static let graph =
        "body: {query: \"query($after: String) { x }\", variables: {first: 1}}, items: data.nodes, "
        + "paging: {cursor: data.page.end, more: data.page.more, variable: variables.after}"

    @Test("a GraphQL cursor goes into the second POST, beside what the first one held")
    func graphQL() async throws {
        let (result, keys, asked) = try await run("/graphql", JSONPagesTests.graph)
        #expect(result.code == 0, "\(result.err)")
        #expect(keys == ["1", "2"])
        #expect(asked.map { $0.text("type") } == ["application/json", "application/json"])
        #expect(asked.map { $0.text("body", "query") } == Array(repeating: "query($after: String) { x }", count: 2))
        #expect(asked.map { $0.text("body", "variables", "after") } == [nil, "C1"])
        #expect(asked.last?.at("body", "variables", "first") as? Int == 1)
    }

    @Test("an error on the second page fails the poll as a whole, in the server's words")
    func graphQLError() async throws {
        let (result, keys, asked) = try await run("/limited", JSONPagesTests.graph)
        #expect(result.code == 69)
        #expect((result.out + result.err).contains("too fast"), "\(result.out)\(result.err)")
        #expect(asked.count == 2 && keys.isEmpty)
    }

    @Test("offsets and Link headers lead through all pages of a list")
    func others() async throws {
        let all = ["n0", "n1", "n2", "n3", "n4"]
        let offsets = try await run(
            "/?q=1", "items: items, paging: {offset: 0, parameter: start, size: 2, total: total}")
        #expect(offsets.keys.sorted() == all)
        #expect(offsets.asked.map { $0.text("path") } == ["/?q=1", "/?q=1&start=2", "/?q=1&start=4"])
        let links = try await run("/?link=1", "title: id")
        #expect(links.keys.sorted() == all)
        #expect(links.asked.count == 3)
    }

    @Test("a jq program shapes what is polled and what is replayed")
    func shaped() async throws {
        let program = "jq: '.items[] | select(.id != \"n1\") | {id, title: (\"system \" + .id)}'"
        let (result, keys, asked) = try await run("/?q=1", program)
        #expect(result.code == 0, "\(result.err)")
        #expect(keys == ["n0"] && asked.count == 1)
        let home = try Home()
        try home.write("sources: {s: {kind: json, url: \"https://a.example\", \(program)}}")
        let files = try ["[]", #"[{"id": "n0"}, {"id": "n1"}]"#].enumerated().map { number, items in
            let file = home.directory.appending(path: "\(number).json")
            try #"{"items": \#(items)}"#.write(to: file, atomically: true, encoding: .utf8)
            return file.path
        }
        let replayed = try await Program.run(["replay", "s", "--json"] + files + home.places)
        #expect(replayed.json.map { $0.text("data", "item", "title") } == ["system n0"], "\(replayed.err)")
    }
}
