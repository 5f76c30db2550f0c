// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteCore
import VedetteHTTP

@Suite("I9: redirects, hop by hop")
struct RedirectWireTests {
    private static let everything = [
        Header("Authorization", "Bearer t0ken"), Header("Cookie", "sid=c00kie"), Header("X-Api-Key", Secret("k3y")),
        Header("Proxy-Authorization", "Basic pr0xy"), Header("X-Plain", "plain"), Header("Host", "named.example"),
    ]
    private static let secrets = [
        "t0ken", "c00kie", "k3y", "pr0xy", "named.example", "bGFtYXRv", "Authorization", "jar",
    ]

    @Test(
        "no credential is sent to another host, port or scheme",
        arguments: ["127.0.0.2", "127.0.0.1"])
    func stripped(_ host: String) async throws {
        let target = try WireServer(.ok("there"), at: host)
        let there = target.url("/there")
        let server = try WireServer { $0.target == "/set" ? .ok("", "Set-Cookie: a=jar") : .redirect(302, to: there) }
        defer { WireServer.close(server, target) }
        try await withClient { client async throws in
            _ = try await client.fetch(.get(server.url("/set")) { $0.session = "s" })
            let request = Request.get(server.url("/x")) {
                ($0.headers, $0.session) = (Self.everything, "s")
                $0.credentials = Credentials(user: "lamato", password: Secret("p4ss"))
            }
            #expect(try await client.bodyText(request) == "there")
        }
        let arrived = try #require(target.requests.first).text
        for secret in Self.secrets { #expect(!arrived.contains(secret)) }
        #expect(arrived.contains("X-Plain: plain"))
    }

    @Test("a server's own headers go to no other origin, whatever their name; who asks and what is accepted goes along")
    func own() async throws {
        let target = try WireServer(.ok("there"), at: "127.0.0.2")
        let there = target.url("/there")
        let server = try WireServer { $0.target == "/a" ? .redirect(302, to: "/b") : .redirect(302, to: there) }
        defer { WireServer.close(server, target) }
        let names = ["X-Acme-Id", "User-Agent", "Accept-Language", "Accept", "Acceptance"]
        try await withClient { client async throws in
            let request = Request.get(server.url("/a")) {
                $0.headers = names.map { Header($0, "v-\($0)").own } + [Header("X-Kind", "kind")]
            }
            #expect(try await client.bodyText(request) == "there")
        }
        for request in server.requests { for name in names { #expect(request.header(name) == ["v-\(name)"]) } }
        let arrived = try #require(target.requests.first)
        #expect(names.map { arrived.header($0).count } == [0, 1, 1, 1, 0])
        #expect(arrived.header("X-Kind") == ["kind"])
    }

    @Test("within the origin credentials, cookies and headers are sent")
    func kept() async throws {
        let server = try WireServer { $0.target == "/a" ? .redirect(307, to: "b?c=d") : .ok("there", "X: y") }
        defer { server.close() }
        try await withClient { client async throws in
            let request = Request.get(server.url("/a")) {
                $0.headers = [Header("X-Api-Key", Secret("k3y"))]
                $0.credentials = Credentials(user: "lamato", password: Secret("p4ss"))
            }
            let response = try await client.fetch(request)
            #expect(response.url == server.url("/b?c=d"))
            #expect(response.movedTo == nil)
        }
        #expect(server.requests.map(\.target) == ["/a", "/b?c=d"])
        #expect(server.requests[1].header("X-Api-Key") == ["k3y"])
        #expect(server.requests[1].header("Authorization").count == 1)
    }

    @Test("a body is sent to no other origin", arguments: [307, 308])
    func body(_ status: Int) async throws {
        let target = try WireServer(.ok(), at: "127.0.0.2")
        let there = target.url()
        let server = try WireServer(.redirect(status, to: there))
        defer { WireServer.close(server, target) }
        let request = Request(method: "POST", url: server.url(), body: Array("password=x".utf8))
        let failure = try await withClient { client in await client.failed(request) }
        #expect(failure?.failure == .redirect)
        #expect(target.connections == 0)
    }

    @Test(
        "303 becomes GET, as do 301 and 302 after POST; 307 and 308 repeat the request",
        arguments: [301, 302, 303, 307, 308])
    func methods(_ status: Int) async throws {
        let server = try WireServer { $0.target == "/a" ? .redirect(status, to: "/b") : .ok() }
        defer { server.close() }
        let post = Request(
            method: "POST", url: server.url("/a"), headers: [Header("Content-Type", "x/y")], body: Array("b".utf8))
        try await withClient { client in _ = try await client.fetch(post) }
        let second = try #require(server.requests.last)
        #expect(second.method == (status > 303 ? "POST" : "GET"))
        #expect(second.body == (status > 303 ? "b" : ""))
        #expect(second.header("Content-Type") == (status > 303 ? ["x/y"] : []))
    }

    @Test(
        "a chain of permanent redirects reports the new URL, one with a temporary redirect does not",
        arguments: [301, 302])
    func permanent(_ status: Int) async throws {
        let server = try WireServer { request in
            switch request.target {
            case "/a": .redirect(308, to: "/b")
            case "/b": .redirect(status, to: "/c")
            default: .ok()
            }
        }
        defer { server.close() }
        let response = try await withClient { client in try await client.fetch(.get(server.url("/a"))) }
        #expect(response.movedTo == (status == 301 ? server.url("/c") : nil))
        #expect(response.url == server.url("/c"))
    }

    @Test(
        "a loop and a sixth redirect are failures; five are followed",
        arguments: [("/loop", 6), ("/6", 6), ("/5", 6)])
    func bounded(_ start: String, _ count: Int) async throws {
        let server = try WireServer { request in
            if request.target == "/loop" { return .redirect(302, to: "/loop") }
            let left = Int(request.target.dropFirst()) ?? 0
            return left == 0 ? .ok() : .redirect(302, to: "/\(left - 1)")
        }
        defer { server.close() }
        try await withClient { client async throws in
            if start == "/5" {
                #expect(try await client.fetch(.get(server.url(start))).status == 200)
            } else {
                #expect(await client.failed(.get(server.url(start)))?.failure == .redirect)
            }
        }
        #expect(server.requests.count == count)
    }

    @Test("without redirects allowed, the redirect is the response")
    func none() async throws {
        let server = try WireServer(.redirect(302, to: "/loop"))
        defer { server.close() }
        let response = try await withClient { client in try await client.fetch(.delivery(server.url())) }
        #expect(response.status == 302)
        #expect(server.requests.count == 1)
    }

    @Test(
        "only http and https are followed",
        arguments: ["file:///etc/passwd", "ftp://127.0.0.1/", "gopher://127.0.0.1/", "dict://127.0.0.1/x"])
    func schemes(_ location: String) async throws {
        let server = try WireServer(.redirect(302, to: location))
        defer { server.close() }
        let failure = try await withClient { client in await client.failed(.get(server.url())) }
        #expect(failure?.failure == .redirect)
        #expect(failure?.detail.contains("passwd") == false)
    }

    @Test("from https to http is refused, and nothing is sent there")
    func downgrade() async throws {
        let lab = try await Lab.sound.value
        let server = try WireServer(.ok())
        defer { server.close() }
        let request = Request.get("\(lab.faultsTLS)/redirect?to=\(server.url("/x"))") { $0.tls.pin = lab.pin }
        let failure = try await withClient { client in await client.failed(request) }
        #expect(failure?.failure == .redirect)
        #expect(failure?.detail.contains("https to http") == true)
        #expect(server.connections == 0)
    }

    @Test("the TLS policy of one origin does not apply to another", arguments: [true, false])
    func policy(_ isInsecure: Bool) async throws {
        let lab = try await Lab.sound.value
        let other = try WireServer(.redirect(302, to: lab.faultsTLS + "/json"), at: "127.0.0.2")
        defer { other.close() }
        let tls = isInsecure ? TLSPolicy(insecure: true) : TLSPolicy(ca: lab.certificate)
        let failure = try await withClient { client in await client.failed(.get(other.url()) { $0.tls = tls }) }
        #expect(failure?.failure == .tlsUntrusted)
    }

    @Test("cookies are kept per session, and sent only to the host and port that set them")
    func cookies() async throws {
        let (first, second) = (try WireServer(.ok("", "Set-Cookie: a=1; Path=/")), try WireServer(.ok()))
        defer { WireServer.close(first, second) }
        try await withClient { client async throws in
            for session in ["one", "one", "two", nil] {
                _ = try await client.fetch(.get(first.url()) { $0.session = session })
            }
            _ = try await client.fetch(.get(second.url()) { $0.session = "one" })
        }
        #expect(first.requests.map { $0.header("Cookie") } == [[], ["a=1"], [], []])
        #expect(second.requests.map { $0.header("Cookie") } == [[]])
    }

    @Test("a cookie that a redirect sets is sent to its target")
    func login() async throws {
        let server = try WireServer { request in
            request.target == "/a" ? .reply("302 Found", "", ["Location: /b", "Set-Cookie: sid=new"]) : .ok()
        }
        defer { server.close() }
        _ = try await withClient { client in try await client.fetch(.get(server.url("/a")) { $0.session = "s" }) }
        #expect(server.requests.map { $0.header("Cookie") } == [[], ["sid=new"]])
    }
}
