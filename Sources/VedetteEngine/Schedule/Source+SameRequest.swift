// SPDX-License-Identifier: Apache-2.0

import VedetteCore

extension Source {
    /// Whether both are asked and read in the same way, so that a poll under way is still right.
    func hasSameRequest(as other: Source) -> Bool {
        identity == other.identity && fingerprints == other.fingerprints && stream == other.stream
            && server.hasSameRequest(as: other.server)
    }
}

extension Server {
    /// Limits are not part of the request: a change of them disturbs no poll.
    func hasSameRequest(as other: Server) -> Bool {
        tls == other.tls && userAgent == other.userAgent && cookies == other.cookies
            && allowsPrivate == other.allowsPrivate && headers.map(\.name) == other.headers.map(\.name)
            && headers.map(\.value) == other.headers.map(\.value) && proxy.parts == other.proxy.parts
            && credentials?.parts == other.credentials?.parts && handshake == other.handshake
            && login?.parts == other.login?.parts && tokenLogin?.parts == other.tokenLogin?.parts
    }
}

extension LoginForm {
    /// Equal for equal logins; never stored or printed.
    fileprivate var parts: [String] { [url] + fields.flatMap { [$0.name, $0.value] } }
}

extension Credentials {
    /// Equal for equal credentials; never stored or printed.
    fileprivate var parts: [String?] {
        switch self {
        case .basic(let user, let password): ["basic", user, password.value]
        case .digest(let user, let password): ["digest", user, password.value]
        case .bearer(let token): ["bearer", token.value]
        case .query(let name, let value): ["query", name, value.value]
        case .grant(let grant):
            [
                "grant", grant.url, grant.client, grant.secret.value, grant.scope, grant.audience,
                grant.inBody ? "body" : "header",
            ] + grant.kind.parts
        case .signature(let signature):
            ["signature", signature.region, signature.service, signature.key, signature.secret.value]
        }
    }
}

extension ClientGrant.Kind {
    fileprivate var parts: [String?] {
        switch self {
        case .client: []
        case .password(let user, let password): ["password", user, password.value]
        case .refresh(let token): ["refresh", token.value]
        }
    }
}

extension Proxy {
    fileprivate var parts: [String?] {
        switch self {
        case .environment: ["environment"]
        case .none: ["none"]
        case .url(let url, let user, let password): ["url", url, user, password?.value]
        }
    }
}
