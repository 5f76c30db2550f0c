// SPDX-License-Identifier: Apache-2.0

public import VedetteCore

extension Source {
    /// Its cookie jar: its server's, else its own.
    public var session: String { server.name.isEmpty ? "source " + name : server.name }

    /// Its failures share one message with those of the same group: its server, else its host.
    var failureGroup: String { server.name.isEmpty ? WebURL(url)?.authority ?? url : server.name }

    /// Whether both are asked and read in the same way, so that a poll under way is still right.
    func hasSameRequest(as other: Source) -> Bool {
        identity == other.identity && kind.fingerprints == other.kind.fingerprints && stream == other.stream
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
            && login?.parts == other.login?.parts
    }

    /// Nil when the server has no secret that could be found in a text.
    var redactor: SecretRedactor? { SecretRedactor(secrets, credentials: credentials) }

    /// Finds also the token that was granted for the request, which is no part of the configuration.
    func redactor(for response: Response) -> SecretRedactor? {
        guard let token = response.token else { return redactor }
        return SecretRedactor(secrets + [token], credentials: credentials)
    }

    var secrets: [Secret] {
        // Most servers have none, and each poll asks.
        if headers.isEmpty, credentials == nil, login == nil, case .environment = proxy { return [] }
        let proxySecret: Secret? = if case .url(_, _, let password) = proxy { password } else { nil }
        return headers.compactMap { if case .secret(let secret) = $0.content { secret } else { nil } }
            + [credentials?.password, proxySecret].compactMap { $0 } + (login?.secrets ?? [])
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
            ]
        case .signature(let signature):
            ["signature", signature.region, signature.service, signature.key, signature.secret.value]
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
