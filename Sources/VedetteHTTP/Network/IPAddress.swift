// SPDX-License-Identifier: Apache-2.0

import Glibc

/// An IP address of 16 bytes; an IPv4 address is in its mapped form `::ffff:a.b.c.d` (RFC 4291
/// §2.5.5.2).
struct IPAddress: Sendable, Hashable {
    /// The upper and the lower eight bytes.
    private let high: UInt64
    private let low: UInt64

    private static let mapped: UInt64 = 0xFFFF_0000_0000

    private init(high: UInt64, low: UInt64) { (self.high, self.low) = (high, low) }

    private init(version4 bits: UInt32) { self.init(high: 0, low: IPAddress.mapped | UInt64(bits)) }

    /// Reads the address of a socket; nil when it is neither IPv4 nor IPv6.
    init?(_ address: UnsafePointer<sockaddr>) {
        switch Int32(address.pointee.sa_family) {
        case AF_INET:
            self = UnsafeRawPointer(address).withMemoryRebound(to: sockaddr_in.self, capacity: 1) {
                IPAddress(version4: UInt32(bigEndian: $0.pointee.sin_addr.s_addr))
            }
        case AF_INET6:
            self = UnsafeRawPointer(address).withMemoryRebound(to: sockaddr_in6.self, capacity: 1) {
                IPAddress($0.pointee.sin6_addr)
            }
        default: return nil
        }
    }

    private init(_ address: in6_addr) {
        self = withUnsafeBytes(of: address) { bytes in
            IPAddress(
                high: UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self)),
                low: UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self)))
        }
    }

    /// Reads an address as the resolver and libcurl write it: `127.0.0.1`, `::1`, `fe80::1%eth0`. Nil for a name or another
    /// spelling.
    init?(_ text: UnsafePointer<CChar>) {
        var four = in_addr()
        if inet_pton(AF_INET, text, &four) == 1 {
            self.init(version4: UInt32(bigEndian: four.s_addr))
            return
        }
        var six = in6_addr()
        let isAddress =
            inet_pton(AF_INET6, text, &six) == 1
            || String(cString: text).split(separator: "%").first.map { inet_pton(AF_INET6, String($0), &six) == 1 }
                ?? false
        guard isAddress else { return nil }
        self.init(six)
    }

    /// Reads an address in any spelling that inet_aton(3) and URLs allow: `0x7f.1`, `2130706433`, `127.1`. Nil for a name.
    init?(spelled text: String) {
        var four = in_addr()
        guard inet_aton(text, &four) == 0 else {
            self.init(version4: UInt32(bigEndian: four.s_addr))
            return
        }
        self.init(text)
    }

    /// Whether the address is loopback, link-local, private, shared, multicast or reserved by the registries of RFC 6890. Of
    /// IPv6 only global unicast (2000::/3) without its special blocks is public.
    var isPrivate: Bool {
        if let bits = embedded { return IPAddress.isPrivate(version4: bits) }
        guard high >> 61 == 1 else { return true }
        return IPAddress.special.contains { high >> (64 - $0.length) == $0.prefix >> (64 - $0.length) }
    }

    /// The IPv4 address inside a mapped one, behind a translator (64:ff9b::/96, RFC 6052) or a 6to4 router (2002::/16).
    private var embedded: UInt32? {
        if high == 0, low >> 32 == 0xFFFF { return UInt32(truncatingIfNeeded: low) }
        if high == 0x0064_FF9B_0000_0000, low >> 32 == 0 { return UInt32(truncatingIfNeeded: low) }
        if high >> 48 == 0x2002 { return UInt32(truncatingIfNeeded: high >> 16) }
        return nil
    }

    /// 2001::/23 (RFC 2928, Teredo with it) and documentation, 2001:db8::/32 and 3fff::/20 (RFC 9637).
    private static let special: [(prefix: UInt64, length: UInt64)] = [
        (0x2001_0000_0000_0000, 23), (0x2001_0DB8_0000_0000, 32), (0x3FFF_0000_0000_0000, 20),
    ]

    private static func isPrivate(version4 bits: UInt32) -> Bool {
        blocks.contains { bits >> (32 - $0.length) == $0.prefix >> (32 - $0.length) }
    }

    /// The IANA special-purpose registry (RFC 6890 §2.2.2), multicast (224/4) and the reserved block (240/4).
    private static let blocks: [(prefix: UInt32, length: UInt32)] = [
        (0x0000_0000, 8), (0x0A00_0000, 8), (0x6440_0000, 10), (0x7F00_0000, 8), (0xA9FE_0000, 16), (0xAC10_0000, 12),
        (0xC000_0000, 24), (0xC000_0200, 24), (0xC058_6300, 24), (0xC0A8_0000, 16), (0xC612_0000, 15),
        (0xC633_6400, 24), (0xCB00_7100, 24), (0xE000_0000, 4), (0xF000_0000, 4),
    ]
}
