// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import VedetteCore
import VedetteTestSupport

@testable import VedetteHTTP

@Suite("What a server may do to us", .timeLimit(.minutes(10)))
struct AdversarialTests {
    private static func head(_ lines: String...) -> [UInt8] {
        Array((["HTTP/1.1 200 OK"] + lines).joined(separator: "\r\n").utf8) + Array("\r\n\r\n".utf8)
    }

    private static let chunk = Array("10000\r\n".utf8) + [UInt8](repeating: 0x78, count: 65536) + Array("\r\n".utf8)

    private static func endless(_ head: [UInt8], _ piece: [UInt8]) -> WireServer.Answer {
        .stream { send in if send(head) { while send(piece) {} } }
    }

    private func failure(
        _ answer: WireServer.Answer, _ change: @Sendable (inout Request) -> Void = { _ in }
    ) async throws -> FetchError? {
        let server = try WireServer(answer)
        let other = try WireServer(.ok("well"), at: "127.0.0.2")
        defer { WireServer.close(server, other) }
        return try await withClient { client async throws in
            let error = await client.failed(.get(server.url("/p4th"), change))
            #expect(error?.detail.contains("p4th") == false)
            #expect(try await client.bodyText(.get(other.url())) == "well")
            return error
        }
    }

    @Test("case 1: a connection that is accepted and stays silent ends at the first byte's deadline; others go on")
    func silent() async throws {
        let (server, other) = (try WireServer(.silence), try WireServer(.ok(), at: "127.0.0.2"))
        defer { WireServer.close(server, other) }
        try await withClient { client async throws in
            let request = Request.get(server.url()) { $0.limits.firstByte = .milliseconds(300) }
            let stuck = (0..<8).map { _ in Task { await client.failed(request) } }
            _ = await server.received(8)
            for _ in 0..<50 { #expect(try await client.status(.get(other.url())) == 200) }
            for task in stuck {
                let error = await task.value
                #expect(error?.failure == .timeout && error?.timedOut == true)
            }
            await server.left(8)
        }
    }

    @Test("case 2: a byte now and then ends at the speed's deadline, a little more at the whole's")
    func drip() async throws {
        let drip = WireServer.Answer.stream { send in
            guard send(Self.head("Content-Length: 100000")) else { return }
            while send([0x78]) { usleep(50_000) }
        }
        let slow = try await failure(drip) { $0.limits.lowSpeed = .milliseconds(400) }
        #expect(slow?.failure == .timeout && slow?.timedOut == false && slow?.detail.contains("64 bytes") == true)
        let long = try await failure(drip) {
            ($0.limits.lowSpeed, $0.limits.total) = (.seconds(60), .milliseconds(400))
        }
        #expect(long?.failure == .timeout && long?.detail.contains("did not finish in") == true)
    }

    @Test("case 3: an endless chunked body ends at the limit, with less than twice that in memory")
    func endless() async throws {
        await #expect(processExitsWith: .success) {
            let answer = AdversarialTests.endless(
                AdversarialTests.head("Transfer-Encoding: chunked"), AdversarialTests.chunk)
            try await Memory.expect(.tooLarge, growth: 2 * FetchLimits().received, answer)
        }
    }

    @Test("case 4: a gzip bomb ends at the limit of what it inflates to, with less than twice that in memory")
    func bomb() async throws {
        await #expect(processExitsWith: .success) {
            let bytes = try Memory.zeros(gzipped: 300)
            let head = AdversarialTests.head("Content-Encoding: gzip", "Content-Length: \(bytes.count)")
            try await Memory.expect(.tooLarge, growth: 2 * FetchLimits().inflated, .bytes(head + bytes))
        }
    }

    @Test("case 5: ten gigabytes that are announced are refused at the headers, others at the limit")
    func huge() async throws {
        await #expect(processExitsWith: .success) {
            let announced = AdversarialTests.endless(
                AdversarialTests.head("Content-Length: 10000000000"), AdversarialTests.chunk)
            try await Memory.expect(.tooLarge, growth: FetchLimits().received / 2, announced)
            let unsaid = AdversarialTests.endless(
                AdversarialTests.head("Connection: close"), AdversarialTests.chunk)
            try await Memory.expect(.tooLarge, growth: 2 * FetchLimits().received, unsaid)
        }
    }

    @Test("case 6: long, many and endless headers are too large, and the error tells the size alone")
    func headers() async throws {
        let many = (0..<10_000).map { "X-\($0): s3cret\r\n" }.joined()
        let answers = [
            "X: " + String(repeating: "s3cret", count: 40_000) + "\r\n", many,
            String(repeating: "X: " + String(repeating: "y", count: 1000) + "\r\n", count: 100),
        ]
        for text in answers {
            let error = try await failure(.text("HTTP/1.1 200 OK\r\n\(text)Content-Length: 0\r\n\r\n"))
            #expect(error?.failure == .tooLarge && error?.detail.contains("s3cret") == false)
        }
        let endless = Self.endless(Array("HTTP/1.1 200 OK\r\n".utf8), Array("X: y\r\n".utf8))
        #expect(try await failure(endless)?.failure == .tooLarge)
        let early = Self.endless([], Array("HTTP/1.1 103 Early Hints\r\nX: y\r\n\r\n".utf8))
        #expect(try await failure(early)?.failure == .tooLarge)
    }

    @Test(
        "case 14: a body that is cut is a failed fetch, however its length was said",
        arguments: [
            "Content-Length: 100\r\n\r\nshort", "Transfer-Encoding: chunked\r\n\r\n5\r\nshort\r\n",
            "Transfer-Encoding: chunked\r\n\r\n50\r\nshort", "Transfer-Encoding: chunked\r\n\r\n5\r\nshort\r\n0\r\n",
            "Content-Length: 5", "Content-Length: 5\r\n",
        ])
    func cut(_ rest: String) async throws {
        let error = try await failure(.lastText("HTTP/1.1 200 OK\r\n" + rest))
        #expect(error?.failure == .truncated || error?.failure == .closed, "\(error as Any)")
    }

    @Test("case 14: a gzip stream that is cut is a failed fetch, though its Content-Length is right")
    func cutGzip() async throws {
        let whole = try Memory.zeros(gzipped: 1)
        for count in [1, 4, 8, 9, 200, whole.count - 8] {
            let bytes = whole.dropLast(count)
            let head = Self.head("Content-Encoding: gzip", "Content-Length: \(bytes.count)")
            #expect(try await failure(.bytes(head + bytes))?.failure == .truncated)
        }
        // A body that ends with the connection has no length of its own, but gzip has an end.
        let head = Self.head("Content-Encoding: gzip", "Connection: close")
        #expect(try await failure(.last(head + whole.dropLast(20)))?.failure == .truncated)
    }

    @Test(
        "case 15: lengths that disagree, or stand beside chunks, are a failed fetch",
        arguments: [
            "Content-Length: 5\r\nContent-Length: 6", "Content-Length: 5, 6",
            "Content-Length: 5\r\nTransfer-Encoding: chunked",
            "Transfer-Encoding: chunked\r\nContent-Length: 5", "Content-Length: -5", "Content-Length: 5x",
            "Content-Length: +5", "Content-Length: 0x5",
        ])
    func lengths(_ lines: String) async throws {
        let error = try await failure(.lastText("HTTP/1.1 200 OK\r\n\(lines)\r\n\r\n5\r\nshort\r\n0\r\n\r\n"))
        #expect(error?.failure == .protocol, "\(error as Any)")
    }

    @Test("case 17: a redirect loop and a sixth redirect are failures; the client stops by itself")
    func loop() async throws {
        let server = try WireServer { .redirect(302, to: $0.target + "x") }
        defer { server.close() }
        let error = try await withClient { client in await client.failed(.get(server.url())) }
        #expect(error?.failure == .redirect && server.requests.count == 6)
    }

    @Test("case 18: from https to http is refused, and nothing is sent there")
    func downgrade() async throws {
        let pair = try await Certificates.all.value.server
        let secure = try ScriptServer("tls.py", ["--certificate", pair.certificate, "--key", pair.key])
        let plain = try WireServer(.ok())
        defer { plain.close() }
        let request = Request.get("\(secure.origin)/?to=\(plain.url())") { $0.tls.insecure = true }
        let error = try await withClient { client in await client.failed(request) }
        #expect(error?.failure == .redirect && error?.detail.contains("https to http") == true)
        #expect(plain.connections == 0)
    }

    @Test(
        "case 19: a redirect to another scheme opens nothing",
        arguments: [
            "file:///etc/passwd", "ftp", "gopher", "dict", "FILE:///etc/passwd", "javascript:1", "data:,x", "ws",
        ])
    func schemes(_ scheme: String) async throws {
        let target = try WireServer(.ok())
        defer { target.close() }
        let location = scheme.contains(":") ? scheme : target.origin.replacing("http:", with: scheme + ":")
        let error = try await failure(.redirect(302, to: location))
        #expect(error?.failure == .redirect && error?.detail.contains("passwd") == false)
        #expect(target.connections == 0)
    }

    @Test(
        "case 22: a permanent redirect is followed and its address named, for a person to write down",
        arguments: [301, 308])
    func permanent(_ status: Int) async throws {
        let server = try WireServer { $0.target == "/old" ? .redirect(status, to: "/new?a=b") : .ok("new") }
        defer { server.close() }
        let response = try await withClient { client in try await client.fetch(.get(server.url("/old"))) }
        #expect(response.text == "new" && response.movedTo == server.url("/new?a=b"))
    }
}

/// What responses do to the peak memory, in a process of their own.
private enum Memory {
    static func expect(_ failure: Failure, growth: Int, _ answer: WireServer.Answer) async throws {
        let server = try WireServer { request in
            switch request.target {
            case "/first": .ok()
            case "/refused": .lastText("HTTP/1.1 200 OK\r\nContent-Length: 10000000000\r\n\r\n")
            default: answer
            }
        }
        defer { server.close() }
        let client = try HTTPClient()
        // A refusal before the measured one: the pages of the program's own code that it touches count as memory.
        _ = try await client.fetch(.get(server.url("/first")))
        _ = await client.failed(.get(server.url("/refused")))
        let before = try PeakMemory.bytes()
        let error = await client.failed(.get(server.url()))
        let grown = try PeakMemory.bytes() - before
        await client.shutdown()
        #expect(error?.failure == failure, "\(error as Any)")
        #expect(grown < growth, "grown by \(grown >> 10) of \(growth >> 10) KiB")
    }

    /// So many megabytes of zeros.
    static func zeros(gzipped megabytes: Int) throws -> [UInt8] {
        let process = Process()
        process.executableURL = URL(filePath: "/bin/sh")
        process.arguments = ["-c", "head -c \(megabytes)000000 /dev/zero | gzip -9"]
        let output = Pipe()
        process.standardOutput = output
        try process.runUnblocked()
        let bytes = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitForEnd()
        return Array(bytes)
    }
}
