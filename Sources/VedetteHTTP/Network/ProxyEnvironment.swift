// SPDX-License-Identifier: Apache-2.0

import Glibc
import VedetteCore

/// What the environment says about proxies, read as curl reads it (curl(1), "ENVIRONMENT"), once. Read here and not by
/// libcurl, since who is asked must be known: a proxy's address says nothing about the server's.
struct ProxyEnvironment: Sendable {
    private let http: String?
    private let https: String?
    /// Names, domains and addresses that are asked directly; `*` for all.
    private let exceptions: [String]

    /// - Parameter value: of an environment variable. `HTTP_PROXY` in capitals is not looked at: a web server's child
    ///   gets there what a stranger wrote in a `Proxy` header.
    init(_ value: (String) -> String?) {
        func first(_ names: String...) -> String? {
            for name in names { if let text = value(name), !text.isEmpty { return text } }
            return nil
        }
        http = first("http_proxy", "all_proxy", "ALL_PROXY")
        https = first("https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY")
        exceptions = (first("no_proxy", "NO_PROXY") ?? "").split { $0 == "," || $0 == " " }.map { $0.lowercased() }
    }

    static let own = ProxyEnvironment { getenv($0).map { String(cString: $0) } }

    /// The proxy for a URL; nil when it is asked directly.
    func proxy(for url: WebURL) -> String? {
        guard let proxy = url.scheme == "https" ? https : http else { return nil }
        return exceptions.contains { ProxyEnvironment.covers($0, url.host) } ? nil : proxy
    }

    /// A name covers itself and its subdomains, with or without a leading dot; an address covers itself or its block.
    private static func covers(_ exception: String, _ host: String) -> Bool {
        if exception == "*" { return true }
        let parts = exception.split(separator: "/", maxSplits: 1)
        if parts.count == 2, let bits = Int(parts[1]), let block = in4(String(parts[0])), let address = in4(host) {
            return (0...32).contains(bits) && (bits == 0 || (block ^ address) >> (32 - UInt32(bits)) == 0)
        }
        let name = exception.hasPrefix(".") ? String(exception.dropFirst()) : exception
        if in4(host) != nil || host.contains(":") { return bare(name) == host }
        let asked = host.hasSuffix(".") ? String(host.dropLast()) : host
        return !name.isEmpty && (asked == name || asked.hasSuffix("." + name))
    }

    private static func bare(_ name: String) -> String { name.filter { $0 != "[" && $0 != "]" } }

    private static func in4(_ text: String) -> UInt32? {
        var address = in_addr()
        return inet_pton(AF_INET, text, &address) == 1 ? UInt32(bigEndian: address.s_addr) : nil
    }
}

extension WebURL {
    /// The authority without its port and without brackets.
    var host: String {
        if authority.hasPrefix("[") { return String(authority.dropFirst().prefix { $0 != "]" }) }
        return String(authority.prefix { $0 != ":" })
    }
}
