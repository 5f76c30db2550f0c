// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteCore

@Suite("Addresses to listen on")
struct ListenAddressTests {
    @Test("an address and a port, a Unix socket and systemd are read, and written as they were")
    func good() throws {
        for text in ["127.0.0.1:8420", "[::1]:80", "0.0.0.0:0", "unix:/run/vedette/page.sock", "systemd"] {
            #expect(try ListenAddress(text).description == text)
        }
        #expect(try ListenAddress("localhost:8420") == .network(host: "127.0.0.1", port: 8420))
    }

    @Test(
        "anything else is refused",
        arguments: [
            "", "8420", "127.0.0.1", "127.0.0.1:", "127.0.0.1:70000", "::1:80", "[127.0.0.1]:80", "example.com:80",
            "unix:page.sock", "unix:/\(String(repeating: "a", count: 107))", "1.2.3:80", "1.2.3.+4:80", ":80",
        ])
    func bad(text: String) {
        #expect(throws: ListenAddress.Problem.self) { try ListenAddress(text) }
    }

    @Test("only loopback and Unix sockets are out of reach of other machines")
    func loopback() throws {
        #expect(try ListenAddress("127.0.0.1:1").isLoopback && ListenAddress("[::1]:1").isLoopback)
        #expect(try ListenAddress("127.1.2.3:1").isLoopback && ListenAddress("unix:/x").isLoopback)
        #expect(try !ListenAddress("0.0.0.0:1").isLoopback && !ListenAddress("[::]:1").isLoopback)
        #expect(try !ListenAddress("192.168.0.1:1").isLoopback && !ListenAddress("systemd").isLoopback)
    }
}
