// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@Suite("probe: what is there, and how to watch it", .timeLimit(.minutes(10)))
struct ProbeTests {
    private static func fixtures() throws -> [URL] {
        let places = [ReplayTests.fixtures, ReplayTests.fixtures.appending(path: "presets")]
        return try places.flatMap { place in
            try FileManager.default.contentsOfDirectory(at: place, includingPropertiesForKeys: [.isRegularFileKey])
        }.filter { ["json", "xml", "html", "atom"].contains($0.pathExtension) }
    }

    @Test("whatever is probed, what is printed passes check, all in one directory")
    func checks() async throws {
        let home = try Home()
        var kinds: [String: Int] = [:]
        for file in try Self.fixtures() {
            let result = try await home.vedette("probe", "file://" + file.path)
            #expect([0, 65].contains(result.code), "\(file.lastPathComponent): \(result.err)")
            guard result.code == 0 else { continue }
            let kind = result.lines.first { $0.hasPrefix("    kind: ") }?.dropFirst(10) ?? "none"
            kinds[String(kind), default: 0] += 1
            try home.write(result.out, to: file.lastPathComponent + ".yaml")
        }
        let check = try await home.vedette("check")
        #expect(check.code == 0, "\(check.err)")
        #expect(kinds["cloudburst"] == 4 && (kinds["json"] ?? 0) > 20, "\(kinds)")
    }

    @Test("a page with a login form is watched as it is, and how to log in is said")
    func login() async throws {
        let home = try Home()
        let page = ReplayTests.fixtures.appending(path: "connections-login-200.html")
        let result = try await home.vedette("probe", "file://" + page.path)
        #expect(result.code == 0 && result.lines.contains { $0.hasPrefix("    kind: html") }, "\(result.out)")
        #expect(result.out.contains("'session: {login: …}'"), "\(result.out)")
        try home.write(result.out)
        #expect(try await home.vedette("check").code == 0)
    }

    @Test("a page without an end tag is proposed as html, and the address that answered after a redirect is named")
    func redirectedPage() async throws {
        let page = ReplayTests.fixtures.appending(path: "pages/no-end-tag.html")
        let site = try await Site(["shop/index.html": try String(contentsOf: page, encoding: .utf8)])
        let home = try Home()
        let result = try await home.vedette("probe", "\(site.url)/shop")
        #expect(result.code == 0 && result.lines.contains { $0.hasPrefix("    kind: html") }, "\(result.out)")
        #expect(result.err.contains("the answer came from another address, \(site.url)/shop/"), "\(result.err)")
        try home.write(result.out)
        #expect(try await home.vedette("check").code == 0)
        await site.end()
    }

    @Test("an empty list is proposed with empty as normal, and with both what comes and what goes")
    func emptyList() async throws {
        let home = try Home()
        let file = home.directory.appending(path: "alerts.json")
        try #"{"alerts": []}"#.write(to: file, atomically: true, encoding: .utf8)
        let result = try await home.vedette("probe", "file://" + file.path)
        #expect(result.code == 0, "\(result.err)")
        #expect(result.lines.contains { $0.hasPrefix("    empty: valid") })
        #expect(result.out.contains("any: [{appears: true}, {disappears: true}]"))
        try home.write(result.out)
        #expect(try await home.vedette("check").code == 0)
    }

    @Test("rows with prices are proposed with a rule for what comes, what goes and prices that change")
    func prices() async throws {
        let home = try Home()
        let file = home.directory.appending(path: "shop.html")
        let rows = (1...3).map { "<li><a href=/p/\($0)>Lamp \($0)</a> <b class=price>\($0)9,90 €</b></li>" }.joined()
        try "<!doctype html><html><body><h1>Lamps</h1><ul class=lamps>\(rows)</ul></body></html>"
            .write(to: file, atomically: true, encoding: .utf8)
        let result = try await home.vedette("probe", "file://" + file.path)
        #expect(result.code == 0, "\(result.err)")
        #expect(result.out.contains("any: [{appears: true}, {disappears: true}, {changes: [price]}]"), "\(result.out)")
        try home.write(result.out)
        #expect(try await home.vedette("check").code == 0)
    }

    @Test("probe --write makes the directory of --config")
    func newDirectory() async throws {
        let home = try Home()
        let file = ReplayTests.fixtures.appending(path: "cloudburst-virtualSystems-1.json")
        let directory = home.directory.appending(path: "new").path
        let places = ["--config", directory]
        let written = try await Program.run(["probe", "file://" + file.path, "--write", "systems"] + places)
        #expect(written.code == 0 && written.err.contains("written: \(directory)/systems.yaml"), "\(written.err)")
        #expect(try await Program.run(["check"] + places).code == 0)
        let missing = home.directory.appending(path: "sources.yaml").path
        let refused = try await Program.run(
            ["probe", "file://" + file.path, "--write", "systems", "--config", missing])
        #expect(refused.code == 64 && refused.err.contains("--config names one file"), "\(refused.err)")
        #expect(!FileManager.default.fileExists(atPath: missing))
        let failing = home.directory.appending(path: "other").path
        let failed = try await Program.run(
            ["probe", "file:///nowhere.json", "--write", "systems", "--config", failing])
        #expect(failed.code != 0 && !FileManager.default.fileExists(atPath: failing))
    }

    @Test("a feed is watched with what is printed, over http")
    func feed() async throws {
        let lab = try await Lab("feeds", "--feeds", "2")
        let home = try Home(lab)
        let result = try await home.vedette("probe", lab["feeds"] + "/feed/0.xml")
        #expect(result.code == 0, "\(result.err)")
        #expect(
            result.lines.contains("    kind: feed") && result.lines.contains("    url: \"\(lab["feeds"])/feed/0.xml\""))
        #expect(result.err.contains("KEY"), "a few items are shown: \(result.err)")
        try home.write(result.out)
        let run = try await home.vedette("run", "--once")
        #expect(run.code == 0 && run.err.contains("baseline"), "\(run.err)")
        let second = try await home.vedette("probe", lab["feeds"] + "/feed/0.xml")
        try home.write(second.out, to: "second.yaml")
        #expect(!second.out.contains("sinks:"), "the sink is there already")
        #expect(try await home.vedette("check").out.contains("2 sources, 1 sink, 2 rules"))
    }

    @Test("probe --write makes a file of the configuration, with the interval, and never over another one")
    func write() async throws {
        let lab = try await Lab("feeds", "--feeds", "1")
        let home = try Home(lab)
        let url = lab["feeds"] + "/feed/0.xml"
        let written = try await home.vedette("probe", url, "--write", "news")
        #expect(written.code == 0 && written.out.isEmpty, "\(written.err)")
        let path = home.config.path + "/news.yaml"
        #expect(written.err.contains("written: \(path), with the source news"), "\(written.err)")
        let text = try String(contentsOfFile: path, encoding: .utf8)
        #expect(text.contains("\n  news:\n    kind: feed\n") && text.contains("\n    every: 30m\n"), "\(text)")
        let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        #expect(mode == 0o600)
        #expect(try await home.vedette("check").code == 0)
        let again = try await home.vedette("probe", url, "--write", "news.yaml")
        #expect(again.code == 73 && again.err.contains("exists already"), "\(again.err)")
        let wrong = try await home.vedette("probe", url, "--write", "../news")
        #expect(wrong.code == 64 && wrong.err.contains("is no name of a file"), "\(wrong.err)")
    }

    @Test("a page's own feed is proposed instead of the page")
    func page() async throws {
        let site = try await Site([
            "index.html": """
            <!DOCTYPE html><html><head><title>News</title><base href="/sub/">
            <link rel="alternate" type="application/rss+xml" href="../missing.xml">
            <LINK TYPE="application/atom+xml" REL="feed alternate" HREF="/news.atom"></head><body>Hello</body></html>
            """,
            "news.atom": """
            <?xml version="1.0"?><feed xmlns="http://www.w3.org/2005/Atom"><title>News</title><id>f</id>
            <updated>2026-11-21T10:00:00Z</updated><entry><id>a</id><title>One</title>
            <updated>2026-11-21T10:00:00Z</updated></entry></feed>
            """,
        ])
        let home = try Home()
        let result = try await home.vedette("probe", site.url + "/index.html")
        #expect(result.code == 0, "\(result.err)")
        #expect(result.lines.contains("    url: \"\(site.url)/news.atom\""), "\(result.out)")
        #expect(result.lines.contains("# The feed of \(site.url)/index.html"))
        try home.write(result.out)
        #expect(try await home.vedette("run", "--once").code == 0)
        let list = try await home.vedette("list", site.url + "/news.atom", "--json")
        #expect(list.json.first?.text("key") == "a")
        await site.end()
    }

    @Test("--server lends its password and certificate; an appliance that answers browsers alone says so")
    func server() async throws {
        let world = try await Appliance()
        let shy = try await world.home.vedette("probe", "/resources/virtualSystems", "--server", "lab")
        #expect(shy.code == 69 && shy.err.contains("--user-agent"), "\(shy.err)")
        for options in [["--user-agent", "Mozilla/5.0 Firefox/115.0"], ["--kind", "cloudburst"]] {
            let result = try await Program.run(
                ["probe", "/resources/virtualSystems", "--server", "lab"] + options + world.home.places,
                environment: ["LAB_PASSWORD": Lab.password])
            #expect(result.code == 0, "\(result.err)")
            for line in ["    kind: cloudburst", "    server: lab", "    path: /resources/virtualSystems"] {
                #expect(result.lines.contains(line), "\(line): \(result.out)")
            }
            #expect(!(result.out + result.err).contains(Lab.password))
            try world.home.write(result.out, to: "probed-\(options[0]).yaml")
            #expect(try await world.home.vedette("check").code == 0)
        }
        let alone = try await world.home.vedette("probe", world.lab["appliance"] + "/resources/virtualSystems")
        #expect(alone.code == 69 && alone.err.contains("vedette trust"), "\(alone.err)")
        let elsewhere = try await world.home.vedette("probe", "https://example.com/", "--server", "lab")
        #expect(elsewhere.code == 64 && elsewhere.err.contains("is not on the server 'lab'"), "\(elsewhere.err)")
    }

    @Test("an API that is asked by POST gets method, body and headers, and what is printed asks in the same way")
    func post() async throws {
        let site = try await Asked()
        let home = try Home()
        try home.write("sinks: {desk: {kind: stdout}}\n", to: "sinks.yaml")
        let ask = ["--body", #"{"method": "list", "id": 1}"#, "--header", "X-Tenant: a b"]
        let result = try await Program.run(["probe", site.url + "/rpc"] + ask + home.places)
        #expect(result.code == 0, "\(result.err)")
        for line in [
            #"    body: {"method":"list","id":1}"#, #"    headers: {"X-Tenant": "a b"}"#, "    items: result",
            "    notify: [desk]",
        ] {
            #expect(result.lines.contains { $0.hasPrefix(line) }, "\(line): \(result.out)")
        }
        // The id is another one in each response, so the name is the key.
        #expect(result.lines.contains { $0.hasPrefix("    key: name") }, "\(result.out)")
        try home.write(result.out, to: "rpc.yaml")
        #expect(try await home.vedette("check").code == 0)
        #expect(try await home.vedette("run", "--once").code == 0)
        let again = try await Program.run(["probe", site.url + "/rpc"] + ask + home.places)
        try home.write(again.out, to: "again.yaml")
        #expect(try await home.vedette("check").out.contains("2 sources, 1 sink, 2 rules"))
        let secret = try await home.vedette("probe", site.url, "--header", "Authorization: Bearer hunter-two")
        #expect(secret.code == 64 && secret.err.contains("name that with --server"), "\(secret.err)")
        await site.end()
    }

    @Test("what cannot be probed is one sentence with the remedy")
    func refusals() async throws {
        let site = try await Site(["half.json": "[{\"id\": 1}, {\"id\":", "empty": ""])
        for (arguments, code, words) in [
            (["ci.example.com"], 64, "write it whole, as https://host/path"),
            ([site.url + "/none"], 69, "answers 404; check the path, or lend a server's"),
            ([site.url + "/none"], 69, "--kind http watches"),
            (["https://me:hunter-two-22@127.0.0.1/"], 64, "without a password in it"),
            ([site.url + "/empty"], 69, "answers with nothing"), (["http://127.0.0.1:1/"], 69, "refused"),
            ([site.url + "/half.json", "--kind", "jsn"], 64, "did you mean 'json'?"),
            ([site.url + "/half.json", "--kind", "json"], 65, "truncated"),
        ] {
            let result = try await Program.run(["probe"] + arguments)
            #expect(result.code == code && result.err.contains(words), "\(arguments): \(result.code): \(result.err)")
            #expect(result.out.isEmpty && !result.err.contains("hunter-two-22"))
        }
        let home = try Home()
        for command in [["list"], ["init", "--config", home.directory.path + "/new", "--url"]] {
            let other = try await Program.run(command + [site.url + "/none"])
            #expect(other.code == 69 && other.err.contains("(as options of `vedette probe`)"), "\(other.err)")
        }
        await site.end()
    }
}

/// A server that answers POST with a list, in which each row has another id each time.
private final class Asked: Sendable {
    let url: String
    private let child: Child

    private static let script = """
        import http.server, itertools, json
        count = itertools.count(1000)
        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                good = json.loads(body) == {"method": "list", "id": 1} and self.headers["X-Tenant"] == "a b"
                rows = [{"id": next(count), "name": name, "state": state} for name, state in [("web", "up"), ("db", "down")]]
                text = json.dumps({"result": rows} if good else {"error": "no"}).encode()
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(text)))
                self.end_headers()
                self.wfile.write(text)
            def log_message(self, *words): pass
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        print("port", server.server_port, flush=True)
        server.serve_forever()
        """

    init() async throws {
        child = try Child("/usr/bin/env", ["python3", "-u", "-c", Asked.script])
        let line = try await child.wait { !$0.isEmpty }[0]
        guard let port = line.split(separator: " ").last.flatMap({ Int($0) }) else {
            throw Trouble("the server said: \(line)")
        }
        url = "http://127.0.0.1:\(port)"
    }

    func end() async { await child.destroy() }
}
