// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// What happens on one server is done on another one: the presets of rules/presets as they are, their servers filled in.
@Suite("REST actions, by the presets", .timeLimit(.minutes(10)))
struct ActionTests {
    /// A preset with the lab's addresses and the appliance's pin, polled often.
    private func preset(_ name: String, _ lab: Lab, _ servers: KeyValuePairs<String, String>) throws -> String {
        var text = try String(contentsOf: Preset.directory.appending(path: name + ".yaml"), encoding: .utf8)
        for (host, address) in servers {
            #expect(text.contains(host))
            text = text.replacing("https://" + host, with: address)
        }
        text = text.replacing("# tls: {pin: \"sha256//…=\"}", with: "tls: {pin: \"\(lab["pin"])\"}")
        return text.replacing(try Regex("every: (15s|30s|1m)"), with: "every: 200ms")
    }

    private func watcher(_ home: Home) async throws -> Child {
        let environment = [
            "APPLIANCE_PASSWORD": Lab.password, "CONNECTIONS_PASSWORD": "s3cret-connections", "BOOKINGS_TOKEN": "t0ken",
        ]
        let child = try Child(Program.path, ["run"] + home.places, environment: environment)
        try await child.wait(for: .err) { $0.contains { $0.contains("baseline") } }
        return child
    }

    @Test(
        "a system that becomes ready is a status update in Connections, whatever its name holds: by PUT of an Atom entry, or by POST of JSON",
        arguments: [("system-status-update", "PUT"), ("system-status-microblog", "POST")])
    func statusUpdate(preset name: String, method: String) async throws {
        let lab = try await Lab("appliance,connections")
        let home = try Home(lab)
        try await lab.post(
            "control", "/lab/connections/settings", ["user": "watcher", "password": "s3cret-connections"])
        let system = "R&D <b> \"]]>\" é 🎉"
        try await lab.post("control", "/lab/set", ["id": 59, "state": "starting", "name": system])
        try home.write(
            preset(
                name, lab,
                ["wca.example.com": lab["appliance"], "connections.example.com": lab["connections"]]))
        let watcher = try await watcher(home)
        try await lab.post("control", "/lab/set", ["id": 59, "state": "ready"])
        _ = try await lab.get("control", "/lab/connections/requests?min=1&timeout=20")
        #expect(await watcher.stop() == 0)
        let stories = (try await lab.get("control", "/lab/connections/stories") as? [[String: Any]]) ?? []
        let newest = stories.first?.text("title") ?? ""
        #expect(newest.hasPrefix("watcher: \(system): Ready for use"), "\(newest)")
        #expect(stories.first?.text("source") == "profiles")
        let requests = (try await lab.get("control", "/lab/connections/requests") as? [[String: Any]]) ?? []
        #expect(requests.map { $0.text("method") } == [method])
        #expect(!requests[0].messageID.isEmpty)
    }

    @Test("a booking that is over stops its system on the appliance, and one that begins starts its own: PUT of JSON")
    func desiredStatus() async throws {
        let lab = try await Lab("appliance")
        let home = try Home(lab)
        for (id, state) in [(56, "ready"), (59, "stopped"), (63, "ready")] {
            try await lab.post("control", "/lab/set", ["id": id, "state": state])
        }
        let list = home.directory.appending(path: "bookings.json")
        let fixtures = Program.root.appending(path: "Tests/Fixtures/presets")
        try Data(contentsOf: fixtures.appending(path: "bookings-1.json")).write(to: list)
        let text = try preset("booked-systems", lab, ["wca.example.com": lab["appliance"]])
        try home.write(
            text.replacing(
                "    server: bookings\n    path: /api/bookings\n", with: "    url: \"file://\(list.path)\"\n"))
        let watcher = try await watcher(home)
        try Data(contentsOf: fixtures.appending(path: "bookings-2.json")).write(to: list, options: .atomic)
        _ = try await lab.get("control", "/lab/requests?min=2&timeout=20")
        #expect(await watcher.stop() == 0)
        let systems = (try await lab.get("control", "/lab/systems") as? [[String: Any]]) ?? []
        let wishes = systems.reduce(into: [Int: String]()) { wishes, system in
            if let id = system["id"] as? Int { wishes[id] = system.text("desiredstatus") }
        }
        #expect(wishes[56] == "RM01011" && wishes[59] == "RM01006" && wishes[63] != "RM01011", "\(wishes)")
        let requests = (try await lab.get("control", "/lab/requests") as? [[String: Any]]) ?? []
        let seen = requests.map { "\($0.text("method") ?? "") \($0.text("target") ?? "")" }.sorted()
        #expect(seen == ["PUT /resources/virtualSystems/56", "PUT /resources/virtualSystems/59"])
    }

    @Test("a site that is down is an alert in Alertmanager, and the same alert ends when the site is up again")
    func alerts() async throws {
        let lab = try await Lab("receiver")
        let site = try await Lab("feeds", "--feeds", "1")
        let home = try Home(lab)
        let page = site["feeds"] + "/feed/0.xml"
        try home.write(
            preset("alertmanager-post", lab, ["alertmanager.example.com": lab["receiver"], "www.example.com/": page]))
        let watcher = try await watcher(home)
        await site.end()
        let firing = try await lab.received(1, path: "/api/v2/alerts")[0]
        let port = try #require(URL(string: page)?.port)
        let back = try await Lab("feeds", "--feeds", "1", "--port", "feeds=\(port)")
        let resolved = try await lab.received(2, path: "/api/v2/alerts")[1]
        await back.end()
        #expect(await watcher.stop() == 0)
        let alerts = try [firing, resolved].map { post in
            try #require(
                try JSONSerialization.jsonObject(with: Data((post.text("body") ?? "").utf8)) as? [[String: Any]])
        }
        #expect(alerts.map(\.count) == [1, 1])
        let labels = alerts.map { $0[0]["labels"] as? [String: String] }
        #expect(labels[0] == labels[1])
        #expect(
            labels[0] == ["alertname": "SiteDown", "severity": "critical", "source": "alerted-site", "instance": page])
        #expect(alerts[0][0]["endsAt"] == nil)
        #expect(alerts[1][0].text("endsAt")?.hasPrefix("20") == true)
    }
}
