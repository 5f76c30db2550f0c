// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The stand-in servers of Tests/lab.
final class Lab: Sendable {
    static let password = "s3cret-lab-pass"
    let child: Child
    private let addresses: [String: String]
    private let place: Place
    /// The lab's temporary folder, removed here since the lab is killed.
    private let folder = FileManager.default.temporaryDirectory.appending(path: "vedette-lab-\(UUID().uuidString)")

    init(_ servers: String, _ options: String...) async throws {
        place = await Place()
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        child = try Child(
            "/usr/bin/env",
            [
                "python3", Program.root.appending(path: "Tests/lab/lab.py").path, "--only", servers, "--password",
                Lab.password,
            ]
                + options, environment: ["TMPDIR": folder.path])
        let line = try await child.wait { !$0.isEmpty }[0]
        guard let object = Program.object(line) else { throw Trouble("the lab said: \(line)") }
        addresses = object.compactMapValues { $0 as? String }
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    subscript(name: String) -> String { addresses[name] ?? "" }

    func end() async { await child.destroy() }

    @discardableResult
    func get(_ server: String, _ path: String) async throws -> Any {
        try await call("GET", self[server] + path, nil)
    }

    @discardableResult
    func post(_ server: String, _ path: String, _ body: [String: Any] = [:]) async throws -> Any {
        try await call("POST", self[server] + path, try JSONSerialization.data(withJSONObject: body))
    }

    private func call(_ method: String, _ url: String, _ body: Data?) async throws -> Any {
        let data = try await Wire.call(method, url, body)
        return (try? JSONSerialization.jsonObject(with: data, options: .fragmentsAllowed)) ?? ""
    }

    /// The posts that the receiver took, once there are `count` of them.
    func received(_ count: Int, path: String = "") async throws -> [[String: Any]] {
        let answer = try await get(
            "receiver", "/received?min=\(count)&timeout=20&accepted=1\(path.isEmpty ? "" : "&path=\(path)")")
        let posts = (answer as? [[String: Any]]) ?? ((answer as? [String: Any])?["received"] as? [[String: Any]]) ?? []
        guard posts.count >= count else { throw Trouble("only \(posts.count) of \(count) posts came: \(answer)") }
        return posts
    }
}

/// A user's directories, gone at the end.
final class Home: Sendable {
    let directory: URL
    /// Live as long as what uses them: a value is let go of after its last use, not at the end of a function.
    private let labs: [Lab]

    init(_ labs: Lab...) throws {
        self.labs = labs
        directory = FileManager.default.temporaryDirectory.appending(path: "vedette-test-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: config, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: directory) }

    var config: URL { directory.appending(path: "config") }
    var state: URL { directory.appending(path: "state") }
    var places: [String] { ["--config", config.path, "--state", state.path] }

    func write(_ text: String, to name: String = "vedette.yaml") throws {
        try text.write(to: config.appending(path: name), atomically: true, encoding: .utf8)
    }

    func vedette(
        _ arguments: String..., environment: [String: String] = ["LAB_PASSWORD": Lab.password], limit: Int = 120
    )
        async throws -> Program.Result
    {
        try await Program.run(arguments + places, environment: environment, limit: limit)
    }

    /// A watcher that has read its configuration.
    func watcher(_ options: String...) async throws -> Child {
        let child = try Child(Program.path, ["run"] + options + places, environment: ["LAB_PASSWORD": Lab.password])
        try await child.wait(for: .err) { $0.contains { $0.contains("watching") } }
        return child
    }

    /// What `list --json` prints of a source.
    func items(_ source: String) async throws -> [String] {
        let result = try await vedette("list", source, "--json")
        guard result.code == 0 else { throw Trouble("list: \(result.code): \(result.err)") }
        return result.lines
    }

    /// The record of a source in `status --json`.
    func status(_ source: String) async throws -> [String: Any] {
        let result = try await vedette("status", "--json")
        guard result.code == 0 else { throw Trouble("status: \(result.code): \(result.err)") }
        let all = result.json
        guard let found = all.first(where: { $0["source"] as? String == source }) else {
            throw Trouble("no \(source) in \(all)")
        }
        return found
    }

    /// The record of a sink in `status --json`.
    func sink(_ sink: String) async throws -> [String: Any] {
        let all = try await vedette("status", "--json").json
        guard let found = all.first(where: { $0["sink"] as? String == sink }) else {
            throw Trouble("no \(sink) in \(all)")
        }
        return found
    }

    /// The rows that a statement gives in the journal, or in another one, by Python's sqlite3.
    func sqlite(_ statement: String, in journal: String? = nil) async throws -> String {
        let script = """
            import sqlite3, sys
            with sqlite3.connect(sys.argv[1], timeout=30) as db:
                for row in db.execute(sys.argv[2]): print(*row)
            """
        let path = journal ?? state.appending(path: "journal.db").path
        let child = try Child("/usr/bin/python3", ["-c", script, path, statement])
        guard await child.end(within: 60) == 0 else { throw Trouble(child.text(of: .err)) }
        return child.text(of: .out).trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// Every event of the journal, oldest first.
    func events() async throws -> [[String: Any]] {
        try await vedette("tail", "--no-follow", "--json", "--since", "1d").json
    }
}

extension [String: Any] {
    /// `event.at("data", "item", "state")`
    func at(_ path: String...) -> Any? {
        path.reduce(self as Any?) { ($0 as? [String: Any])?[$1] }
    }

    func text(_ path: String...) -> String? { path.reduce(self as Any?) { ($0 as? [String: Any])?[$1] } as? String }

    /// The `webhook-id` of a post that the receiver remembers.
    var messageID: String {
        let headers = (self["headers"] as? [[String]]) ?? []
        return headers.first { $0.first?.lowercased() == "webhook-id" }?.last ?? ""
    }
}
