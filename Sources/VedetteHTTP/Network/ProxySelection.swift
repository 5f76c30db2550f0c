// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// The proxy of one request.
struct ProxySelection: Sendable, Hashable {
    /// In the form that libcurl takes. A URL of the environment may contain a user and a password.
    var url: String
    var user: String?
    var password: String?

    /// Whether requests to all origins go over one connection. SOCKS opens one for each.
    var forwardsRequests: Bool { !url.lowercased().hasPrefix("socks") }

    /// Nil for a direct connection.
    init?(_ proxy: Proxy, for url: WebURL, in environment: ProxyEnvironment) {
        switch proxy {
        case .none: return nil
        case .environment:
            guard let address = environment.proxy(for: url) else { return nil }
            self.url = address
        case .url(let address, let user, let password):
            (self.url, self.user, self.password) = (address, user, password?.value)
        }
    }
}

extension WebURL {
    /// Removes the parameter of a query credential, which some servers repeat in a Location.
    func without(_ credentials: Credentials?) -> WebURL {
        guard let redactor = QueryRedactor(credentials), let query else { return self }
        let kept = redactor.removed(from: query[...])
        guard kept != query else { return self }
        let base = "\(scheme)://\(authority)\(path.isEmpty ? "/" : path)"
        return WebURL(kept.isEmpty ? base : base + "?" + kept) ?? self
    }
}

extension FetchError {
    static func privateAddress(_ origin: String) -> FetchError {
        FetchError(
            .privateAddress,
            "\(origin) is a private address that a public server leads to; allow_private: true allows it"
        )
    }
}
