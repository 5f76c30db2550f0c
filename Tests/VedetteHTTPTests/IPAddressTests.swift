// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import VedetteHTTP

@Suite("Addresses (RFC 6890)")
struct IPAddressTests {
    @Test(
        "what no stranger should make us ask is private, in whatever dress",
        arguments: [
            "127.0.0.1", "127.255.255.254", "0.0.0.0", "0.1.2.3", "10.0.0.1", "100.64.0.1", "100.127.255.255",
            "169.254.169.254", "172.16.0.1", "172.31.255.255", "192.0.0.8", "192.0.2.1", "192.168.1.1", "198.18.0.1",
            "198.51.100.7", "203.0.113.9", "224.0.0.1", "240.0.0.1", "255.255.255.255", "::", "::1",
            "::ffff:127.0.0.1", "::ffff:a9fe:a9fe", "::7f00:1", "64:ff9b::10.0.0.1", "64:ff9b:1::1", "100::1",
            "2001::1", "2001:db8::1", "2002:7f00:1::1", "3fff::1", "4000::1", "fc00::1", "fd12:3456::1", "fe80::1",
            "fe80::1%lo", "fec0::1", "ff02::1",
            // The first and last addresses of blocks, and addresses inside of others.
            "0.255.255.255", "10.0.0.0", "10.255.255.255", "127.0.0.0", "169.254.0.0", "169.254.255.255", "192.0.0.0",
            "192.0.0.255", "192.0.2.255", "192.88.99.1", "192.168.0.0", "192.168.255.255", "198.19.255.255",
            "198.51.100.255", "203.0.113.0", "239.255.255.255", "240.0.0.0", "::ffff:10.0.0.1", "::ffff:0:127.0.0.1",
            "::169.254.169.254", "64:ff9b::169.254.169.254", "64:ff9b::127.0.0.1", "100:0:0:1::1", "2001:1ff:ffff::1",
            "2001:db8:ffff:ffff::1", "2002:a9fe:a9fe::1", "2002:c0a8:101::1", "3fff:fff:ffff::1", "5f00::1", "fdff::1",
            "febf::1", "ff0e::1",
        ])
    func isPrivate(_ text: String) throws {
        #expect(try #require(IPAddress(text)).isPrivate)
    }

    @Test(
        "addresses of the internet are public",
        arguments: [
            "1.1.1.1", "8.8.8.8", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "169.253.255.255",
            "172.15.255.255", "172.32.0.0", "192.0.1.1", "192.167.255.255", "198.17.255.255", "198.20.0.0",
            "223.255.255.255", "::ffff:8.8.8.8", "64:ff9b::8.8.8.8", "2002:808:808::1", "2001:4860:4860::8888",
            "2a00:1450::1", "2606:4700::1111", "126.255.255.255", "128.0.0.0", "192.0.3.0", "192.88.98.1",
            "192.88.100.1",
            "192.169.0.0", "198.51.99.255", "198.51.101.0", "203.0.112.255", "203.0.114.0", "2001:200::1",
            "2001:db9::1",
            "2003::1", "3ffe::1",
        ])
    func isPublic(_ text: String) throws {
        #expect(try #require(IPAddress(text)).isPrivate == false)
    }

    @Test(
        "an address is recognised in every spelling that the resolver accepts",
        arguments: ["0x7f.1", "127.1", "2130706433", "0177.0.0.1", "0x7f000001", "::ffff:127.0.0.1", "::ffff:7f00:1"])
    func spellings(_ text: String) throws {
        #expect(IPAddress(spelled: text) == IPAddress("127.0.0.1") && IPAddress("127.0.0.1") != nil)
    }

    @Test(
        "a name is not an address", arguments: ["", "localhost", "a.example", "127.0.0.1.example", "1.2.3.4.5", "%lo"])
    func names(_ text: String) {
        #expect(IPAddress(spelled: text) == nil && IPAddress(text) == nil)
    }
}
