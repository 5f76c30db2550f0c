// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteCore

@testable import VedetteHTTP

@Suite("I8: the memory for bodies, over all transfers")
struct MemoryWireTests {
    private static let size = 1 << 20

    /// Sends half of a body and then waits until the client closes the connection.
    private static func half() throws -> WireServer {
        let head = "HTTP/1.1 200 OK\r\nContent-Length: \(size)\r\n\r\n"
        return try WireServer(.stall(Array(head.utf8) + [UInt8](repeating: 120, count: size / 2)))
    }

    @Test("bodies beyond the limit fail as `memory`, and the oldest goes on")
    func newest() async throws {
        let slow = try Self.half()
        let whole = try WireServer(.ok(String(repeating: "x", count: Self.size)))
        defer { WireServer.close(slow, whole) }
        let client = try HTTPClient(memory: Self.size * 3 / 2)
        try await using(client) { client async throws in
            let first = Task { await client.failed(.get(slow.url())) }
            while await client.memoryInUse < Self.size / 2 { await Task.yield() }
            // The newer of the two fails.
            for _ in 0..<3 { #expect(await client.failed(.get(whole.url()))?.failure == .memory) }
            #expect(await client.memoryInUse <= Self.size * 3 / 2 + 128)
            first.cancel()
            #expect(await first.value?.failure == .cancelled)
            // One body can always go on.
            let response = try await client.fetch(.get(whole.url()))
            #expect(response.body.count == Self.size)
            #expect(await client.memoryInUse >= Self.size)
        }
    }

    @Test("the largest body of a slow host makes room for a healthy one")
    func slowHosts() async throws {
        let (slow, other, third) = (try Self.half(), try Self.half(), try Self.half())
        let whole = try WireServer(.ok(String(repeating: "x", count: Self.size)))
        defer { WireServer.close(slow, other, third, whole) }
        // Large bodies have three quarters of it.
        let client = try HTTPClient(memory: Self.size * 10 / 3)
        try await using(client) { client async throws in
            let first = Task { await client.failed(.get(other.url())) }
            while await client.memoryInUse < Self.size / 2 { await Task.yield() }
            let second = Task { await client.failed(.get(slow.url()) { $0.lane = .slowHosts }) }
            while await client.memoryInUse < Self.size { await Task.yield() }
            let more = Task { await client.failed(.get(third.url())) }
            while await client.memoryInUse < Self.size * 3 / 2 { await Task.yield() }
            let response = try await client.fetch(.get(whole.url()))
            #expect(response.body.count == Self.size)
            #expect(await second.value?.failure == .memory)
            for task in [first, more] {
                task.cancel()
                #expect(await task.value?.failure == .cancelled)
            }
        }
    }

    @Test("a body that is being read keeps its share until the response is let go; a decoded one counts as it is")
    func held() async throws {
        let lab = try await Lab.sound.value
        let client = try HTTPClient(memory: 1 << 20)
        try await using(client) { client async throws in
            var response: Response? = try await client.fetch(.get(lab.faults + "/gzip"))
            let count = try #require(response?.body.count)
            #expect(await client.memoryInUse >= count)
            response = nil
            #expect(await client.memoryInUse == 0)
        }
    }

    @Test("hundreds of large bodies at once stay within the limit, and each ends with a body or as `memory`")
    func many() async throws {
        let server = try WireServer(at: "0.0.0.0") { _ in .ok(String(repeating: "x", count: Self.size)) }
        defer { server.close() }
        let limit = 4 * Self.size
        let client = try HTTPClient(memory: limit)
        try await using(client) { client async throws in
            let outcomes = await withTaskGroup(of: Failure?.self) { group in
                for n in 0..<72 {
                    group.addTask {
                        do throws(FetchError) {
                            let response = try await client.fetch(.get(server.url("/", host: "127.0.1.\(n + 1)")))
                            #expect(await client.memoryInUse <= limit + Self.size + 128)
                            #expect(response.body.count == Self.size)
                            return nil
                        } catch {
                            return error.failure
                        }
                    }
                }
                return await group.reduce(into: [Failure?]()) { $0.append($1) }
            }
            #expect(outcomes.contains(nil) && outcomes.allSatisfy { $0 == nil || $0 == .memory })
            #expect(await client.memoryInUse == 0)
        }
    }
}

extension HTTPClient {
    var memoryInUse: Int { transfers.memory.used }
}
