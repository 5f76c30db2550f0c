// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteCore
import VedetteHTTP

@Suite("Requests on the wire", .timeLimit(.minutes(10)))
struct RequestTests {
    @Test("a plain request has User-Agent and Accept-Encoding, and nothing else")
    func plain() async throws {
        let server = try WireServer { _ in .ok("x") }
        defer { server.close() }
        try await withClient { client in
            _ = try await client.fetch(Request(url: server.origin + "/p?q"))
            #expect(
                server.texts == [
                    "GET /p?q HTTP/1.1\r\nHost: 127.0.0.1:\(server.port)\r\nAccept: */*\r\nUser-Agent: vedette\r\n"
                        + "Accept-Encoding: gzip\r\n\r\n"
                ])
        }
    }

    @Test("headers, methods and bodies are sent as given", arguments: ["POST", "PUT", "PATCH", "DELETE"])
    func bodies(method: String) async throws {
        let server = try WireServer { _ in .ok("x") }
        defer { server.close() }
        try await withClient { client in
            var request = Request(
                method: method, url: server.origin,
                headers: [Header("User-Agent", "me/1"), Header("Accept-Encoding", "identity"), Header("X-Empty", "")],
                body: Array("héllo".utf8))
            _ = try await client.fetch(request)
            request.body = nil
            _ = try await client.fetch(request)
            _ = try await client.fetch(Request(url: server.origin))
            let sent = server.texts
            #expect(sent[0].hasPrefix("\(method) / HTTP/1.1\r\n") && sent[0].hasSuffix("\r\n\r\nhéllo"))
            for line in ["User-Agent: me/1\r\n", "Accept-Encoding: identity\r\n", "X-Empty:\r\n"] {
                #expect(sent[0].contains(line))
            }
            for line in ["Expect:", "Content-Type:", "vedette"] { #expect(!sent[0].contains(line)) }
            #expect(sent[1].hasPrefix("\(method) / HTTP/1.1\r\n") && sent[1].hasSuffix("\r\n\r\n"))
            #expect(sent[1].contains("Content-Length: 0\r\n") == (method != "DELETE"))
            // A handle that sent a body sends none in the next request.
            #expect(sent[2].hasPrefix("GET / HTTP/1.1\r\n") && !sent[2].contains("Content-Length"))
        }
    }

    @Test("the response to HEAD has a length and no body")
    func head() async throws {
        let server = try WireServer { request in
            request.text.hasPrefix("HEAD") ? .text("HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n") : .ok("x")
        }
        defer { server.close() }
        try await withClient { client in
            let response = try await client.fetch(Request(method: "HEAD", url: server.origin))
            #expect(response.status == 200 && response.body.isEmpty)
            #expect(try await client.bodyText(Request(url: server.origin)) == "x")
            #expect(server.connections == 1)
        }
    }

    @Test("a 304 to our validators is unchanged; any other 304 is just a response")
    func conditional() async throws {
        let server = try WireServer { _ in
            .text("HTTP/1.1 304 Not Modified\r\nContent-Length: 99999999\r\nETag: W/\"2\"\r\n\r\n")
        }
        defer { server.close() }
        try await withClient { client in
            let validators = Validators(etag: "W/\"a,b\"", lastModified: "Thu,  1 Jan 1970 00:00:00 GMT")
            let response = try await client.fetch(Request(url: server.origin, validators: validators))
            #expect(response.isUnchanged && response.status == 304 && response.headers["etag"] == "W/\"2\"")
            #expect(server.texts[0].contains("If-None-Match: W/\"a,b\"\r\n"))
            #expect(server.texts[0].contains("If-Modified-Since: Thu,  1 Jan 1970 00:00:00 GMT\r\n"))
            let other = try await client.fetch(Request(url: server.origin))
            #expect(!other.isUnchanged && other.status == 304)
        }
    }

    @Test("a body with the known digest is unchanged and not decoded")
    func known() async throws {
        let server = try WireServer { request in
            .ok(request.text.contains("/b") ? "other" : "no gzip at all", "Content-Encoding: gzip")
        }
        defer { server.close() }
        try await withClient { client in
            let digest = StableHash.of(Array("no gzip at all".utf8))
            let response = try await client.fetch(Request(url: server.origin + "/a", knownDigest: digest))
            #expect(
                response.isUnchanged && response.body.isEmpty && response.received == 14 && response.digest == digest)
            #expect(await client.failed(Request(url: server.origin + "/b", knownDigest: digest))?.failure == .encoding)
        }
    }

    @Test("10,000 requests to one origin share eight connections, and every one is answered")
    func many() async throws {
        let server = try WireServer { request in
            .ok(String(request.text.split(separator: " ")[1]))
        }
        defer { server.close() }
        try await withClient { client in
            let right = try await withThrowingTaskGroup(of: Bool.self) { group in
                for n in 0..<10_000 {
                    group.addTask { try await client.bodyText(Request(url: "\(server.origin)/\(n)")) == "/\(n)" }
                }
                return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
            }
            #expect(right == 10_000)
            #expect(server.connections <= 8)
        }
    }

    @Test("an idle connection that the server has closed is replaced")
    func stale() async throws {
        let server = try WireServer { request in
            request.number == 0 ? .ok("x") : request.number == 1 ? .lastText("") : .ok("y")
        }
        defer { server.close() }
        try await withClient { client in
            let first = try await client.bodyText(Request(url: server.origin))
            let second = try await client.bodyText(Request(url: server.origin))
            #expect(first == "x" && second == "y")
            #expect(server.texts.count == 3 && server.connections == 2)
        }
    }
}
