// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteCore

@testable import VedetteHTTP

@Suite("What is kept of a server: TLS sessions, connections, addresses")
struct ServerCacheTests {
    @Test("each of twelve servers resumes its session, whose policy is the same one")
    func resumed() async throws {
        let certificates = try await Certificates.all.value
        let pair = certificates.server
        let servers = try (0..<12).map { _ in
            try ScriptServer("tls.py", ["--certificate", pair.certificate, "--key", pair.key])
        }
        let tls = TLSPolicy(ca: certificates.authority)
        try await withClient { client async throws in
            func resumed(_ server: ScriptServer, _ tls: TLSPolicy) async throws -> Bool {
                try await client.bodyText(.get(server.origin + "/close") { $0.tls = tls }).contains("\"resumed\": true")
            }
            for server in servers { #expect(try await !resumed(server, tls)) }
            for server in servers { #expect(try await resumed(server, tls)) }
            #expect(try await !resumed(servers[0], TLSPolicy(insecure: true)))
            #expect(try await !resumed(servers[0], TLSPolicy(ca: certificates.authority, minimum: .v1_3)))
            #expect(try await resumed(servers[0], TLSPolicy(insecure: true)))
            #expect(try await resumed(servers[0], tls))
        }
    }

    @Test("no request is lost to a server that closes its connections at random", arguments: [1, 4])
    func fickle(together: Int) async throws {
        let certificates = try await Certificates.all.value
        let pair = certificates.server
        let server = try ScriptServer("tls.py", ["--certificate", pair.certificate, "--key", pair.key])
        let request = Request(url: server.origin + "/fickle", tls: TLSPolicy(ca: certificates.authority))
        try await withClient { client async throws in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<together {
                    group.addTask {
                        for _ in 0..<100 {
                            let response = try await client.fetch(request)
                            #expect(response.status == 200)
                        }
                    }
                }
                try await group.waitForAll()
            }
        }
    }

    @Test("the servers that were used last are kept, as many as there is room for")
    func bound() throws {
        var caches = ServerCaches()
        func cache(_ number: Int) -> ServerCache? {
            caches.cache(of: ServerCaches.Server(origin: "https://\(number)", tls: TLSPolicy()))
        }
        let all = (0..<ServerCaches.maximumServers).map(cache)
        #expect(all.allSatisfy { $0 != nil })
        for number in 0..<ServerCaches.maximumServers { #expect(cache(number) === all[number]) }
        for number in 0..<100 { _ = cache(ServerCaches.maximumServers + number) }
        #expect(cache(ServerCaches.maximumServers - 1) === all.last ?? nil)
        #expect(cache(0) !== all[0])
        let removed = ServerCaches.Server(origin: "https://\(ServerCaches.maximumServers - 1)", tls: TLSPolicy())
        caches.remove(removed, where: all[1])
        #expect(caches.cache(of: removed) === all.last ?? nil)
        caches.remove(removed)
        #expect(caches.cache(of: removed) !== all.last ?? nil)
    }
}
