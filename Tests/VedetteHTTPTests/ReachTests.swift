// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteCore

@testable import VedetteHTTP

@Suite("Case 20: from a public host to a private address")
struct ReachTests {
    /// Loopback has no public address, so 127.0.0.2 and 127.0.0.3 count as public.
    private static let publicHosts = [IPAddress("127.0.0.2"), IPAddress("127.0.0.3")]

    private func withWorld<Result>(_ body: (HTTPClient) async throws -> Result) async throws -> Result {
        let client = try HTTPClient(isPrivate: { !ReachTests.publicHosts.contains($0) })
        return try await using(client, body)
    }

    @Test(
        "case 20: a redirect from a public host to a private address is refused before a connection is opened",
        arguments: ["127.0.0.1", "0x7f.1", "127.1", "2130706433", "0177.0.0.1", "[::ffff:127.0.0.1]", "localhost"])
    func redirect(_ host: String) async throws {
        let target = try WireServer(.ok("secret"), at: "127.0.0.1")
        let location = "http://\(host):\(target.port)/s3cret"
        let server = try WireServer(.redirect(302, to: location), at: "127.0.0.2")
        defer { WireServer.close(target, server) }
        try await withWorld { client async throws in
            let failure = await client.failed(.get(server.url()))
            #expect(failure?.failure == .privateAddress)
            #expect(failure?.detail.contains("s3cret") == false)
        }
        #expect(target.connections == 0 && server.requests.count == 1)
    }

    @Test(
        "case 20: link-local, unspecified and IPv6 loopback are refused too",
        arguments: ["169.254.169.254", "[::1]", "[::]", "0.0.0.0", "[fe80::1]", "[::ffff:a9fe:a9fe]", "10.0.0.1"])
    func others(_ host: String) async throws {
        let server = try WireServer(.redirect(302, to: "http://\(host)/latest/meta-data"), at: "127.0.0.2")
        defer { server.close() }
        try await withWorld { client async throws in
            #expect(await client.failed(.get(server.url()))?.failure == .privateAddress)
        }
    }

    @Test("case 20: a connection that is open already is no way around")
    func reused() async throws {
        let target = try WireServer(.ok("secret"))
        let there = target.url("/s3cret")
        let server = try WireServer(.redirect(302, to: there), at: "127.0.0.2")
        defer { WireServer.close(target, server) }
        try await withWorld { client async throws in
            #expect(try await client.bodyText(.get(target.url())) == "secret")
            for _ in 0..<2 { #expect(await client.failed(.get(server.url()))?.failure == .privateAddress) }
            #expect(try await client.bodyText(.get(target.url())) == "secret")
        }
        #expect(target.requests.map(\.target) == ["/", "/"])
    }

    @Test("case 20: the address as configured may be private, and lead to a private one")
    func appliance() async throws {
        let target = try WireServer(.ok("inside"), at: "127.0.0.4")
        let there = target.url()
        let server = try WireServer(.redirect(302, to: there), at: "127.0.0.1")
        defer { WireServer.close(target, server) }
        try await withWorld { client async throws in
            let response = try await client.fetch(.get(server.url()))
            #expect(response.text == "inside" && response.isFromPrivate)
        }
    }

    @Test("case 20: a private host may lead out, but not back in")
    func outAndIn() async throws {
        let inside = try WireServer(.ok("inside"), at: "127.0.0.1")
        let back = inside.url("/back")
        let outside = try WireServer(at: "127.0.0.2") { $0.target == "/in" ? .redirect(302, to: back) : .ok("out") }
        let out = outside.origin
        let first = try WireServer(at: "127.0.0.4") { .redirect(302, to: out + $0.target) }
        defer { WireServer.close(inside, outside, first) }
        try await withWorld { client async throws in
            let response = try await client.fetch(.get(first.url("/out")))
            #expect(response.text == "out" && !response.isFromPrivate)
            #expect(await client.failed(.get(first.url("/in")))?.failure == .privateAddress)
        }
        #expect(inside.connections == 0)
    }

    @Test("case 20: a link that a public server named reaches public addresses alone; the user may allow all")
    func links() async throws {
        let inside = try WireServer(.ok("inside"), at: "127.0.0.1")
        let outside = try WireServer(.ok("outside"), at: "127.0.0.3")
        let there = inside.url()
        let server = try WireServer(.redirect(302, to: there), at: "127.0.0.2")
        defer { WireServer.close(inside, outside, server) }
        try await withWorld { client async throws in
            let link = Request.get(inside.url()) { $0.reach = .publicOnly }
            #expect(await client.failed(link)?.failure == .privateAddress)
            #expect(inside.connections == 0)
            #expect(try await client.bodyText(.get(outside.url()) { $0.reach = .publicOnly }) == "outside")
            #expect(try await client.bodyText(.get(server.url()) { $0.reach = .anywhere }) == "inside")
            // A handle without the restriction is not reused for a request with it.
            #expect(await client.failed(.get(server.url()))?.failure == .privateAddress)
        }
    }

    @Test("case 20: private addresses at some hosts and ports alone, also by a redirect and by a name")
    func named() async throws {
        let known = try WireServer(at: "127.0.0.1") { $0.target == "/in" ? .redirect(302, to: "/") : .ok("known") }
        let unknown = try WireServer(.ok("secret"), at: "127.0.0.1")
        let there = unknown.url("/s3cret")
        let elsewhere = try WireServer(.redirect(302, to: there), at: "127.0.0.1")
        let back = known.url("/in")
        let outside = try WireServer(.redirect(302, to: back), at: "127.0.0.2")
        defer { WireServer.close(known, unknown, elsewhere, outside) }
        let places = Set([known.url(), elsewhere.url()].compactMap { WebURL($0)?.hostAndPort })
        try await withWorld { client async throws in
            func get(_ url: String) -> Request { .get(url) { $0.reach = .privateOnly(at: places) } }
            #expect(try await client.bodyText(get(known.url())) == "known")
            #expect(try await client.bodyText(get(outside.url())) == "known")
            for url in [
                unknown.url(), elsewhere.url(), "http://localhost:\(known.port)/", "http://127.1:\(known.port)/",
            ] {
                #expect(await client.failed(get(url))?.failure == .privateAddress, "\(url)")
            }
        }
        #expect(unknown.connections == 0)
    }

    @Test("case 20: behind a proxy a literal address is checked, and a name is not resolved")
    func proxied() async throws {
        let proxy = try WireServer(.ok("through the proxy"))
        defer { proxy.close() }
        try await withWorld { client async throws in
            for url in ["http://0x7f.1/", "http://127.0.0.1:99/", "http://localhost/", "http://[::1]/"] {
                let request = Request.get(url) {
                    ($0.reach, $0.proxy) = (.publicOnly, .url(proxy.origin, user: nil, password: nil))
                }
                #expect(await client.failed(request)?.failure == .privateAddress)
            }
            let request = Request.get("http://public.example/") {
                ($0.reach, $0.proxy) = (.publicOnly, .url(proxy.origin, user: nil, password: nil))
            }
            let response = try await client.fetch(request)
            #expect(response.text == "through the proxy" && !response.isFromPrivate)
        }
        #expect(proxy.requests.count == 1)
    }

    @Test(
        "case 20: behind a proxy a public host redirects to no private address, however it is spelled",
        arguments: [
            "127.0.0.1", "127.0.0.1.", "0x7f.1", "127.1", "2130706433", "0177.0.0.1", "[::ffff:127.0.0.1]", "[::1]",
            "localhost", "localhost.", "LOCALHOST", "a.localhost", "%31%32%37.0.0.1", "%6cocalhost", "１２７.0.0.1",
            "169.254.169.254", "10.0.0.1", "[fe80::1]", "0.0.0.0", "0",
        ])
    func proxiedRedirect(_ host: String) async throws {
        let proxy = try WireServer { request in
            request.target.hasPrefix("http://public.example") ? .redirect(302, to: "http://\(host)/s3cret") : .ok("in")
        }
        defer { proxy.close() }
        try await withWorld { client async throws in
            let request = Request.get("http://public.example/") {
                $0.proxy = .url(proxy.origin, user: nil, password: nil)
            }
            #expect(await client.failed(request)?.failure == .privateAddress)
        }
        #expect(proxy.requests.count == 1)
    }

    @Test("case 20: behind a proxy an address that the user wrote may be private, and lead to a private one")
    func proxiedAppliance() async throws {
        let proxy = try WireServer { request in
            request.target.hasPrefix("http://10.0.0.1") ? .redirect(302, to: "http://10.0.0.2/") : .ok("inside")
        }
        defer { proxy.close() }
        try await withWorld { client async throws in
            let request = Request.get("http://10.0.0.1/") { $0.proxy = .url(proxy.origin, user: nil, password: nil) }
            let response = try await client.fetch(request)
            #expect(response.text == "inside" && response.isFromPrivate)
        }
    }

    @Test("case 20: a redirect that leaves the proxy (no_proxy) is checked at the socket")
    func proxiedThenDirect() async throws {
        let target = try WireServer(.ok("secret"), at: "127.0.0.1")
        let location = target.url("/s3cret")
        let proxy = try WireServer(.redirect(302, to: location))
        defer { WireServer.close(target, proxy) }
        let environment = ProxyEnvironment { name in
            ["http_proxy": proxy.origin, "no_proxy": "127.0.0.1"][name]
        }
        let client = try HTTPClient(environment: environment, isPrivate: { !ReachTests.publicHosts.contains($0) })
        try await using(client) { client async throws in
            #expect(await client.failed(.get("http://public.example/"))?.failure == .privateAddress)
        }
        #expect(target.connections == 0 && proxy.requests.count == 1)
    }
}
