// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import VedetteCore

@testable import VedetteHTTP

@Suite(
    "Case 25: HTTP/2", .enabled(if: HTTP2Server.python != nil, "a python3 with the module h2 (python3-h2) is needed"))
struct HTTP2Tests {
    private func withServer(_ body: (HTTPClient, @escaping @Sendable (String) -> Request) async throws -> Void)
        async throws
    {
        let pair = try await Certificates.all.value.server
        let python = try #require(HTTP2Server.python)
        let server = try ScriptServer("http2.py", [pair.certificate, pair.key], python: python)
        try await withClient { client in
            try await body(client) { path in .get(server.origin + path) { $0.tls.insecure = true } }
        }
    }

    /// How often each path was requested, and on how many connections.
    private func seen(_ client: HTTPClient, _ path: String, _ request: Request) async throws -> (Int, Int) {
        let log = try JSONSerialization.jsonObject(with: Data(try await client.body(request))) as? [[Any]] ?? []
        let entries = log.filter { $0.first as? String == path }
        return (entries.count, Set(entries.compactMap { $0.last as? Int }).count)
    }

    @Test("case 25: HTTP/2 is spoken where the server offers it, over one connection")
    func spoken() async throws {
        try await withServer { client, request async throws in
            let response = try await client.fetch(request("/ok"))
            #expect(response.text == "all of it" && response.headers.mediaType == "text/plain")
            #expect(try await client.bodyText(request("/ok")) == "all of it")
            #expect(try await seen(client, "/ok", request("/seen")) == (2, 1))
        }
    }

    @Test(
        "case 25: RST_STREAM, GOAWAY and the end of the connection in the middle of a body fail the fetch, once",
        arguments: ["/reset", "/goaway", "/cut"])
    func middle(_ path: String) async throws {
        try await withServer { client, request async throws in
            let error = await client.failed(request(path))
            #expect(error?.failure == .truncated, "\(error?.detail ?? "")")
            #expect(try await seen(client, path, request("/seen")).0 == 1)
            // The next body contains nothing of the cut one.
            #expect(try await client.bodyText(request("/ok")) == "all of it")
        }
    }

    @Test("case 25: an answer shorter than its length fails the fetch")
    func length() async throws {
        try await withServer { client, request async throws in
            let error = await client.failed(request("/length"))
            #expect(error?.failure == .truncated || error?.failure == .closed)
            #expect(try await seen(client, "/length", request("/seen")).0 == 1)
        }
    }

    @Test("case 25: ENHANCE_YOUR_CALM is a wish for fewer requests, and not asked again at once")
    func calm() async throws {
        try await withServer { client, request async throws in
            #expect(await client.failed(request("/calm"))?.failure == .rateLimited)
            #expect(try await seen(client, "/calm", request("/seen")).0 == 1)
            // This libcurl does not report the reason of a GOAWAY, so every one is the same.
            let error = await client.failed(request("/calm-goaway"))
            #expect(error?.failure == .closed || error?.failure == .rateLimited)
            #expect(try await seen(client, "/calm-goaway", request("/seen")).0 <= 2)
        }
    }

    @Test("case 25: a GOAWAY before the answer to a POST is not tried again: it might count twice")
    func post() async throws {
        try await withServer { client, request async throws in
            var post = request("/leave?n=1")
            (post.method, post.body) = ("POST", [])
            #expect(await client.failed(post)?.failure == .closed)
            #expect(try await seen(client, "/leave?n=1", request("/seen")).0 == 1)
        }
    }

    @Test("case 25: a stream that was refused before any byte is tried once more", arguments: ["/refuse", "/leave"])
    func refused(_ path: String) async throws {
        try await withServer { client, request async throws in
            #expect(try await client.bodyText(request(path + "?n=1")) == "all of it")
            #expect(try await seen(client, path + "?n=1", request("/seen")).0 == 2)
            let error = await client.failed(request(path + "?n=9"))
            #expect(error?.failure == .closed, "\(error?.detail ?? "")")
            #expect(try await seen(client, path + "?n=9", request("/seen")).0 == 2)
        }
    }

    @Test("a connection on which a request ran out of time is not used again")
    func mute() async throws {
        try await withServer { client, request async throws in
            #expect(try await client.bodyText(request("/ok")) == "all of it")
            var lost = request("/mute")
            lost.limits.firstByte = .milliseconds(300)
            #expect(await client.failed(lost)?.failure == .timeout)
            #expect(try await client.bodyText(request("/ok")) == "all of it")
            #expect(try await seen(client, "/ok", request("/seen")) == (2, 2))
        }
    }
}

enum HTTP2Server {
    static let python = ScriptServer.python(with: "h2")
}
