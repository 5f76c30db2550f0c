// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteCore

@testable import VedetteHTTP

@Suite("TLS sessions")
struct TLSSessionTests {
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

    @Test("the sessions of the servers that were used last are kept")
    func bound() throws {
        var cache = TLSSessionCache()
        func sessions(_ number: Int) -> TLSSessions? {
            cache.sessions(of: TLSSessionCache.Server(origin: "https://\(number)", tls: TLSPolicy()))
        }
        let first = sessions(0)
        #expect(first != nil)
        for number in 1..<TLSSessionCache.maximumServers { _ = sessions(number) }
        #expect(sessions(0) === first)
        for number in 1...2 * TLSSessionCache.maximumServers { _ = sessions(number) }
        #expect(sessions(0) !== first)
    }
}
