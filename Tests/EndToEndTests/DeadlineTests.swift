// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@Suite("Servers that are not there, or say nothing", .timeLimit(.minutes(10)))
struct DeadlineTests {
    @Test("timeout: a server that hangs, and one that never sends a byte, are failed polls when their deadline passes")
    func hanging() async throws {
        let lab = try await Lab("faults")
        let home = try Home(lab)
        try home.write(
            """
            sources:
              hanging: {kind: json, url: "\(lab["faults"])/hang"}
              silent: {kind: json, url: "\(lab["silent"])/"}
              handshake: {kind: json, url: "\(lab["silent"].replacing("http:", with: "https:"))/"}
            """)
        let result = try await home.vedette("run", "--once", limit: 60)
        #expect(result.code == 69)
        for source in ["hanging", "silent", "handshake"] {
            let status = try await home.status(source)
            #expect(status.text("error", "class") == "timeout", "\(source): \(status)")
        }
    }

    @Test("refused and recovered: a server that goes away and comes back; the change made meanwhile is told (I3)")
    func awayAndBack() async throws {
        let home = try Home()
        let lab = try await Lab("appliance")
        let port = lab["appliance"].split(separator: ":").last.map(String.init) ?? ""
        func configure(_ pin: String) throws {
            try home.write(
                """
                servers: {lab: {url: "\(lab["appliance"])", user: lamato, password: {env: LAB_PASSWORD}, tls: {pin: "\(pin)"}}}
                sources: {systems: {kind: cloudburst, server: lab, every: 200ms}}
                sinks: {out: {kind: stdout, format: json}}
                rules: [{name: r, when: {source: systems}, notify: [out]}]
                """.replacing("when: {source: systems}", with: "when: {source: systems, \(Self.everything)}"))
        }
        try configure(lab["pin"])
        let watcher = try await home.watcher()
        try await watcher.wait(for: .err) { $0.contains { $0.contains("baseline") } }
        let before = try await home.items("systems")
        await lab.end()
        let failing = try await watcher.event("source.failing")
        #expect(["refused", "closed"].contains(failing.text("data", "error", "class")))
        try await watcher.wait(for: .err) { $0.contains { $0.contains("refused") } }
        #expect(try await home.status("systems").text("error", "class") == "refused")
        #expect(try await home.items("systems") == before)
        let back = try await Lab("appliance", "--port", "appliance=\(port)")
        try await back.post("control", "/lab/set", ["id": 59, "state": "ready"])
        // The key is a new one: the pin of the old fails closed until the user says otherwise.
        try await watcher.wait(for: .err) { $0.contains { $0.contains("tls-pin") } }
        try configure(back["pin"])
        try await watcher.event("source.recovered")
        let change = try await watcher.event("item.changed") { $0.text("subject") == "59" }
        #expect((change.at("data", "changes") as? [[String: Any]])?.first?["from"] as? String == "Starting")
        #expect(await watcher.stop() == 0)
        await back.end()
    }

    static let everything = "any: [{field: state}, {source_state: [failing, recovered]}]"
}
