// SPDX-License-Identifier: Apache-2.0

import Glibc

/// The host by which a client asks for the page.
public enum PageHost {
    /// Whether the page takes requests for a host: `localhost`, an address, which nobody can make point elsewhere, or a name
    /// that is configured.
    /// - Parameters:
    ///   - host: without the port, in lower case; an IPv6 address in its brackets.
    ///   - names: in lower case.
    public static func isAccepted(_ host: String, among names: Set<String>) -> Bool {
        host == "localhost" || names.contains(host) || isAddress(host)
    }

    private static func isAddress(_ host: String) -> Bool {
        var (four, six) = (in_addr(), in6_addr())
        guard host.first == "[", host.last == "]" else { return inet_pton(AF_INET, host, &four) == 1 }
        return inet_pton(AF_INET6, String(host.dropFirst().dropLast()), &six) == 1
    }
}
