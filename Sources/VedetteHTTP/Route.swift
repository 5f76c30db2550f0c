// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// The proxy of one hop.
struct ProxyChoice: Sendable, Hashable {
    /// As libcurl takes it; one of the environment may hold a user and a password.
    var url: String
    var user: String?
    var password: String?

    /// Nil: the server is asked directly.
    init?(_ proxy: Proxy, for url: WebURL) {
        switch proxy {
        case .none: return nil
        case .environment:
            guard let address = ProxyEnvironment.own.proxy(for: url) else { return nil }
            self.url = address
        case .url(let address, let user, let password):
            (self.url, self.user, self.password) = (address, user, password?.value)
        }
    }
}

extension TLSPolicy {
    /// What holds on another origin: nothing that was said of the first, but no older version than asked for.
    var elsewhere: TLSPolicy { TLSPolicy(minimum: minimum == .v1_3 ? .v1_3 : .v1_2) }
}

extension WebURL {
    /// Without the parameter of a query credential, which some servers repeat in a Location.
    func without(_ credentials: Credentials?) -> WebURL {
        guard case .query(let name, let secret) = credentials, let query else { return self }
        let pairs = query.split(separator: "&", omittingEmptySubsequences: false)
        let kept = pairs.filter { pair in
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            return parts.count < 2 || WebURL.decoded(parts[0]) != name || WebURL.decoded(parts[1]) != secret.value
        }
        guard kept.count < pairs.count else { return self }
        let base = "\(scheme)://\(authority)\(path.isEmpty ? "/" : path)"
        return WebURL(kept.isEmpty ? base : base + "?" + kept.joined(separator: "&")) ?? self
    }

    /// Percent-decoded, `+` as a space; what is no valid escape stays.
    private static func decoded(_ text: Substring) -> String {
        var out: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            if byte == 0x25, rest.count > 1,
                let value = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16)
            {
                out.append(value)
                rest = rest.dropFirst(2)
            } else {
                out.append(byte == 0x2B ? 0x20 : byte)
            }
        }
        return String(decoding: out, as: UTF8.self)
    }
}

extension FetchError {
    static func privateAddress(_ origin: String) -> FetchError {
        FetchError(
            .privateAddress,
            "\(origin) is a private address that a public server leads to: refused; allow_private: true allows it"
        )
    }
}
