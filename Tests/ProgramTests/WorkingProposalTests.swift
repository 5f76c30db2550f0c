// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteCore

@testable import vedette

@Suite("What probe proposes for lines of text, read by its regular expression")
struct WorkingProposalTests {
    private func found(_ text: String) async throws -> WorkingProposal {
        try await WorkingProposal.from(
            PageBody(bytes: Array(text.utf8), headers: ResponseHeaders(), url: "https://h.example.com/x"), nil,
            kind: nil)
    }

    @Test("a table with a header has a row for each line, also with quoted and empty cells, and other separators")
    func tables() async throws {
        let quakes = try await found(
            """
            time,mag,nst,id,place,status,net
            2026-11-26T03:00:00Z,2.6,48,hv1,"9 km E of Pahala, Hawaii",automatic,hv
            2026-11-26T02:00:00Z,4.7,,us2,Banda Sea,reviewed,us
            2026-11-26T01:00:00Z,2.9,,ak3,"5 km S of ""Old"" Houston, Alaska",automatic,ak
            """)
        #expect(quakes.items.map(\.key) == ["hv1", "us2", "ak3"])
        #expect(quakes.items.map(\.state) == ["automatic", "reviewed", "automatic"])
        #expect(quakes.items[0].title == "9 km E of Pahala, Hawaii" && quakes.kind.mode == .window)
        let proxies = try await found(
            "# pxname,svname,cur,status,\nweb,FRONTEND,3,OPEN,\nweb,a,1,UP 1/3,\nweb,b,2,DOWN,\nold,FRONTEND,0,OPEN,\n")
        #expect(proxies.items.map(\.key) == ["web/FRONTEND", "web/a", "web/b", "old/FRONTEND"])
        #expect(proxies.items.map(\.state) == ["OPEN", "UP 1/3", "DOWN", "OPEN"] && proxies.items[1].title == "web a")
        let tabs = try await found("id\tname\tstate\n1\talpha\tactive\n2\tbeta\tarchived\n3\tgamma\tactive\n")
        #expect(tabs.items.map(\.title) == ["alpha", "beta", "gamma"])
        let prose = try await found("Dear all, we moved, again.\nThe office, as you know, is new.\nYours, the team\n")
        #expect(prose.items.map(\.key) == ["text"])
    }

    @Test("of the measures of Prometheus those that are named as states are items with a state, or all are measures")
    func series() async throws {
        let monitors = try await found(
            "# HELP monitor_status 1 is up\nmonitor_status{monitor_name=\"Web\",type=\"http\"} 1\nmonitor_status{monitor_name=\"DNS\",type=\"dns\"} 0\ncpu_seconds 3.6\n"
        )
        #expect(monitors.items.map(\.state) == ["1", "0"] && monitors.items.map(\.title) == ["Web", "DNS"])
        let node = try await found("# TYPE node_load1 gauge\nnode_load1 0.21\nnode_free{disk=\"a\"} 1e9\n")
        #expect(
            node.items.map(\.key) == ["node_load1", "node_free{disk=\"a\"}"]
                && node.items.allSatisfy { $0.state == nil })
    }
}
