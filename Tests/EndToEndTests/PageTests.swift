// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import Testing
import VedetteTestSupport

@Suite("The page of a watcher", .timeLimit(.minutes(10)))
struct PageTests {
    /// A watcher with a page on a free port, and one source whose rows a test changes.
    private struct World {
        let home: Home
        let rows: URL
        let watcher: Child
        let port: UInt16

        init(_ settings: String = #"{listen: "127.0.0.1:0"}"#) async throws {
            home = try Home()
            rows = home.directory.appending(path: "rows.json")
            try #"[{"id": 1, "title": "prod-1", "state": "Starting"}]"#.write(
                to: rows, atomically: true, encoding: .utf8)
            try home.write(World.configuration(rows, settings))
            watcher = try await home.watcher()
            try await watcher.wait(for: .err) { $0.contains { $0.contains("baseline of 1 item") } }
            port = try #require(watcher.pagePort)
        }

        static func configuration(_ rows: URL, _ settings: String) -> String {
            """
            sources: {rows: {kind: json, url: "\(rows.absoluteString)", key: id, title: title, state: state, every: 200ms}}
            sinks: {hook: {kind: webhook, url: "http://127.0.0.1:1/"}}
            rules: [{name: ready, when: {field: state, to: Ready}, notify: [hook]}]
            settings: \(settings)
            """
        }

        func get(_ target: String, _ headers: String = "Host: localhost") async throws -> String {
            try await Wire.raw("GET \(target) HTTP/1.1\r\n\(headers)\r\nConnection: close\r\n\r\n", port: port)
        }

        func post(_ target: String, _ body: String, _ headers: String) async throws -> String {
            try await Wire.raw(
                "POST \(target) HTTP/1.1\r\n\(headers)\r\nContent-Length: \(body.utf8.count)\r\nConnection: close\r\n\r\n\(body)",
                port: port)
        }

        /// Sends a form as the page's own buttons do.
        func press(_ action: String, _ fields: String) async throws -> String {
            let page = try await get("/sources/rows")
            let token = page.components(separatedBy: #"name="form" value=""#).dropFirst().first ?? ""
            return try await post(
                "/do/\(action)", "form=\(token.prefix { $0 != "\"" })&\(fields)",
                "Host: localhost\r\nOrigin: http://localhost")
        }
    }

    @Test("the page shows sources, items and events, and its buttons do what the commands do")
    func pages() async throws {
        let world = try await World()
        try #"[{"id": 1, "title": "<b>prod-1</b>", "state": "Ready"}]"#.write(
            to: world.rows, atomically: true, encoding: .utf8)
        while try await !world.get("/events").contains("Ready") {}
        let overview = try await world.get("/")
        #expect(overview.hasPrefix("HTTP/1.1 200") && overview.contains("&lt;b&gt;prod-1&lt;/b&gt;"))
        #expect(!overview.contains("<b>prod-1</b>"))
        #expect(try await world.get("/sources/rows/item?key=1").contains("Starting"))
        #expect(try await world.get("/events/1").contains("<b>ready</b>"))
        #expect(try await world.press("mute", "source=rows").contains("notice=silenced"))
        let silences = try await world.home.vedette("silences", "--json")
        #expect(silences.json.first?["source"] as? String == "rows", "\(silences.out)")
        #expect(try await world.press("unsilence", "id=1").contains("notice=unsilenced"))
        #expect(try await world.press("drop", "id=1").contains("notice=dropped"))
        #expect(try await world.get("/outbox").contains("dropped by hand"))
        #expect(try await world.press("poll", "source=rows").contains("notice=polled"))
        #expect(await world.watcher.stop() == 0)
    }

    @Test("a stream of changes tells a browser when to look again, and ends with the watcher")
    func stream() async throws {
        let world = try await World()
        let stream = try Wire.open(world.port)
        defer { close(stream) }
        let request = "GET /live HTTP/1.1\r\nHost: localhost\r\n\r\n"
        #expect(try await Wire.read(from: stream, after: request) { $0.contains("retry:") }.contains("event-stream"))
        try #"[{"id": 1, "title": "prod-1", "state": "Ready"}]"#.write(
            to: world.rows, atomically: true, encoding: .utf8)
        #expect(try await Wire.read(from: stream) { $0.contains("event: changed") }.contains("event: changed"))
        #expect(await world.watcher.stop() == 0)
        _ = try await Wire.read(from: stream) { _ in false }
    }

    @Test("a reload with another token ends the streams and the cookies that the last one opened")
    func replacedToken() async throws {
        let place = FileManager.default.temporaryDirectory.appending(path: "vedette-token-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: place) }
        func write(_ token: String) {
            _ = FileManager.default.createFile(
                atPath: place.path, contents: Data(token.utf8), attributes: [.posixPermissions: 0o600])
        }
        write("first-token-of-the-page")
        let world = try await World(#"{listen: {address: "127.0.0.1:0", token: {file: "\#(place.path)"}}}"#)
        func login(_ token: String) async throws -> String {
            let answer = try await world.post("/login", "token=\(token)", "Host: localhost\r\nOrigin: http://localhost")
            #expect(!answer.contains(token) && !answer.contains(Data(token.utf8).base64EncodedString()))
            let cookie = answer.components(separatedBy: "Set-Cookie: ").dropFirst().first ?? ""
            return "Host: localhost\r\nCookie: \(cookie.prefix { $0 != ";" })"
        }
        let cookie = try await login("first-token-of-the-page")
        #expect(try await world.get("/", cookie).hasPrefix("HTTP/1.1 200"))
        let stream = try Wire.open(world.port)
        defer { close(stream) }
        let request = "GET /live HTTP/1.1\r\n\(cookie)\r\nConnection: close\r\n\r\n"
        #expect(try await Wire.read(from: stream, after: request) { $0.contains("retry:") }.contains("event-stream"))
        write("second-token-of-the-page")
        world.watcher.kill(SIGHUP)
        _ = try await Wire.read(from: stream) { _ in false }
        var byte: UInt8 = 0
        #expect(recv(stream, &byte, 1, 0) == 0, "the server has ended it")
        #expect(try await world.get("/", cookie).hasPrefix("HTTP/1.1 401"))
        #expect(try await world.get("/", try await login("second-token-of-the-page")).hasPrefix("HTTP/1.1 200"))
        #expect(await world.watcher.stop() == 0)
    }

    @Test("requests of other sites, of other names and without a token change and read nothing", .tags(.I9))
    func strangers() async throws {
        let world = try await World()
        #expect(try await world.get("/", "Host: evil.example.com").hasPrefix("HTTP/1.1 421"))
        let forged = "Host: localhost\r\nOrigin: http://evil.example.com"
        #expect(try await world.post("/do/mute", "source=rows", forged).hasPrefix("HTTP/1.1 403"))
        let tokenless = "Host: localhost\r\nOrigin: http://localhost"
        #expect(try await world.post("/do/mute", "source=rows", tokenless).hasPrefix("HTTP/1.1 403"))
        let embedded =
            "Host: localhost\r\nSec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: no-cors\r\nSec-Fetch-Dest: image"
        for target in ["/", "/live", "/metrics", "/events.atom", "/api/v1/items?source=rows", "/api/v1/openapi.json"] {
            #expect(try await world.get(target, embedded).hasPrefix("HTTP/1.1 403"), "\(target)")
        }
        #expect(try await world.get("/badge/rows/1.svg", embedded).hasPrefix("HTTP/1.1 200"))
        for target in ["/../../etc/passwd", "/sources/..%2f..%2fetc/passwd", "//etc/passwd", "/%2e%2e/x"] {
            let answer = try await world.get(target)
            #expect(answer.hasPrefix("HTTP/1.1 4") && !answer.contains("root:"), "\(target): \(answer.prefix(40))")
        }
        #expect(try await world.home.vedette("silences").err.contains("no silence is set"))
        #expect(await world.watcher.stop() == 0)
    }

    @Test("malformed, ambiguous and huge requests are refused, and the page goes on")
    func malformed() async throws {
        let world = try await World()
        let smuggled = "GET /sources/rows HTTP/1.1\r\nHost: localhost\r\n\r\n"
        for request in [
            "GET / HTTP/1.1\r\nHost: localhost\r\nX: \(String(repeating: "a", count: 200_000))\r\n\r\n",
            "GET /\(String(repeating: "a", count: 200_000)) HTTP/1.1\r\nHost: localhost\r\n\r\n",
            "GET / HTTP/1.1\r\n\r\n", "\u{0}\u{1}\u{2}\r\n\r\n", "GET / HTTP/9.9\r\nHost: localhost\r\n\r\n",
            "POST /do/mute HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999999\r\n\r\n",
            "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n\(smuggled)",
            "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\nContent-Length: 60\r\n\r\n\(smuggled)",
            "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length : 60\r\n\r\n\(smuggled)",
        ] {
            let answer = try await Wire.raw(request, port: world.port)
            #expect(!answer.contains("HTTP/1.1 200"), "\(request.prefix(60)): \(answer.prefix(60))")
        }
        #expect(try await world.get("/").hasPrefix("HTTP/1.1 200"))
        #expect(await world.watcher.stop() == 0)
    }

    @Test("connections that send nothing are cut off, and hold up neither polls nor the end", .tags(.I7))
    func idleConnections() async throws {
        let world = try await World()
        // More than one address may have.
        let idle = try (0..<450).map { _ in try Wire.open(world.port) }
        defer { for descriptor in idle { close(descriptor) } }
        try #"[{"id": 1, "title": "prod-1", "state": "Ready"}]"#.write(
            to: world.rows, atomically: true, encoding: .utf8)
        while try await !world.home.vedette("tail", "-n", "5", "--no-follow").out.contains("Ready") {}
        while try await !world.get("/").hasPrefix("HTTP/1.1 200") { _ = try await world.home.vedette("status") }
        #expect(await world.watcher.stop() == 0)
    }

    @Test("a reload moves the page, an address in use leaves it where it was, and without an address there is none")
    func reload() async throws {
        let world = try await World()
        let (blocker, taken) = try Wire.listen()
        defer { close(blocker) }
        try world.home.write(World.configuration(world.rows, #"{listen: "127.0.0.1:\#(taken)"}"#))
        try await world.watcher.wait(for: .err) {
            $0.contains { $0.contains("failed to offer the page") && $0.contains("it stays at") }
        }
        #expect(try await world.get("/").hasPrefix("HTTP/1.1 200"))
        let socket = "\(world.home.directory.path)/page.sock"
        try world.home.write(World.configuration(world.rows, "{listen: 'unix:\(socket)'}"))
        try await world.watcher.wait(for: .err) { $0.contains { $0.contains("the page is at unix:") } }
        #expect(FileManager.default.fileExists(atPath: socket))
        await #expect(throws: Trouble.self) { try await world.get("/") }
        try world.home.write(World.configuration(world.rows, "{give_up: 10h}"))
        try await world.watcher.wait(for: .err) { $0.count { $0.contains("reloaded:") } >= 3 }
        while FileManager.default.fileExists(atPath: socket) { await Task.yield() }
        #expect(await world.watcher.stop() == 0)
    }

    @Test("check refuses an address for other machines without a token, and names the remedy")
    func publicAddress() async throws {
        let home = try Home()
        try home.write(
            """
            sources: {rows: {kind: json, url: "file:///dev/null"}}
            settings: {listen: "0.0.0.0:8420"}
            """)
        let check = try await home.vedette("check")
        #expect(check.code == 78 && check.err.contains("needs a token"), "\(check.err)")
    }
}
