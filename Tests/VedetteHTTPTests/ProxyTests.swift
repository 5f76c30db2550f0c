// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteCore

@testable import VedetteHTTP

@Suite("Proxies")
struct ProxyTests {
    private func environment(_ pairs: KeyValuePairs<String, String>) -> ProxyEnvironment {
        ProxyEnvironment { name in pairs.first { $0.key == name }?.value }
    }

    @Test("each scheme has its variable, all_proxy is the default, and HTTP_PROXY in capitals is ignored")
    func variables() throws {
        let (http, https) = (try #require(WebURL("http://a.example/")), try #require(WebURL("https://a.example/")))
        let both = environment(["http_proxy": "http://p:1", "HTTPS_PROXY": "http://p:2", "ALL_PROXY": "http://p:3"])
        #expect(both.proxy(for: http) == "http://p:1" && both.proxy(for: https) == "http://p:2")
        let all = environment(["HTTP_PROXY": "http://evil:1", "https_proxy": "", "all_proxy": "socks5h://p:3"])
        #expect(all.proxy(for: http) == "socks5h://p:3" && all.proxy(for: https) == "socks5h://p:3")
        #expect(environment(["HTTP_PROXY": "http://evil:1"]).proxy(for: http) == nil)
    }

    @Test(
        "no_proxy names hosts, domains, addresses and blocks",
        arguments: [
            ("*", "http://a.example/", true), ("a.example", "http://a.example:81/", true),
            ("a.example", "http://x.a.example/", true), (".a.example", "http://a.example/", true),
            ("a.example", "http://ba.example/", false), ("x, A.example", "http://a.example./", true),
            ("127.0.0.1", "http://127.0.0.1/", true), ("127.0.0.0/8", "http://127.9.9.9/", true),
            ("10.0.0.0/8", "http://127.0.0.1/", false), ("0.0.0.0/0", "http://127.0.0.1/", true),
            ("::1", "http://[::1]:80/", true), ("[::1]", "http://[::1]/", true), ("0.1", "http://127.0.0.1/", false),
            ("", "http://a.example/", false), (",", "http://a.example/", false),
        ])
    func exceptions(_ list: String, _ url: String, _ isDirect: Bool) throws {
        let environment = environment(["http_proxy": "http://p:1", "NO_PROXY": list])
        #expect((environment.proxy(for: try #require(WebURL(url))) == nil) == isDirect)
    }

    private static let login = Secret("pr0xy")

    @Test("an http proxy gets the whole URL and its own credentials, and none of the server's")
    func http() async throws {
        let proxy = try WireServer(.ok("by proxy"))
        defer { proxy.close() }
        let request = Request.get("http://inside.example/a?b") {
            $0.proxy = .url(proxy.origin, user: "u", password: Self.login)
        }
        #expect(try await withClient { client in try await client.bodyText(request) } == "by proxy")
        let seen = try #require(proxy.requests.first)
        #expect(seen.target == "http://inside.example/a?b" && seen.header("Host") == ["inside.example"])
        #expect(seen.header("Proxy-Authorization") == ["Basic dTpwcjB4eQ=="] && seen.header("Authorization") == [])
    }

    @Test("the proxy of a tunnel gets no header or path of the server")
    func tunnel() async throws {
        let proxy = try WireServer(.lastText("HTTP/1.1 200 OK\r\n\r\nno TLS here"))
        defer { proxy.close() }
        let request = Request.get("https://inside.example/s3cret") {
            $0.proxy = .url(proxy.origin, user: "u", password: Self.login)
            $0.headers = [Header("X-Key", Secret("k3y")), Header("Cookie", "c00kie"), Header("X-Plain", "pl4in")]
            $0.credentials = .basic(user: "lamato", password: Secret("p4ss"))
        }
        #expect(try await withClient { client in await client.failed(request) }?.failure == .tlsHandshake)
        let seen = try #require(proxy.texts.first)
        #expect(seen.hasPrefix("CONNECT inside.example:443 HTTP/1.1\r\n"))
        #expect(seen.contains("Proxy-Authorization: Basic dTpwcjB4eQ==\r\n"))
        for secret in ["s3cret", "k3y", "c00kie", "pl4in", "\r\nAuthorization"] { #expect(!seen.contains(secret)) }
    }

    @Test("SOCKS: the proxy resolves the name")
    func socks() async throws {
        let proxy = try WireServer { request in
            switch request.number {
            case 0: .bytes([5, 0])
            case 1: .bytes([5, 0, 0, 1, 127, 0, 0, 1, 0, 80])
            default: .ok("by socks")
            }
        }
        defer { proxy.close() }
        let address = proxy.origin.replacing("http:", with: "socks5h:")
        let request = Request.get("http://inside.example/") { $0.proxy = .url(address, user: nil, password: nil) }
        #expect(try await withClient { client in try await client.bodyText(request) } == "by socks")
        #expect(proxy.texts[1].contains("inside.example"))
    }

    @Test("tunnels of two users, and connections of SOCKS to two origins, are kept apart")
    func kept() throws {
        func hop(_ url: String, _ proxy: String, _ user: String = "u") throws -> RedirectHop {
            let request = Request.get(url) { $0.proxy = .url(proxy, user: user, password: Self.login) }
            return try RedirectHop(request, Target(try #require(WebURL(url))), nil)
        }
        let (http, socks) = ("http://p.example:1", "socks5h://p.example:1")
        #expect(
            try hop("https://a.example/", http, "alice").cacheName != hop("https://a.example/", http, "bob").cacheName)
        #expect(try hop("http://a.example/", http).server == hop("http://b.example/", http).server)
        #expect(try hop("http://a.example/", socks).server != hop("http://b.example/", socks).server)
    }

    @Test("a direct request uses no proxy, also on a handle that used one")
    func none() async throws {
        let (proxy, server) = (try WireServer(.ok("by proxy")), try WireServer(.ok("direct")))
        defer { WireServer.close(proxy, server) }
        try await withClient { client async throws in
            let direct = Request.get(server.url()) { $0.proxy = .none }
            let proxied = Request.get(server.url()) { $0.proxy = .url(proxy.origin, user: nil, password: nil) }
            for _ in 0..<2 {
                #expect(try await client.bodyText(direct) == "direct")
                #expect(try await client.bodyText(proxied) == "by proxy")
            }
        }
    }

    @Test("a failure of the proxy is reported as such")
    func errors() async throws {
        let refusing = try WireServer(.reply("407 No", ""))
        let failing = try WireServer(.reply("503 No", ""))
        let gone = try WireServer(.ok())
        let address = gone.origin
        gone.close()
        let socks = try WireServer { _ in .last([5, 0xFF]) }
        let dead = try WireServer { $0.number == 0 ? .bytes([5, 0]) : .last([5, 4, 0, 1, 0, 0, 0, 0, 0, 0]) }
        defer { WireServer.close(refusing, failing, socks, dead) }
        func socksOf(_ server: WireServer) -> String { server.origin.replacing("http:", with: "socks5h:") }
        let cases: [(String, String, Failure, String)] = [
            (refusing.origin, "https://inside.example/s3cret", .unauthorized, "the proxy requires a user"),
            (refusing.origin, "http://inside.example/s3cret", .unauthorized, "the proxy requires a user"),
            (failing.origin, "https://inside.example/s3cret", .network, "answered 503"),
            (address, "http://inside.example/s3cret", .refused, "the proxy does not accept"),
            ("http://no-such-name.invalid:1", "http://inside.example/s3cret", .resolve, "the name of the proxy"),
            (socksOf(socks), "http://inside.example/s3cret", .unauthorized, "the proxy requires a user"),
            (socksOf(dead), "http://inside.example/s3cret", .network, "the proxy did not connect"),
        ]
        for (proxy, url, failure, words) in cases {
            let request = Request.get(url) { $0.proxy = .url(proxy, user: "u", password: Self.login) }
            let error = try await withClient { client in await client.failed(request) }
            #expect(error?.failure == failure && error?.detail.contains(words) == true, "\(proxy) \(error as Any)")
            for secret in ["s3cret", "pr0xy"] { #expect(error?.detail.contains(secret) == false) }
        }
    }
}
