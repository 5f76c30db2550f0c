// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@Suite("Trials from the page of a watcher", .timeLimit(.minutes(10)))
struct PageTrialTests {
    private static let token = "token-of-the-page-0123"

    private static func post(_ port: UInt16, _ target: String, _ headers: [String], _ body: String) async throws
        -> String
    {
        let head = ["POST \(target) HTTP/1.1", "Host: localhost", "Connection: close"] + headers
        return try await Wire.raw(
            head.joined(separator: "\r\n") + "\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)", port: port)
    }

    private static func json(_ answer: String) throws -> [String: Any] {
        let body = try #require(answer.components(separatedBy: "\r\n\r\n").last)
        return try #require(try JSONSerialization.jsonObject(with: Data(body.utf8)) as? [String: Any], "\(answer)")
    }

    @Test("an address and a rule are tried with a token, and what is proposed passes check; without a token nothing is")
    func trials() async throws {
        let site = try await Site([
            "known.json": "[]", "more.json": #"[{"id": 7, "name": "prod-7", "state": "Ready"}]"#,
        ])
        let other = try await Site(["rows.json": #"[{"id": 1}]"#])
        let home = try Home()
        let rows = home.directory.appending(path: "rows.json")
        func write(_ state: String) throws {
            try #"[{"id": 1, "title": "prod-1", "state": "\#(state)"}]"#.write(
                to: rows, atomically: true, encoding: .utf8)
        }
        try write("Starting")
        func configuration(_ listen: String) -> String {
            """
            sources:
              rows: {kind: json, url: "\(rows.absoluteString)", key: id, title: title, state: state, every: 200ms}
              known: {kind: json, url: "\(site.url)/known.json", key: id, empty: valid, every: 1h}
            sinks: {hook: {kind: webhook, url: "http://127.0.0.1:1/"}}
            rules: [{name: ready, when: {source: rows, field: state, to: Gone}, notify: [hook]}]
            settings: {listen: \(listen)}
            """
        }
        let secret = home.directory.appending(path: "token")
        _ = FileManager.default.createFile(
            atPath: secret.path, contents: Data(Self.token.utf8), attributes: [.posixPermissions: 0o600])
        try home.write(configuration(#"{address: "127.0.0.1:0", token: {file: "\#(secret.path)"}}"#))
        let watcher = try await home.watcher()
        try await watcher.wait(for: .err) { $0.contains { $0.contains("baseline of 1 item") } }
        let port = try #require(watcher.pagePort)
        let bearer = "Authorization: Bearer \(Self.token)"

        let found = try Self.json(
            await Self.post(port, "/api/v1/probe", [bearer], #"{"address": "\#(site.url)/more.json"}"#))
        #expect(found["kind"] as? String == "json" && found["count"] as? Int == 1, "\(found)")
        let refused = try await Self.post(port, "/api/v1/probe", [bearer], #"{"address": "\#(other.url)/rows.json"}"#)
        #expect(refused.hasPrefix("HTTP/1.1 422") && refused.contains("private address"), "\(refused)")

        let page = try await Wire.raw(
            "GET /try HTTP/1.1\r\nHost: localhost\r\n\(bearer)\r\nConnection: close\r\n\r\n", port: port)
        let form = page.components(separatedBy: #"name="form" value=""#).dropFirst().first?.prefix { $0 != "\"" } ?? ""
        let address = "\(site.url)/more.json".addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
        let shown = try await Self.post(
            port, "/try", [bearer, "Origin: http://localhost"], "form=\(form)&what=address&address=\(address)")
        #expect(shown.hasPrefix("HTTP/1.1 200") && shown.contains("prod-7") && shown.contains("<pre "), "\(shown)")

        try write("Ready")
        while try await !home.vedette("tail", "--no-follow").out.contains("Ready") {}
        let rule =
            #"{"rule": "name: ready\nwhen: {source: rows, field: state, to: Ready}\nnotify: [hook]", "since": "1h"}"#
        let played = try Self.json(await Self.post(port, "/api/v1/test", [bearer], rule))
        let counts = played["counts"] as? [[String: Any]]
        #expect(counts?.first?["sent"] as? Int == 1 && counts?.first?["sink"] as? String == "hook", "\(played)")
        #expect(try await home.vedette("outbox", "--json").json.isEmpty)

        #expect(try FileManager.default.contentsOfDirectory(atPath: home.config.path) == ["vedette.yaml"])
        try home.write(try #require(found["yaml"] as? String), to: "more.yaml")
        let check = try await home.vedette("check")
        #expect(check.code == 0, "\(check.err)")
        try FileManager.default.removeItem(at: home.config.appending(path: "more.yaml"))

        #expect(await watcher.stop() == 0)
        try home.write(configuration(#""127.0.0.1:0""#))
        let open = try await home.watcher()
        try await open.wait(for: .err) { $0.contains { $0.contains("the page is at") } }
        let without = try await Self.post(
            #require(open.pagePort), "/api/v1/probe", [bearer], #"{"address": "\#(site.url)/more.json"}"#)
        #expect(without.hasPrefix("HTTP/1.1 403") && without.contains("settings.listen.token"), "\(without)")
        #expect(await open.stop() == 0)
        await site.end()
        await other.end()
    }
}
