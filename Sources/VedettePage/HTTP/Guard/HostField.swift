// SPDX-License-Identifier: Apache-2.0

import Glibc

/// The value of a Host header: a name or an address, and a port (RFC 9112 §3.2, RFC 3986 §3.2.2).
struct HostField: Hashable {
    /// Without the port, in lower case; an IPv6 address in its brackets.
    let name: String

    /// - Returns: nil for a malformed value. A server and a proxy may read such a one in two ways.
    init?(_ value: String) {
        let end: String.Index
        if value.first == "[" {
            guard let bracket = value.firstIndex(of: "]") else { return nil }
            var address = in6_addr()
            guard inet_pton(AF_INET6, String(value[..<bracket].dropFirst()), &address) == 1 else {
                return nil
            }
            end = value.index(after: bracket)
        } else {
            end = value.firstIndex(of: ":") ?? value.endIndex
            guard HostField.isName(value[..<end]) else { return nil }
        }
        let port = value[end...]
        guard port.isEmpty || port.first == ":" && HostField.isPort(port.dropFirst()) else {
            return nil
        }
        name = value[..<end].lowercased()
    }

    /// `reg-name`, which a host of HTTP has at least one character of.
    private static func isName(_ text: Substring) -> Bool {
        var rest = text.utf8[...]
        guard !rest.isEmpty else { return false }
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "a")...UInt8(ascii: "z"):
                continue
            case UInt8(ascii: "%"):
                guard rest.count >= 2,
                    rest.prefix(2).allSatisfy({ Character(Unicode.Scalar($0)).isHexDigit })
                else { return false }
                rest = rest.dropFirst(2)
            default: if !"-._~!$&'()*+,;=".utf8.contains(byte) { return false }
            }
        }
        return true
    }

    private static func isPort(_ text: Substring) -> Bool {
        text.utf8.allSatisfy { (48...57).contains($0) } && (text.isEmpty || UInt16(text) != nil)
    }
}
