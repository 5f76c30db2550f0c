// SPDX-License-Identifier: Apache-2.0

import CZlib
import Foundation
import Testing
import VedetteCore
import VedetteTestSupport

@testable import VedetteHTTP

@Suite("Streams on the wire", .timeLimit(.minutes(10)))
struct StreamWireTests {
    private static func request(_ url: String, _ change: (inout StreamSettings) -> Void = { _ in }) -> Request {
        var request = Request(url: url, lane: .streams)
        var settings = StreamSettings()
        change(&settings)
        request.stream = settings
        return request
    }

    /// Opens a stream, or fails the test.
    private static func open(_ client: HTTPClient, _ request: Request) async throws -> any RecordStream {
        try #require(try await client.fetch(request).records)
    }

    /// The next batch with records; those that only keep the connection alive are skipped.
    private static func records(_ stream: any RecordStream) async throws -> [String]? {
        while let batch = try await stream.next() {
            if !batch.records.isEmpty { return batch.records.map { String(decoding: $0.data, as: UTF8.self) } }
        }
        return nil
    }

    private static func failure(_ stream: any RecordStream) async -> FetchError? {
        do throws(FetchError) {
            while try await stream.next() != nil {}
            return nil
        } catch {
            return error
        }
    }

    @Test("records arrive one by one while the response goes on, and its orderly end is the end of the stream")
    func records() async throws {
        let script = StreamScript()
        let server = try WireServer(script.answer("Content-Type: text/event-stream", "Connection: close"))
        defer { server.close() }
        try await withClient { client async throws in
            let stream = try await Self.open(client, Self.request(server.url()))
            script.send("retry: 1500\nid: 7\ndata: on")
            script.send("e\n\n")
            let first = try #require(try await Self.nextBatch(stream))
            #expect(first.records == [StreamRecord(Array("one".utf8), id: "7")])
            #expect(stream.retry == .milliseconds(1500))
            script.send(": alive\n")
            let alive = try #require(try await stream.next())
            #expect(alive.records.isEmpty && !alive.isInterrupted)
            script.send("data: two\n\ndata: never\n")
            #expect(try await Self.records(stream) == ["two"])
            script.end()
            #expect(try await Self.records(stream) == nil)
        }
    }

    private static func nextBatch(_ stream: any RecordStream) async throws -> RecordBatch? {
        while let batch = try await stream.next() {
            if !batch.records.isEmpty { return batch }
        }
        return nil
    }

    @Test("a response of another type is a complete body, whether or not it has a length")
    func complete() async throws {
        let server = try WireServer { request in
            request.target == "/length"
                ? .ok("[1]", "Content-Type: application/json") : .lastText("HTTP/1.1 200 OK\r\n\r\n[2]")
        }
        defer { server.close() }
        try await withClient { client async throws in
            let whole = try await client.fetch(Self.request(server.url("/length")) { $0.format = .lines })
            #expect(whole.records == nil && whole.text == "[1]")
            let other = try await client.fetch(Self.request(server.url("/none")))
            #expect(other.records == nil && other.text == "[2]")
        }
    }

    @Test("an error, a redirect and a refusal with credentials are handled as for every request")
    func credentials() async throws {
        let script = StreamScript()
        let other = try WireServer(at: "127.0.0.2") { _ in script.answer("Content-Type: application/x-ndjson") }
        let server = try WireServer { request in
            request.target == "/503"
                ? .reply("503 Busy", "later", ["Content-Type: text/event-stream"])
                : .redirect(302, to: other.url("/stream"))
        }
        defer { WireServer.close(server, other) }
        try await withClient { client async throws in
            let busy = try await client.fetch(Self.request(server.url("/503")))
            #expect(busy.status == 503 && busy.records == nil)
            var request = Self.request(server.url("/moved"))
            request.credentials = Credentials(user: "u", password: Secret("p4ss"))
            let stream = try await Self.open(client, request)
            script.send("{\"a\":1}\n")
            #expect(try await Self.records(stream) == ["{\"a\":1}"])
        }
        #expect(server.requests.last?.header("Authorization").count == 1)
        #expect(other.requests.last?.header("Authorization").isEmpty == true)
        script.end()
    }

    @Test("a connection without a byte fails after the keep-alive time, and one that is cut fails at once")
    func silence() async throws {
        let (silent, cut) = (StreamScript(), StreamScript())
        let server = try WireServer { request in
            let script = request.target == "/silent" ? silent : cut
            return script.answer("Content-Type: text/event-stream", "Transfer-Encoding: chunked")
        }
        defer { server.close() }
        try await withClient { client async throws in
            let stream = try await Self.open(client, Self.request(server.url("/silent")) { $0.keepAlive = .seconds(1) })
            silent.send("2\r\n:\n\r\n")
            let error = await Self.failure(stream)
            #expect(error?.failure == .timeout && error?.detail.contains("keep_alive") == true)
            await server.left(0)
            let other = try await Self.open(client, Self.request(server.url("/cut")))
            cut.send("ff\r\ndata: x\n")
            cut.end()
            let failed = await Self.failure(other)
            #expect(failed?.failure == .truncated || failed?.failure == .closed, "\(String(describing: failed))")
        }
        silent.end()
    }

    @Test("a line that a cut connection left without an end is no record; before a chunked end it is one")
    func cutLine() async throws {
        let (cut, whole) = (StreamScript(), StreamScript())
        let server = try WireServer { request in
            request.target == "/cut"
                ? cut.answer("Content-Type: application/x-ndjson", "Connection: close")
                : whole.answer("Content-Type: application/x-ndjson", "Transfer-Encoding: chunked")
        }
        defer { server.close() }
        try await withClient { client async throws in
            let stream = try await Self.open(client, Self.request(server.url("/cut")))
            cut.send("the disk is 10 % full\nthe disk is 9")
            cut.end()
            #expect(try await Self.records(stream) == ["the disk is 10 % full"])
            #expect(await Self.failure(stream)?.failure == .truncated)
            let other = try await Self.open(client, Self.request(server.url("/whole")))
            whole.send("5\r\na\nbcd\r\n0\r\n\r\n")
            whole.end()
            var lines: [String] = []
            while let records = try await Self.records(other) { lines += records }
            #expect(lines == ["a", "bcd"])
        }
    }

    @Test("a record beyond the limit fails the stream, and the records before it are there")
    func tooLong() async throws {
        let script = StreamScript()
        let server = try WireServer(script.answer("Content-Type: application/x-ndjson"))
        defer { server.close() }
        try await withClient { client async throws in
            let stream = try await Self.open(client, Self.request(server.url()))
            script.send("first\n" + String(repeating: "x", count: StreamSettings.recordLimit + 1))
            #expect(try await Self.records(stream) == ["first"])
            #expect(await Self.failure(stream)?.failure == .tooLarge)
            #expect(await client.memoryUsed <= 1 << 20)
        }
        script.end()
    }

    @Test(
        "a reader that is behind stops its server, loses nothing, and holds little memory; polls go on meanwhile",
        .tags(.I8))
    func backpressure() async throws {
        let script = StreamScript()
        let server = try WireServer { request in
            request.target == "/stream" ? script.answer("Content-Type: application/x-ndjson") : .ok()
        }
        defer { server.close() }
        let line = String(repeating: "y", count: 999) + "\n"
        let block = String(repeating: line, count: 1000)
        try await withClient { client async throws in
            let stream = try await Self.open(client, Self.request(server.url("/stream")))
            for _ in 0..<32 { script.send(block) }
            script.end()
            for _ in 0..<20 { #expect(try await client.status(.get(server.url("/poll"))) == 200) }
            #expect(script.sent < 32_000_000)
            var (count, most) = (0, 0)
            while let records = try await Self.records(stream) {
                count += records.count
                most = await max(most, client.memoryUsed)
            }
            #expect(count == 32_000)
            #expect(most <= 2 << 20)
        }
    }

    @Test("a compressed stream is read as it arrives, and one byte that becomes very many stops at the bound")
    func compressed() async throws {
        let script = StreamScript()
        let server = try WireServer(script.answer("Content-Type: application/x-ndjson", "Content-Encoding: gzip"))
        defer { server.close() }
        let compressor = Compressor()
        try await withClient { client async throws in
            let stream = try await Self.open(client, Self.request(server.url()))
            script.send(compressor.flushed("{\"a\":1}\n{\"b"))
            #expect(try await Self.records(stream) == ["{\"a\":1}"])
            script.send(compressor.flushed("\":2}\n"))
            #expect(try await Self.records(stream) == ["{\"b\":2}"])
            // About 20 KB that become 20 MB.
            let line = String(repeating: "z", count: 99_999) + "\n"
            script.send(compressor.flushed(String(repeating: line, count: 200)))
            var (count, most) = (0, 0)
            while count < 200, let records = try await Self.records(stream) {
                count += records.count
                most = await max(most, client.memoryUsed)
            }
            #expect(count == 200)
            #expect(most <= 3 << 20)
            script.end()
            #expect(await Self.failure(stream)?.failure == .truncated)
        }
    }

    @Test("closing, dropping and cancelling each end the connection; an interruption does not")
    func ends() async throws {
        let scripts = (0..<3).map { _ in StreamScript() }
        let server = try WireServer { request in
            scripts[request.number % 3].answer("Content-Type: text/event-stream")
        }
        defer { server.close() }
        try await withClient { client async throws in
            let closed = try await Self.open(client, Self.request(server.url()))
            closed.interrupt()
            let batch = try await closed.next()
            #expect(batch?.isInterrupted == true && batch?.records.isEmpty == true)
            closed.close()
            #expect(await Self.failure(closed)?.failure == .cancelled)
            _ = try await Self.open(client, Self.request(server.url()))
            let last = try await Self.open(client, Self.request(server.url()))
            let reader = Task { await Self.failure(last) }
            reader.cancel()
            #expect(await reader.value?.failure == .cancelled)
            last.close()
            while await client.runningCount > 0 { await Task.yield() }
            #expect(await client.memoryUsed == 0)
        }
        for script in scripts { script.end() }
    }

    @Test("over TLS records come whole, a reader that is behind loses none, and a wrong pin gets no request")
    func tls() async throws {
        let files = try await Certificates.all.value
        let server = try ScriptServer("tls.py", ["--certificate", files.server.certificate, "--key", files.server.key])
        func request(_ path: String) -> Request {
            var request = Self.request(server.origin + path)
            request.tls = TLSPolicy(ca: files.authority)
            return request
        }
        try await withClient { client async throws in
            var strange = request("/stream/orderly")
            strange.tls.pin = "sha256//" + String(repeating: "A", count: 43) + "="
            #expect(await client.failed(strange)?.failure == .tlsPin)
            for end in ["orderly", "cut"] {
                let stream = try await Self.open(client, request("/stream/\(end)"))
                for record in ["one", "two"] {
                    #expect(try await Self.records(stream) == [record])
                    #expect(try await client.status(.get(server.origin + "/step") { $0.tls = request("").tls }) == 200)
                }
                // libcurl 7.88 takes an end without a close_notify for an orderly one, since many servers send none.
                let failure = await Self.failure(stream)?.failure
                #expect(failure == nil || (end == "cut" && [.closed, .truncated].contains(failure)))
            }
            let stream = try await Self.open(client, request("/stream/flood"))
            for _ in 0..<20 {
                #expect(try await client.status(.get(server.origin + "/poll") { $0.tls = request("").tls }) == 200)
            }
            var (count, most) = (0, await client.memoryUsed)
            while let records = try await Self.records(stream) {
                count += records.count
                most = await max(most, client.memoryUsed)
            }
            #expect(count == 8000)
            #expect(most <= 2 << 20)
        }
        withExtendedLifetime(server) {}
    }

    @Test("open streams leave every slot of their origin to polls, and a shutdown ends them")
    func slots() async throws {
        let script = StreamScript()
        let server = try WireServer { request in
            request.target == "/stream" ? script.answer("Content-Type: text/event-stream") : .ok()
        }
        defer { server.close() }
        var streams: [any RecordStream] = []
        let client = try HTTPClient()
        for _ in 0..<12 { streams.append(try await Self.open(client, Self.request(server.url("/stream")))) }
        #expect(try await client.status(.get(server.url("/poll"))) == 200)
        await client.shutdown()
        for stream in streams { #expect(await Self.failure(stream)?.failure == .cancelled) }
        script.end()
    }
}

extension HTTPClient {
    fileprivate var memoryUsed: Int { transfers.memory.used }
    fileprivate var runningCount: Int { transfers.running.count }
}

/// A gzip stream that is flushed after each piece, as a server does that compresses what it pushes.
private final class Compressor {
    private let stream: UnsafeMutablePointer<z_stream>

    init() {
        stream = .allocate(capacity: 1)
        stream.initialize(to: z_stream())
        deflateInit2_(
            stream, 6, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size))
    }

    deinit {
        deflateEnd(stream)
        stream.deallocate()
    }

    func flushed(_ text: String) -> [UInt8] {
        var (input, output) = (Array(text.utf8), [UInt8](repeating: 0, count: text.utf8.count + 1000))
        let count = input.withUnsafeMutableBufferPointer { input in
            output.withUnsafeMutableBufferPointer { output in
                (stream.pointee.next_in, stream.pointee.avail_in) = (input.baseAddress, UInt32(input.count))
                (stream.pointee.next_out, stream.pointee.avail_out) = (output.baseAddress, UInt32(output.count))
                deflate(stream, Z_SYNC_FLUSH)
                return output.count - Int(stream.pointee.avail_out)
            }
        }
        return Array(output[..<count])
    }
}
