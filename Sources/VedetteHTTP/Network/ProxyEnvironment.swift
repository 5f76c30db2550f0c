// SPDX-License-Identifier: Apache-2.0

import Glibc
import VedetteCore

/// The proxies that the environment names, as curl reads them (curl(1), "ENVIRONMENT").
///
/// libcurl does not read them itself, since the client must know whether a connection goes to a proxy: the address of a
/// proxy tells nothing about the address of the server.
struct ProxyEnvironment: Sendable {
    private let http: String?
    private let https: String?
    /// Names, domains and addresses with a direct connection; `*` for all.
    private let exceptions: [String]

    /// - Parameter value: returns an environment variable. `HTTP_PROXY` in capitals is ignored: in the child of a web
    ///   server it has the `Proxy` header of a request.
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

    /// Returns the proxy for a URL; nil for a direct connection.
    func proxy(for url: WebURL) -> String? {
        guard let proxy = url.scheme == "https" ? https : http else { return nil }
        return exceptions.contains { ProxyEnvironment.covers($0, url.host) } ? nil : proxy
    }

    /// Whether an exception matches a host. A name matches itself and its subdomains, with or without a leading dot; an
    /// address matches itself, and a block its addresses.
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
