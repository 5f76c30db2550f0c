// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteCore

@Suite("Which requests may open connections to private addresses (case 20)")
struct ReachTests {
    /// A URL, whether a private address redirected to it (nil for the first request), and whether private addresses are
    /// refused.
    struct Row: Sendable {
        var reach: Request.Reach
        var url = "http://lab.example/"
        var fromPrivate: Bool?
        var isRefused: Bool
    }

    private static let places = Request.Reach.privateOnly(at: ["lab.example:80", "127.0.0.1:8080", "[::1]:443"])

    private static let rows: [Row] = [
        Row(reach: .likeTheFirst, isRefused: false),
        Row(reach: .likeTheFirst, fromPrivate: true, isRefused: false),
        Row(reach: .likeTheFirst, fromPrivate: false, isRefused: true),
        Row(reach: .publicOnly, isRefused: true),
        Row(reach: .publicOnly, fromPrivate: true, isRefused: true),
        Row(reach: .anywhere, isRefused: false),
        Row(reach: .anywhere, fromPrivate: false, isRefused: false),
        Row(reach: places, isRefused: false),
        Row(reach: places, url: "http://LAB.example:80/other?x", fromPrivate: false, isRefused: false),
        Row(reach: places, url: "http://127.0.0.1:8080", isRefused: false),
        Row(reach: places, url: "https://[::1]/", isRefused: false),
        // Another port, another name, another spelling, another scheme.
        Row(reach: places, url: "http://lab.example:81/", isRefused: true),
        Row(reach: places, url: "https://lab.example/", isRefused: true),
        Row(reach: places, url: "http://127.0.0.1/", isRefused: true),
        Row(reach: places, url: "http://127.1:8080/", isRefused: true),
        Row(reach: places, url: "http://localhost:8080/", fromPrivate: true, isRefused: true),
        Row(reach: places, url: "http://lab.example.evil.example/", isRefused: true),
        Row(reach: places, url: "http://evil.example/lab.example:80", isRefused: true),
        Row(reach: places, url: "http://169.254.169.254/latest", fromPrivate: true, isRefused: true),
    ]

    @Test("each reach has its private addresses", arguments: rows)
    func reaches(_ row: Row) throws {
        let url = try #require(WebURL(row.url))
        #expect(row.reach.refusesPrivate(at: url, fromPrivate: row.fromPrivate) == row.isRefused)
    }
}
