// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteCore
import VedetteHTTP

@Suite("TLS: trusted and untrusted servers")
struct TLSWireTests {
    private static let wrongPin = "sha256//" + String(repeating: "A", count: 43) + "="

    @Test("a request succeeds with the right pin, with the certificate as authority, and with insecure")
    func trusted() async throws {
        let lab = try await Lab.sound.value
        let policies = [
            TLSPolicy(pin: lab.pin), TLSPolicy(pin: Self.wrongPin + ";" + lab.pin), TLSPolicy(ca: lab.certificate),
            TLSPolicy(insecure: true),
        ]
        for tls in policies {
            try await withClient { client async throws in
                #expect(try await client.fetch(.get(lab.faultsTLS + "/json") { $0.tls = tls }).status == 200)
            }
        }
    }

    @Test("a wrong pin fails closed: the server gets no request, and so no credential")
    func wrongPin() async throws {
        let lab = try await Lab.sound.value
        try await withClient { client async throws in
            for pin in [Self.wrongPin, "sha256//short", "nonsense"] {
                let request = Request.get(lab.faultsTLS + "/echo?marker=wrongpin") {
                    $0.tls.pin = pin
                    $0.credentials = Credentials(user: "u", password: Secret("p"))
                }
                #expect(await client.failed(request)?.failure == .tlsPin)
            }
            #expect(try await lab.received("marker=wrongpin", client) == 0)
        }
    }

    @Test("each reason not to trust a server has its failure class")
    func untrusted() async throws {
        let (lab, expired) = (try await Lab.sound.value, try await Lab.expired.value)
        let other = lab.faultsTLS.replacing("127.0.0.1", with: "other.localhost")
        let cases: [(String, TLSPolicy, Failure)] = [
            (lab.faultsTLS, TLSPolicy(), .tlsUntrusted),
            (expired.faultsTLS, TLSPolicy(ca: expired.certificate), .tlsExpired),
            (other, TLSPolicy(ca: lab.certificate), .tlsName),
            (lab.faultsTLS, TLSPolicy(ca: "/nonexistent/ca.pem"), .configuration),
        ]
        for (url, tls, expected) in cases {
            try await withClient { client async throws in
                #expect(await client.failed(.get(url + "/json") { $0.tls = tls })?.failure == expected, "\(url) \(tls)")
            }
        }
    }

    @Test("a pinned key is trusted after its certificate's date, and for another name")
    func expired() async throws {
        let expired = try await Lab.expired.value
        try await withClient { client async throws in
            let request = Request.get(expired.faultsTLS + "/json") { $0.tls.pin = expired.pin }
            #expect(try await client.fetch(request).status == 200)
        }
    }

    @Test("a server without TLS 1.2 is refused")
    func old() async throws {
        // The alert protocol_version of TLS 1.0 (RFC 8446 §6).
        let server = try WireServer(.last([0x15, 3, 1, 0, 2, 2, 70]))
        defer { server.close() }
        let url = server.url().replacing("http:", with: "https:")
        #expect(try await withClient { client in await client.failed(.get(url)) }?.failure == .tlsHandshake)
    }

    @Test(
        "an alert in the handshake is named as what it is",
        arguments: [
            (70, "no TLS version"), (40, "no TLS version"), (112, "unrecognized_name"), (80, "internal_error"),
            (49, "access_denied"),
        ])
    func alerts(_ code: UInt8, _ words: String) async throws {
        // A fatal alert of TLS 1.2 (RFC 8446 §6).
        let server = try WireServer(.last([0x15, 3, 3, 0, 2, 2, code]))
        defer { server.close() }
        let url = server.url().replacing("http:", with: "https:")
        let failed = try await withClient { client in await client.failed(.get(url)) }
        #expect(failed?.failure == .tlsHandshake && failed?.detail.contains(words) == true, "\(failed?.detail ?? "")")
    }

    @Test("a connection that ends in the handshake without an alert is told as that, and no cause is guessed")
    func endedInHandshake() async throws {
        let server = try WireServer(.last([]))
        defer { server.close() }
        let url = server.url().replacing("http:", with: "https:")
        let failed = try await withClient { client in await client.failed(.get(url)) }
        #expect(failed?.failure == .tlsHandshake)
        #expect(
            failed?.detail.contains("closed the connection during the TLS handshake; does it speak TLS on that port?")
                == true, "\(failed?.detail ?? "")")
    }

    @Test("http to a TLS port, https to a plain one, and a handshake without end have their failure class")
    func misplaced() async throws {
        let lab = try await Lab.sound.value
        let plain = try WireServer(.lastText("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n"))
        let silent = try WireServer(.silence)
        defer { WireServer.close(plain, silent) }
        try await withClient { client async throws in
            #expect(await client.failed(.get(lab.faultsTLS.replacing("https:", with: "http:")))?.failure == .closed)
            let toPlain = await client.failed(.get(plain.url().replacing("http:", with: "https:")))
            #expect(toPlain?.failure == .tlsHandshake && toPlain?.detail.contains("does not speak TLS") == true)
            let toSilent = Request.get(silent.url().replacing("http:", with: "https:")) {
                $0.limits.connect = .milliseconds(100)
            }
            let failure = await client.failed(toSilent)
            #expect(failure?.failure == .timeout && failure?.timedOut == true)
        }
    }

    @Test("a connection made under one policy is not reused under another")
    func reuse() async throws {
        let lab = try await Lab.sound.value
        try await withClient { client async throws in
            let url = lab.faultsTLS + "/json"
            func status(_ tls: TLSPolicy) async throws -> Int {
                try await client.fetch(.get(url) { $0.tls = tls }).status
            }
            for _ in 0..<2 {
                for good in [TLSPolicy(insecure: true), TLSPolicy(pin: lab.pin), TLSPolicy(ca: lab.certificate)] {
                    #expect(try await status(good) == 200)
                    #expect(try await status(good) == 200)
                    #expect(await client.failed(.get(url) { $0.tls.pin = Self.wrongPin })?.failure == .tlsPin)
                    #expect(await client.failed(.get(url))?.failure == .tlsUntrusted)
                }
            }
        }
    }
}
