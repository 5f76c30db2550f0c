// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import VedetteTestSupport

@Suite("Links of messages, through the whole program", .timeLimit(.minutes(10)))
struct LinkTests {
    /// An item that goes down, a stand-in for ntfy, and a page with a token behind the name of a proxy.
    private struct World {
        static let host = "watch.example.com"
        let lab: Lab
        let home: Home
        private let rows: URL

        init() async throws {
            lab = try await Lab("receiver")
            home = try Home(lab)
            rows = home.directory.appending(path: "rows.json")
            let token = home.directory.appending(path: "token")
            _ = FileManager.default.createFile(
                atPath: token.path, contents: Data("token-of-the-page-0123".utf8),
                attributes: [.posixPermissions: 0o600])
            try write("up")
            try home.write(
                """
                sources: {rows: {kind: json, url: "\(rows.absoluteString)", key: id, title: title, state: state, every: 200ms}}
                sinks: {phone: {kind: ntfy, url: "\(lab["receiver"])", topic: t, links: true}}
                rules: [{name: down, when: {field: state, to: down}, remind: {every: 1h}, notify: [phone]}]
                settings:
                  listen: {address: "127.0.0.1:0", token: {file: "\(token.path)"}, hosts: [\(World.host)]}
                  public_url: https://\(World.host)
                """)
        }

        func write(_ state: String) throws {
            let text = #"[{"id": "a/../b", "title": "prod-1", "state": "\#(state)"}]"#
            try Data(text.utf8).write(to: rows, options: .atomic)
        }

        /// A watcher that offers its page.
        func start() async throws -> (watcher: Child, port: UInt16) {
            let watcher = try await home.watcher()
            try await watcher.wait(for: .err) { $0.contains { $0.contains("the page is at") } }
            return (watcher, try #require(watcher.pagePort))
        }

        /// The paths of the links in the first message, by what they are called.
        func links() async throws -> [String: String] {
            let post = try #require(try await lab.received(1, path: "/").first)
            let actions = Program.object(post.text("body") ?? "")?["actions"] as? [[String: Any]] ?? []
            let prefix = "https://\(World.host)"
            return try actions.reduce(into: [:]) { links, action in
                let url = try #require(action.text("url"))
                #expect(url.hasPrefix(prefix + "/link/") && action.text("action") == "view")
                links[action.text("label") ?? ""] = String(url.dropFirst(prefix.count))
            }
        }

        /// How the match was acknowledged; nil when it was not.
        func acknowledgement() async throws -> [String: Any]? {
            try await home.vedette("status", "--json").json.compactMap { $0["acknowledged"] as? [String: Any] }.first
        }

        var used: Int {
            let names = try? FileManager.default.contentsOfDirectory(atPath: home.state.path + "/links")
            return names?.count { $0.hasPrefix("used-") } ?? 0
        }
    }

    private func get(_ path: String, _ port: UInt16) async throws -> String {
        try await Wire.raw(
            "GET \(path) HTTP/1.1\r\nHost: \(World.host)\r\nConnection: close\r\n\r\n", port: port)
    }

    /// Opens a link and returns the token of its form.
    private func open(_ link: String, _ port: UInt16) async throws -> String {
        let page = try await get(link, port)
        #expect(page.hasPrefix("HTTP/1.1 200"), "\(page)")
        let rest = try #require(page.components(separatedBy: #"name="form" value=""#).dropFirst().first, "\(page)")
        return String(rest.prefix { $0 != "\"" })
    }

    /// Sends the form of a link.
    private func press(_ link: String, _ form: String, _ port: UInt16) async throws -> String {
        let body = "form=\(form)"
        return try await Wire.raw(
            "POST \(link) HTTP/1.1\r\nHost: \(World.host)\r\nOrigin: https://\(World.host)\r\n"
                + "Content-Length: \(body.utf8.count)\r\nConnection: close\r\n\r\n\(body)", port: port)
    }

    @Test("the links of a message act once, without the page's token, also after a kill -9, and nothing stores them")
    func once() async throws {
        let world = try await World()
        let (watcher, port) = try await world.start()
        try await watcher.wait(for: .err) { $0.contains { $0.contains("baseline of 1 item") } }
        try world.write("down")
        let links = try await world.links()
        let (acknowledge, snooze) = (try #require(links["Acknowledge"]), try #require(links["Snooze 1 h"]))
        #expect(try await get("/api/v1/status", port).hasPrefix("HTTP/1.1 401"))
        _ = try await (open(acknowledge, port), open(snooze, port))
        #expect(world.used == 0)
        #expect(try await world.home.vedette("silences", "--json").out.isEmpty)

        let form = try await open(acknowledge, port)
        async let one = press(acknowledge, form, port)
        async let two = press(acknowledge, form, port)
        let answers = try await [one, two]
        #expect(answers.map { $0.prefix(12) }.sorted() == ["HTTP/1.1 200", "HTTP/1.1 410"], "\(answers)")
        var said = try await world.acknowledgement()
        while said == nil { said = try await world.acknowledgement() }
        #expect(said?.text("host") == "a link")
        let explained = try await world.home.vedette("explain", "--now", "down", "prod-1").out
        #expect(explained.contains("acknowledged: prod-1, down, on a link"), "\(explained)")

        watcher.kill(SIGKILL)
        _ = await watcher.end(within: 10)
        let (next, nextPort) = try await world.start()
        let again = try await press(acknowledge, form, nextPort)
        #expect(again.hasPrefix("HTTP/1.1 410") && again.contains("used already"), "\(again)")
        let snoozed = try await press(snooze, open(snooze, nextPort), nextPort)
        #expect(snoozed.hasPrefix("HTTP/1.1 200"), "\(snoozed)")
        let silences = try await world.home.vedette("silences", "--json").json
        #expect(silences.count == 1 && silences.first?.text("rule") == "down")
        #expect(silences.first?.text("item") == "a/../b")
        #expect(await next.stop() == 0)

        let files = try FileManager.default.subpathsOfDirectory(atPath: world.home.state.path)
        #expect(files.contains { $0.hasPrefix("links/key-") } && world.used == 2)
        let stored = files.compactMap { FileManager.default.contents(atPath: world.home.state.path + "/" + $0) }
        for link in [acknowledge, snooze] {
            let body = try #require(link.split(separator: "/").last?.split(separator: ".").first)
            #expect(!stored.contains { $0.firstRange(of: Data(body.utf8)) != nil })
        }
    }
}
