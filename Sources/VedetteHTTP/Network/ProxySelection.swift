// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// The proxy of one hop.
struct ProxySelection: Sendable, Hashable {
    /// As libcurl takes it; one of the environment may hold a user and a password.
    var url: String
    var user: String?
    var password: String?

    /// Nil: the server is asked directly.
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
    /// Without the parameter of a query credential, which some servers repeat in a Location.
    func without(_ credentials: Credentials?) -> WebURL {
        guard let echo = QueryRedactor(credentials), let query else { return self }
        let kept = echo.kept(of: query[...])
        guard kept != query else { return self }
        let base = "\(scheme)://\(authority)\(path.isEmpty ? "/" : path)"
        return WebURL(kept.isEmpty ? base : base + "?" + kept) ?? self
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
