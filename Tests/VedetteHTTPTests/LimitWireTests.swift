// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteCore
import VedetteHTTP

@Suite("I8: limits and deadlines; I2: nothing shorter than it says")
struct LimitWireTests {
    struct Case: Sendable, CustomTestStringConvertible {
        var path: String
        var failure: Failure
        var timedOut = false
        var change: @Sendable (inout FetchLimits) -> Void = { _ in }
        var testDescription: String { path }
    }

    @Test(
        "each misbehaviour has its failure class",
        arguments: [
            Case(path: "/endless", failure: .tooLarge) { $0.received = 1 << 20 },
            Case(path: "/big?bytes=10000000000", failure: .tooLarge),
            Case(path: "/big?bytes=2000000&length=0", failure: .tooLarge) { $0.received = 1 << 20 },
            Case(path: "/gzipbomb?mb=200", failure: .tooLarge),
            Case(path: "/headers?kb=400", failure: .tooLarge),
            Case(path: "/manyheaders?n=10000", failure: .tooLarge),
            Case(path: "/cut/length", failure: .truncated),
            Case(path: "/cut/chunked", failure: .truncated),
            Case(path: "/cut/gzip", failure: .truncated),
            Case(path: "/cut/gzip?bytes=1", failure: .truncated),
            Case(path: "/two-lengths", failure: .protocol),
            Case(path: "/cl-te", failure: .protocol),
            Case(path: "/garbage", failure: .protocol),
            Case(path: "/badgzip", failure: .encoding),
            Case(path: "/close", failure: .closed),
            Case(path: "/reset", failure: .closed),
            Case(path: "/hang", failure: .timeout, timedOut: true) { $0.firstByte = .milliseconds(1) },
            Case(path: "/hang?again", failure: .timeout, timedOut: true) { $0.total = .milliseconds(100) },
            Case(path: "/drip?bytes_per_s=20", failure: .timeout) { $0.lowSpeed = .milliseconds(300) },
            Case(path: "/drip?bytes_per_s=100", failure: .timeout) { $0.total = .milliseconds(400) },
        ])
    func classes(_ one: Case) async throws {
        let lab = try await Lab.sound.value
        let request = Request.get(lab.faults + one.path) { one.change(&$0.limits) }
        let failure = try #require(await withClient { client in await client.failed(request) })
        #expect(failure.failure == one.failure)
        #expect(failure.timedOut == one.timedOut)
        // One sentence without a path.
        #expect(!failure.detail.contains("/cut") && !failure.detail.contains("\n") && failure.detail.count < 200)
    }

    @Test("a length beyond the limit is refused at the headers: not a byte of the body is waited for")
    func atHeaders() async throws {
        let server = try WireServer(.stall(Array("HTTP/1.1 200 OK\r\nContent-Length: 10000000000\r\n\r\n".utf8)))
        defer { server.close() }
        #expect(try await withClient { client in await client.failed(.get(server.url())) }?.failure == .tooLarge)
    }

    @Test(
        "complete bodies arrive in every encoding",
        arguments: ["/json", "/chunked", "/gzip", "/gzip?members=3", "/gzip?trailing", "/deflate", "/deflate?raw"])
    func packed(_ path: String) async throws {
        let lab = try await Lab.sound.value
        try await withClient { client async throws in
            let plain = try await client.bodyText(.get(lab.faults + "/json"))
            #expect(plain.utf8.count > 1000)
            #expect(try await client.bodyText(.get(lab.faults + path)) == plain)
        }
    }

    @Test("a body that ends with its connection is whole, its gzip stream is whole only at its own end")
    func untilClose() async throws {
        // gzip of "0123456789", without name and time.
        let packed: [UInt8] = [
            0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 2, 3, 0x33, 0x30, 0x34, 0x32, 0x36, 0x31, 0x35, 0x33, 0xB7, 0xB0, 4, 0, 0xC6,
            0xC7, 0x84,
            0xA6, 10, 0, 0, 0,
        ]
        let head = Array("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nConnection: close\r\n\r\n".utf8)
        let server = try WireServer { request in
            switch request.target {
            case "/plain": .lastText("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n0123456789")
            case "/whole": .last(head + packed)
            default: .last(head + packed.dropLast(Int(request.target.dropFirst()) ?? 1))
            }
        }
        defer { server.close() }
        try await withClient { client async throws in
            #expect(try await client.bodyText(.get(server.url("/plain"))) == "0123456789")
            #expect(try await client.bodyText(.get(server.url("/whole"))) == "0123456789")
            for bytes in 1..<packed.count {
                #expect(await client.failed(.get(server.url("/\(bytes)")))?.failure == .truncated)
            }
        }
    }

    @Test(
        "contradictory and invalid lengths are refused",
        arguments: [
            "Content-Length: 2\r\nContent-Length: 3", "Content-Length: 2, 3", "Content-Length: -2",
            "Content-Length: 0x2",
            "content-LENGTH: 2\r\nTransfer-Encoding: chunked",
        ])
    func lengths(_ headers: String) async throws {
        let server = try WireServer(.text("HTTP/1.1 200 OK\r\n\(headers)\r\n\r\n2\r\nok\r\n0\r\n\r\n"))
        defer { server.close() }
        #expect(try await withClient { client in await client.failed(.get(server.url())) }?.failure == .protocol)
    }

    @Test("a 304 to our validators is unchanged, without a body")
    func notModified() async throws {
        let server = try WireServer { request in
            request.header("If-None-Match") == ["\"a\""]
                ? .text("HTTP/1.1 304 Not Modified\r\nETag: \"b\"\r\nContent-Length: 99999999\r\n\r\n")
                : .ok("body", "ETag: \"a\"")
        }
        defer { server.close() }
        try await withClient { client async throws in
            let first = try await client.fetch(.get(server.url()))
            #expect(!first.isUnchanged)
            for _ in 0..<2 {
                let request = Request.get(server.url()) { $0.validators = Validators(etag: first.headers["ETag"]) }
                let second = try await client.fetch(request)
                #expect(second.isUnchanged)
                #expect(second.status == 304)
                #expect(second.body.isEmpty)
                #expect(second.headers["ETag"] == "\"b\"")
            }
            #expect(try await client.bodyText(.get(server.url())) == "body")
        }
        #expect(server.connections == 1)
    }

    @Test("a body with the known digest comes back unchanged; the same validators over another body do not hide it")
    func digest() async throws {
        let server = try WireServer { .ok($0.target == "/a" ? "one" : "two", "ETag: \"same\"") }
        defer { server.close() }
        try await withClient { client async throws in
            let digest = try await client.fetch(.get(server.url("/a"))).digest
            let same = try await client.fetch(.get(server.url("/a")) { $0.knownDigest = digest })
            #expect(same.isUnchanged && same.body.isEmpty && same.digest == digest)
            let other = try await client.fetch(.get(server.url("/b")) { $0.knownDigest = digest })
            #expect(!other.isUnchanged && other.body == Array("two".utf8))
        }
    }

    @Test("an answer to HEAD and a 204 have no body, whatever length they name")
    func noBody() async throws {
        let server = try WireServer { request in
            request.method == "HEAD"
                ? .text("HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\nContent-Encoding: gzip\r\n\r\n")
                : .text("HTTP/1.1 204 No Content\r\n\r\n")
        }
        defer { server.close() }
        try await withClient { client async throws in
            for _ in 0..<2 {
                let head = try await client.fetch(Request(method: "HEAD", url: server.url()))
                #expect(head.status == 200 && head.body.isEmpty)
                let none = try await client.fetch(.get(server.url()))
                #expect(none.status == 204 && none.body.isEmpty)
            }
        }
        #expect(server.connections == 1)
    }

    @Test("the status of a receiver counts, even if its reply is too long, cut or damaged")
    func replies() async throws {
        let long = String(repeating: "x", count: 200_000)
        let server = try WireServer { request in
            switch request.target {
            case "/long": .reply("200 OK", long)
            case "/endless": .stall(Array("HTTP/1.1 202 Accepted\r\n\r\n\(long)".utf8))
            case "/huge":
                .stall(Array("HTTP/1.1 503 Busy\r\nRetry-After: 7\r\nContent-Length: 10000000000\r\n\r\n\(long)".utf8))
            case "/cut": .lastText("HTTP/1.1 201 Created\r\nContent-Length: 100\r\n\r\nshort")
            default: .reply("200 OK", "no gzip", ["Content-Encoding: gzip"])
            }
        }
        defer { server.close() }
        try await withClient { client async throws in
            #expect(try await client.fetch(.delivery(server.url("/long"))).body.count == 64 << 10)
            #expect(try await client.fetch(.delivery(server.url("/endless"))).status == 202)
            let huge = try await client.fetch(.delivery(server.url("/huge")))
            #expect(huge.status == 503 && huge.headers["Retry-After"] == "7")
            #expect(try await client.fetch(.delivery(server.url("/cut"))).status == 201)
            #expect(try await client.fetch(.delivery(server.url("/badgzip"))).status == 200)
        }
    }

    @Test("the status of an error counts for a poll too, even if its body is cut or damaged")
    func errorPages() async throws {
        let server = try WireServer { request in
            request.target == "/cut"
                ? .lastText("HTTP/1.1 401 Unauthorized\r\nContent-Length: 100\r\n\r\nshort")
                : .reply("429 Slow down", "no gzip", ["Content-Encoding: gzip", "Retry-After: 7"])
        }
        defer { server.close() }
        try await withClient { client async throws in
            #expect(try await client.fetch(.get(server.url("/cut"))).status == 401)
            #expect(try await client.fetch(.get(server.url("/gzip"))).headers["Retry-After"] == "7")
        }
    }

    @Test("informational responses before the final one are ignored")
    func informational() async throws {
        let early = "HTTP/1.1 103 Early Hints\r\nContent-Length: 5\r\nSet-Cookie: no=1\r\n\r\n"
        let server = try WireServer(.text(early + early + "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"))
        defer { server.close() }
        let response = try await withClient { client in
            try await client.fetch(.get(server.url()) { $0.session = "s" })
        }
        #expect(response.status == 200 && response.body == Array("ok".utf8))
        #expect(response.headers["Set-Cookie"] == nil)
    }

    @Test("a refused connection and an unknown name have their failure class")
    func unreachable() async throws {
        let server = try WireServer(.ok())
        let url = server.url()
        server.close()
        try await withClient { client async throws in
            #expect(await client.failed(.get("http://no-such-name.invalid/"))?.failure == .resolve)
            let gone = await client.failed(.get(url) { $0.limits.total = .seconds(20) })
            #expect(gone?.failure == .refused || gone?.failure == .closed)
        }
    }
}
