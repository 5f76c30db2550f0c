// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import VedetteCore
import VedetteSystem

@testable import VedetteHTTP

@Suite("TLS: client certificates, versions, and untrusted servers")
struct TLSPolicyTests {
    private struct Answer: Decodable {
        var version: String
        var client: String?
        var path: String
        var served: Int
        var port: Int
        var resumed: Bool
    }

    private func server(_ pair: Certificates.Pair, _ options: String...) throws -> ScriptServer {
        try ScriptServer("tls.py", ["--certificate", pair.certificate, "--key", pair.key] + options)
    }

    private func answer(_ client: HTTPClient, _ url: String, _ tls: TLSPolicy) async throws -> Answer {
        try JSONDecoder().decode(Answer.self, from: Data(try await client.body(.get(url) { $0.tls = tls })))
    }

    @Test("a client certificate is sent to a server that requests it, with the key in its own file or the same")
    func clientCertificate() async throws {
        let files = try await Certificates.all.value
        let server = try server(files.server, "--client-ca", files.authority)
        let both = NSTemporaryDirectory() + "vedette-\(UUID()).pem"
        defer { try? FileManager.default.removeItem(atPath: both) }
        let text = try [files.client.certificate, files.client.key].map {
            try String(contentsOfFile: $0, encoding: .utf8)
        }
        try text.joined().write(toFile: both, atomically: true, encoding: .utf8)
        try await withClient { client async throws in
            for (certificate, key) in [(files.client.certificate, files.client.key), (both, nil)] {
                let tls = TLSPolicy(ca: files.authority, certificate: certificate, key: key)
                #expect(try await answer(client, server.origin, tls).client == "lamato")
            }
        }
    }

    @Test("a client certificate that is replaced is replaced for the next request, whatever was kept of the server")
    func replacedCertificate() async throws {
        let files = try await Certificates.all.value
        let server = try server(files.server, "--client-ca", files.authority)
        let both = NSTemporaryDirectory() + "vedette-\(UUID()).pem"
        defer { try? FileManager.default.removeItem(atPath: both) }
        let tls = TLSPolicy(ca: files.authority, certificate: both)
        try await withClient { client async throws in
            for (pair, name) in [(files.client, "lamato"), (files.successor, "moyer"), (files.client, "lamato")] {
                let text = try [pair.certificate, pair.key].map { try String(contentsOfFile: $0, encoding: .utf8) }
                try text.joined().write(toFile: both, atomically: true, encoding: .utf8)
                #expect(try await answer(client, server.origin, tls).client == name)
                #expect(try await answer(client, server.origin + "/close", tls).client == name)
            }
        }
    }

    @Test("a missing, an unknown and an unreadable client certificate have their failure class")
    func clientErrors() async throws {
        let files = try await Certificates.all.value
        let server = try server(files.server, "--client-ca", files.authority)
        let old = try self.server(files.server, "--client-ca", files.authority, "--version", "1.2")
        let cases: [(String, Certificates.Pair?, Failure, String)] = [
            (server.origin, nil, .tlsClientCertificate, "requires a client certificate"),
            (server.origin, files.stranger, .tlsClientCertificate, "does not accept the client certificate"),
            (old.origin, files.stranger, .tlsClientCertificate, "does not accept the client certificate"),
            (server.origin, .init(certificate: "/nowhere.pem", key: "/nowhere.key"), .configuration, "tls.certificate"),
            (
                server.origin, .init(certificate: files.client.certificate, key: files.stranger.key), .configuration,
                "tls.key"
            ),
        ]
        for (origin, pair, failure, words) in cases {
            try await withClient { client async throws in
                let tls = TLSPolicy(ca: files.authority, certificate: pair?.certificate, key: pair?.key)
                let error = await client.failed(.get(origin) { $0.tls = tls })
                #expect(error?.failure == failure && error?.detail.contains(words) == true, "\(error as Any)")
            }
        }
    }

    @Test("case 21: another origin sees no client certificate")
    func forOtherOrigins() async throws {
        let files = try await Certificates.all.value
        let first = try server(files.server, "--client-ca", files.authority)
        let second = try server(files.server, "--client-ca", files.authority)
        try await withClient { client async throws in
            let tls = TLSPolicy(
                ca: files.authority, certificate: files.client.certificate, key: files.client.key, minimum: .v1_3)
            // The second origin is checked against the system's authorities, so its chain fails before a client certificate is
            // sent.
            let request = Request.get("\(first.origin)/?to=\(second.origin)/") { $0.tls = tls }
            #expect(await client.failed(request)?.failure == .tlsUntrusted)
            #expect(try await answer(client, second.origin, tls).served == 1)
        }
        let after = TLSPolicy(ca: "a", pin: "b", insecure: true, certificate: "c", key: "d", minimum: .v1_0)
            .forOtherOrigins
        #expect(after == TLSPolicy() && TLSPolicy(minimum: .v1_3).forOtherOrigins == TLSPolicy(minimum: .v1_3))
    }

    @Test("case 23: an old version is spoken only when it is asked for, and never an older one than that")
    func versions() async throws {
        let files = try await Certificates.all.value
        for (version, spoken) in [("1.0", "TLSv1"), ("1.1", "TLSv1.1"), ("1.2", "TLSv1.2"), ("1.3", "TLSv1.3")] {
            let server = try server(files.server, "--version", version)
            try await withClient { client async throws in
                for minimum in TLSPolicy.Version.allCases {
                    let tls = TLSPolicy(ca: files.authority, minimum: minimum)
                    if minimum.rawValue <= version {
                        #expect(try await answer(client, server.origin, tls).version == spoken)
                    } else {
                        let error = await client.failed(.get(server.origin) { $0.tls = tls })
                        #expect(error?.failure == .tlsHandshake)
                        #expect(error?.detail.contains("(\(minimum.rawValue) or later") == true)
                    }
                }
            }
        }
    }

    @Test("case 23: expired, self-signed, another name, an unknown authority and a changed pin are told apart")
    func classes() async throws {
        let files = try await Certificates.all.value
        let wrongPin = "sha256//" + String(repeating: "A", count: 43) + "="
        let cases: [(Certificates.Pair, TLSPolicy, Failure)] = [
            (files.expired, TLSPolicy(ca: files.authority), .tlsExpired),
            (files.selfSigned, TLSPolicy(), .tlsUntrusted), (files.server, TLSPolicy(), .tlsUntrusted),
            (files.otherName, TLSPolicy(ca: files.authority), .tlsName),
            (files.server, TLSPolicy(pin: wrongPin), .tlsPin),
            (files.server, TLSPolicy(ca: files.authority, pin: wrongPin), .tlsPin),
        ]
        for (pair, tls, failure) in cases {
            let server = try server(pair)
            try await withClient { client async throws in
                for _ in 0..<2 {
                    let error = await client.failed(.get(server.origin + "/s3cret") { $0.tls = tls })
                    #expect(error?.failure == failure && error?.detail.contains("s3cret") == false)
                }
                #expect(try await answer(client, server.origin, TLSPolicy(insecure: true)).served == 1)
            }
        }
    }

    @Test("a request that inspects its connection gets a new one, a full handshake, and the certificate's date")
    func inspected() async throws {
        let files = try await Certificates.all.value
        let server = try server(files.server)
        try await withClient { client async throws in
            let tls = TLSPolicy(ca: files.authority)
            let first = try await answer(client, server.origin, tls)
            var ports: [Int] = []
            for _ in 0..<2 {
                let request = Request.get(server.origin) { ($0.tls, $0.inspectsConnection) = (tls, true) }
                let response = try await client.fetch(request)
                let answer = try JSONDecoder().decode(Answer.self, from: Data(response.body))
                let now = Timestamp(milliseconds: KernelClock.wall.milliseconds)
                let days = try #require(response.certificateExpires).seconds(since: now) / 86_400
                #expect((99...100.01).contains(days) && !answer.resumed)
                ports.append(answer.port)
            }
            let last = try await answer(client, server.origin, tls)
            #expect(Set(ports + [first.port]).count == 3 && last.port == first.port)
            #expect(try await client.fetch(.get(server.origin) { $0.tls = tls }).certificateExpires == nil)
            let plain = try WireServer(.ok())
            defer { plain.close() }
            let request = Request.get(plain.url()) { $0.inspectsConnection = true }
            #expect(try await client.fetch(request).certificateExpires == nil)
        }
    }

    @Test(
        "the date of a certificate is read as OpenSSL and GnuTLS print it",
        arguments: zip(
            [
                "Nov  1 14:56:09 2026 GMT", "Nov 21 14:56:09 2026 GMT", "2026-11-21 14:56:09 GMT", "Nov 21 2026", "",
                "x GMT",
            ],
            [1_793_544_969_000, 1_795_272_969_000, 1_795_272_969_000, nil, nil, nil] as [Int64?]))
    func dates(_ text: String, _ expected: Int64?) {
        #expect(CurlCertificateDate.date(text)?.milliseconds == expected)
    }
}
