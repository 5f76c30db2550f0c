// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import VedetteCore
import VedetteHTTP

@Suite("Requests, byte for byte")
struct OnTheWireTests {
    private static let secret = Credentials(user: "lamato", password: Secret("p4ss"))

    @Test("one handle serves one request after another, and nothing of one is sent with the next")
    func nothingStale() async throws {
        let (first, second) = (try WireServer(.ok(), at: "127.0.0.1"), try WireServer(.ok(), at: "127.0.0.2"))
        defer { WireServer.close(first, second) }
        try await withClient { client async throws in
            let post = Request(
                method: "POST", url: first.url("/in?token=x"), headers: [Header("X-Key", Secret("k3y"))],
                body: Array("secret body".utf8), credentials: Self.secret,
                validators: Validators(etag: "\"e\"", lastModified: "Sun, 06 Nov 1994 08:49:37 GMT"))
            _ = try await client.fetch(post)
            _ = try await client.fetch(.get(second.url("/plain")))
            _ = try await client.fetch(Request(method: "HEAD", url: second.url("/head")))
            _ = try await client.fetch(Request(method: "DELETE", url: second.url("/gone")))
            _ = try await client.fetch(.get(second.url("/plain")))
        }
        #expect(first.requests.map(\.body) == ["secret body"])
        #expect(second.requests.map(\.method) == ["GET", "HEAD", "DELETE", "GET"])
        for request in second.requests {
            let names = request.text.components(separatedBy: "\r\n").dropFirst()
                .compactMap { $0.split(separator: ":").first?.lowercased() }
            #expect(Set(names).subtracting(["host", "accept", "accept-encoding", "user-agent"]) == [])
            #expect(request.body == "")
        }
    }

    @Test("a request has its own limits and deadlines, also on a reused handle")
    func ownLimits() async throws {
        let server = try WireServer(.ok(String(repeating: "x", count: 1000)))
        defer { server.close() }
        try await withClient { client async throws in
            let small = Request.get(server.url()) { $0.limits.received = 999 }
            for _ in 0..<3 {
                #expect(await client.failed(small)?.failure == .tooLarge)
                #expect(try await client.fetch(.get(server.url())).body.count == 1000)
            }
        }
    }

    @Test("validators are sent byte for byte, credentials as basic authentication")
    func exact() async throws {
        let server = try WireServer(.ok())
        defer { server.close() }
        let request = Request.get(server.url("/a%20b?q=%C3%A9#part")) {
            $0.credentials = Self.secret
            $0.validators = Validators(etag: "W/\"a, b\"", lastModified: "Sun, 06 Nov 1994 08:49:37 GMT")
            $0.headers = [Header("X-Empty", ""), Header("User-Agent", "Watcher/1")]
        }
        _ = try await withClient { client in try await client.fetch(request) }
        let seen = try #require(server.requests.first)
        #expect(seen.target == "/a%20b?q=%C3%A9")
        #expect(seen.header("If-None-Match") == ["W/\"a, b\""])
        #expect(seen.header("If-Modified-Since") == ["Sun, 06 Nov 1994 08:49:37 GMT"])
        #expect(seen.header("Authorization") == ["Basic " + Data("lamato:p4ss".utf8).base64EncodedString()])
        #expect(seen.header("X-Empty") == [""])
        #expect(seen.header("User-Agent") == ["Watcher/1"])
        #expect(seen.header("Accept-Encoding") == ["gzip"])
    }

    @Test("a body is sent unchanged and without an invented type, and an empty one has its length")
    func bodies() async throws {
        let server = try WireServer(.ok())
        defer { server.close() }
        let large = String(repeating: "0123456789", count: 20_000)
        try await withClient { client async throws in
            for method in ["POST", "PUT", "PATCH"] {
                _ = try await client.fetch(Request(method: method, url: server.url(), body: Array(large.utf8)))
                _ = try await client.fetch(Request(method: method, url: server.url(), body: []))
                _ = try await client.fetch(Request(method: method, url: server.url()))
            }
        }
        #expect(server.requests.count == 9)
        for (i, request) in server.requests.enumerated() {
            let body = i % 3 == 0 ? large : ""
            #expect(request.body == body)
            #expect(request.header("Content-Length") == ["\(body.utf8.count)"])
            #expect(request.header("Content-Type") == [])
            #expect(request.header("Expect") == [])
        }
    }

    @Test("requests to one origin share a connection")
    func keepAlive() async throws {
        let server = try WireServer(.ok())
        defer { server.close() }
        try await withClient { client in for _ in 0..<20 { _ = try await client.fetch(.get(server.url())) } }
        #expect(server.connections == 1)
    }

    @Test("a connection is reused after a cancelled, a failed and a limited request to another origin")
    func poolAfterErrors() async throws {
        let (server, broken) = (try WireServer(.ok()), try WireServer(.lastText("nonsense\r\n\r\n"), at: "127.0.0.2"))
        defer { WireServer.close(server, broken) }
        try await withClient { client async throws in
            for _ in 0..<10 {
                _ = await client.failed(.get(broken.url()))
                #expect(try await client.bodyText(.get(server.url())) == "ok")
            }
        }
        #expect(server.connections == 1)
    }

    @Test(
        "line breaks in headers are refused before anything is sent",
        arguments: [
            Request.get("") { $0.headers = [Header("X", "a\r\nHost: evil")] },
            Request.get("") { $0.headers = [Header("X\nY", "a")] },
            Request.get("") { $0.headers = [Header("", "a")] },
            Request.get("") { $0.headers = [Header("X:", "a")] },
            Request.get("") { $0.method = "GET /\r\n" },
            Request.get("") { $0.method = "" },
            Request.get("") { $0.validators.etag = "\"a\"\r\nX: y" },
            Request.get("") { $0.url = "\r\n" },
        ])
    func splitting(_ request: Request) async throws {
        let server = try WireServer(.ok())
        defer { server.close() }
        var request = request
        request.url = server.url("/" + request.url)
        let failure = try await withClient { client in await client.failed(request) }
        #expect(failure?.failure == .configuration)
        #expect(server.connections == 0)
    }

    @Test(
        "a URL that is not http or https, or contains a password, is refused and not shown",
        arguments: [
            "file:///etc/passwd", "ftp://127.0.0.1/", "http://user:hunter2@127.0.0.1/", "nonsense", "http://", "",
        ])
    func addresses(_ url: String) async throws {
        let failure = try await withClient { client in await client.failed(.get(url)) }
        #expect(failure?.failure == .configuration)
        #expect(failure?.detail.contains("hunter2") == false)
    }

    @Test("a URL that libcurl refuses is an error, and never sends the previous URL again")
    func staleAddress() async throws {
        let server = try WireServer(.ok())
        defer { server.close() }
        try await withClient { client async throws in
            _ = try await client.fetch(.get(server.url("/first")))
            // Beyond libcurl's CURL_MAX_INPUT_LENGTH of 8,000,000 bytes.
            let long = server.url("/" + String(repeating: "x", count: 8_000_001))
            #expect(await client.failed(.get(long))?.failure == .configuration)
        }
        #expect(server.requests.count == 1)
    }
}
