// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import VedetteTestSupport

@Suite("The main job, with the real program", .timeLimit(.minutes(10)))
struct MainJobTests {
    @Test(
        "Starting to Ready for use over HTTPS with the right pin: a line, and a CloudEvent at the webhook with the message's id"
    )
    func ready() async throws {
        let world = try await Appliance()
        try await world.set(59, "starting")
        let watcher = try await world.home.watcher()
        try await watcher.wait(for: .err) { $0.contains { $0.contains("baseline") } }
        try await world.set(59, "ready")
        let event = try await watcher.event("item.changed") { $0.text("subject") == "59" }
        let change = (event.at("data", "changes") as? [[String: Any]])?.first
        #expect(change?["from"] as? String == "Starting")
        #expect(change?["to"] as? String == "Ready for use")
        let post = try await world.lab.received(1)[0]
        let body = try #require(Program.object(post["body"] as? String ?? ""))
        #expect(NSDictionary(dictionary: body).isEqual(to: event))
        let headers = String(describing: post["headers"] ?? "").lowercased()
        #expect(headers.contains("webhook-id") && headers.contains("msg_"))
        #expect(headers.contains("application/cloudevents+json"))
        #expect(await watcher.stop() == 0)
        #expect(watcher.events.count == 1)
    }

    @Test("tls-pin: a wrong pin fails closed, before any request is sent")
    func wrongPin() async throws {
        let world = try await Appliance(pin: "sha256//AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=")
        let watcher = try await world.home.watcher()
        let event = try await watcher.event("source.failing")
        #expect(event.text("data", "error", "class") == "tls-pin")
        #expect(await watcher.stop() == 0)
        #expect((try await world.lab.get("control", "/lab/requests") as? [Any])?.isEmpty == true)
    }

    @Test("I9: the password is in no log, ps line, journal or tail output", .tags(.I9))
    func secrecy() async throws {
        let world = try await Appliance()
        let watcher = try await world.home.watcher("--verbose")
        try await world.polled(2)
        try await world.fault("401", times: 2)
        try await world.polled(4)
        let line = try String(contentsOfFile: "/proc/\(watcher.pid)/cmdline", encoding: .utf8)
        #expect(await watcher.stop() == 0)
        var seen = [line, watcher.text(of: .out), watcher.text(of: .err)]
        seen.append(try await world.home.vedette("status", "--json").out)
        seen.append(try await world.home.vedette("tail", "--no-follow", "--json").out)
        let secret = Data(Lab.password.utf8)
        let encoded = Data(Data("lamato:\(Lab.password)".utf8).base64EncodedString().utf8)
        for text in seen { #expect(!text.contains(Lab.password)) }
        let files = try FileManager.default.contentsOfDirectory(at: world.home.state, includingPropertiesForKeys: nil)
        #expect(!files.isEmpty)
        for file in files {
            let data = try Data(contentsOf: file)
            #expect(data.range(of: secret) == nil && data.range(of: encoded) == nil, "\(file.lastPathComponent)")
        }
    }

    @Test("I4 and I6: retries keep the id, and later messages wait for their turn", .tags(.I4, .I6))
    func retries() async throws {
        let world = try await Appliance()
        try await world.set(59, "starting")
        let watcher = try await world.home.watcher()
        try await world.polled(2)
        try await world.lab.post("receiver", "/fail", ["path": "/hook", "times": 2, "status": 503, "retry_after": 1])
        try await world.set(59, "ready")
        try await watcher.event("item.changed") { $0.text("data", "item", "state") == "Ready for use" }
        try await world.set(59, "stopping")
        let accepted = try await world.lab.received(2)
        let all = (try await world.lab.get("receiver", "/received") as? [[String: Any]]) ?? []
        func id(_ post: [String: Any]) -> String {
            let text = String(describing: post["headers"] ?? "")
            return text.range(of: #"msg_[0-9a-f-]+"#, options: .regularExpression).map { String(text[$0]) } ?? ""
        }
        #expect(all.count >= 4)
        #expect(Set(all.prefix(3).map(id)).count == 1)
        let states = accepted.compactMap { Program.object($0["body"] as? String ?? "")?.text("data", "item", "state") }
        #expect(states.prefix(2) == ["Ready for use", "Stopping"])
        #expect(await watcher.stop() == 0)
    }

    @Test("two good polls before disappeared; a 304 confirms an absence")
    func absence() async throws {
        let world = try await Appliance()
        try await world.lab.post("control", "/lab/settings", ["etag": true])
        let watcher = try await world.home.watcher()
        try await world.polled(2)
        try await world.lab.post("control", "/lab/delete", ["id": 59])
        let event = try await watcher.event("item.disappeared")
        #expect(event.text("subject") == "59")
        let log = (try await world.lab.get("control", "/lab/log") as? [[String: Any]]) ?? []
        #expect(log.contains { $0["status"] as? Int == 304 }, "\(log.map { ($0["status"], $0["fault"]) })")
        #expect(await watcher.stop() == 0)
    }

    @Test("I2: a list that turned empty is suspect and kept; accept makes it true", .tags(.I2))
    func empty() async throws {
        let world = try await Appliance(extra: "  - {name: odd, when: {source_state: suspect}, notify: [out]}")
        let watcher = try await world.home.watcher()
        try await world.polled(2)
        let before = try await world.home.items("systems").count
        try await world.lab.post("control", "/lab/clear")
        try await watcher.event("source.suspect")
        try await world.polled(4)
        let kept = try await world.home.items("systems").count
        #expect(kept == before)
        #expect(try await world.home.vedette("accept", "systems").code == 0)
        try await watcher.wait { $0.filter { $0.contains("item.disappeared") }.count == before }
        #expect(await watcher.stop() == 0)
    }
}
