// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@Suite("Connections, with the real program", .timeLimit(.minutes(10)))
struct ConnectionsTests {
    /// A user who watches all updates of a server that wants a password, and polls when told to.
    private func world(_ options: String = "") async throws -> (lab: Lab, home: Home) {
        let lab = try await Lab("connections")
        try await lab.post("control", "/lab/connections/settings", ["user": "ann", "password": Lab.password])
        let home = try Home(lab)
        try home.write(
            """
            servers:
              connections: {url: "\(lab["connections"])", user: ann, password: {env: LAB_PASSWORD}}
            sources:
              updates: {kind: connections, server: connections, every: 1s\(options)}
            """)
        try await poll(home)
        return (lab, home)
    }

    private func poll(_ home: Home) async throws {
        let result = try await home.vedette("run", "--once", "--force")
        guard result.code == 0 else { throw Trouble("run --once: \(result.code): \(result.err)") }
    }

    private func events(_ home: Home, _ type: String) async throws -> [String] {
        try await home.events().filter { $0.text("type") == "io.vedette.item.\(type)" }.compactMap {
            $0.text("subject")
        }
    }

    /// Right after each of the next two pages: three stories gone that were read already, one edited, two new.
    private let drift: [String: Any] = ["n": 2, "delete": 3, "at": 10, "edit": 5, "times": 2, "page": NSNull()]

    @Test(
        "a burst of 250 new entries between two polls is 250 events, in order, none twice, while the pages move",
        arguments: ["next_drops_ps", "no_links", "short_pages", "since_inclusive"])
    func burst(quirk: String) async throws {
        let (lab, home) = try await world()
        try await lab.post("control", "/lab/connections/settings", [quirk: true])
        let made = try #require(
            try await lab.post("control", "/lab/connections/add", ["n": 250]) as? [[String: Any]])
        try await lab.post("control", "/lab/connections/drift", drift)
        try await poll(home)
        let first = try await events(home, "appeared")
        #expect(first == made.compactMap { $0["id"] as? String })
        #expect(try await events(home, "changed").isEmpty)
        // What moved during that reading is found by the next.
        try await poll(home)
        let later = try await events(home, "appeared")
        #expect(later.count == 254 && Set(later).count == 254 && Array(later.prefix(250)) == first)
        #expect(try await events(home, "changed").count == 2)
        #expect(try await events(home, "disappeared").isEmpty)
    }

    @Test("the JSON stream too")
    func stream() async throws {
        let (lab, home) = try await world(", format: json")
        try await lab.post("control", "/lab/connections/add", ["n": 250])
        try await lab.post("control", "/lab/connections/drift", drift)
        for _ in 0..<2 { try await poll(home) }
        let keys = try await events(home, "appeared")
        #expect(keys.count == 254 && Set(keys).count == 254)
        #expect(keys.allSatisfy { $0.hasPrefix("urn:lsid:lconn.ibm.com:") })
    }

    @Test("a page that fails fails the poll: nothing is told by halves, and nothing is lost")
    func failedPage() async throws {
        let (lab, home) = try await world()
        try await lab.post("control", "/lab/connections/add", ["n": 250])
        let log = (try await lab.get("control", "/lab/connections/log") as? [Any])?.count ?? 0
        try await lab.post("control", "/lab/connections/settings", ["heeds_before": false])
        try await lab.post("control", "/lab/connections/fail", ["status": 403, "page": 2])
        let result = try await home.vedette("run", "--once", "--force")
        #expect(result.code == 69)
        #expect(try await events(home, "appeared").isEmpty)
        #expect(((try await lab.get("control", "/lab/connections/log") as? [Any])?.count ?? 0) > log)
        try await poll(home)
        #expect(try await events(home, "appeared").count == 250)
    }

    @Test("a wrong parameter is an error of check, with its place, before any request")
    func check() async throws {
        let (lab, home) = try await world()
        let before = (try await lab.get("control", "/lab/connections/requests") as? [Any])?.count
        try home.write(
            """
            sources:
              updates: {kind: connections, url: "\(lab["connections"])", container: "c-1", page_size: 101}
            """)
        let result = try await home.vedette("check")
        #expect(result.code == 78)
        #expect(result.err.contains("page_size") && result.err.contains("vedette.yaml:2:"))
        #expect((try await lab.get("control", "/lab/connections/requests") as? [Any])?.count == before)
    }
}
