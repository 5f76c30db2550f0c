// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteCore
import VedetteHTTP

@Suite("TLS", .timeLimit(.minutes(10)))
struct TLSTests {
    private let lab = Lab.sound
    private static let wrongPin = "sha256//" + String(repeating: "A", count: 43) + "="

    @Test("the right pin, also as one of two, is trusted; so is the certificate as authority, and insecure")
    func trusted() async throws {
        let lab = try await lab.value
        try await withClient { client in
            for tls in [
                TLSPolicy(pin: lab.pin), TLSPolicy(pin: "\(Self.wrongPin);\(lab.pin)"), TLSPolicy(ca: lab.certificate),
                TLSPolicy(insecure: true),
            ] {
                let status = try await client.status(Request(url: lab.faultsTLS + "/json?n=1", tls: tls))
                #expect(status == 200)
            }
        }
    }

    private static func inOtherCase(_ text: String) -> String {
        String(text.map { $0.isLowercase ? Character($0.uppercased()) : Character($0.lowercased()) })
    }

    @Test("a wrong pin fails before anything is sent, also beside kept connections and sessions of the right one")
    func wrongPin() async throws {
        let lab = try await lab.value
        try await withClient { client in
            for tls in [TLSPolicy(pin: lab.pin), TLSPolicy(insecure: true)] {
                _ = try await client.fetch(Request(url: lab.faultsTLS + "/json?n=1", tls: tls))
            }
            let request = Request(
                url: lab.faultsTLS + "/echo?wrongpin", headers: [Header("X-Token", Secret("t0ken-wrongpin"))],
                tls: TLSPolicy(pin: Self.wrongPin))
            for _ in 0..<3 { #expect(await client.failed(request)?.failure == .tlsPin) }
            // libcurl compares pins without regard to case.
            var other = request
            other.tls = TLSPolicy(pin: "sha256//" + Self.inOtherCase(String(lab.pin.dropFirst(8))))
            for _ in 0..<3 { #expect(await client.failed(other)?.failure == .tlsPin) }
            let log = try await client.bodyText(Request(url: lab.faults + "/raw-requests?min=1"))
            #expect(log.contains("/json?n=1") && !log.contains("wrongpin"))
        }
    }

    @Test("a connection made under a laxer policy is not reused under a stricter one")
    func strict() async throws {
        let lab = try await lab.value
        try await withClient { client in
            for _ in 0..<2 {
                _ = try await client.fetch(Request(url: lab.faultsTLS + "/json?n=1", tls: TLSPolicy(insecure: true)))
                #expect(await client.failed(Request(url: lab.faultsTLS + "/json?n=1"))?.failure == .tlsUntrusted)
            }
        }
    }

    @Test("a certificate for another name, an expired one, and none have their failure class")
    func classes() async throws {
        let lab = try await lab.value
        let expired = try await Lab.expired.value
        try await withClient { client in
            let name = lab.faultsTLS.replacing("127.0.0.1", with: "wrong.localhost")
            let tls = TLSPolicy(ca: lab.certificate)
            #expect(await client.failed(Request(url: name + "/json", tls: tls))?.failure == .tlsName)
            let old = Request(url: expired.faultsTLS + "/", tls: TLSPolicy(ca: expired.certificate))
            #expect(await client.failed(old)?.failure == .tlsExpired)
            let talker = try WireServer(greeting: "220 mail.example ESMTP\r\n") { _ in .silence }
            defer { talker.close() }
            let plain = talker.origin.replacing("http:", with: "https:")
            #expect(await client.failed(Request(url: plain))?.failure == .tlsHandshake)
            #expect(
                await client.failed(Request(url: lab.faultsTLS.replacing("https:", with: "http:")))?.failure == .closed)
            let missing = Request(url: lab.faultsTLS + "/json", tls: TLSPolicy(ca: "/nowhere/ca.pem"))
            #expect(await client.failed(missing)?.failure == .configuration)
        }
    }
}
