// SPDX-License-Identifier: Apache-2.0

public import VedetteCore

/// The secrets of a server, which are redacted from all that it answers.
extension Server {
    /// Nil when the server has no secret that could be found in a text.
    var redactor: SecretRedactor? { SecretRedactor(secrets, credentials: credentials) }

    /// Finds also the token that was granted for the request and the session's cookies, which are no part of the
    /// configuration.
    public func redactor(for response: Response) -> SecretRedactor? {
        let own = response.cookies + (response.token.map { [$0] } ?? [])
        return own.isEmpty ? redactor : SecretRedactor(secrets + own, credentials: credentials)
    }

    var secrets: [Secret] {
        // Most servers have none, and each poll asks.
        if headers.isEmpty, credentials == nil, login == nil, case .environment = proxy { return [] }
        return headers.compactMap { if case .secret(let secret) = $0.content { secret } else { nil } }
            + (credentials.map { [$0.password] } ?? []) + proxySecrets + (login?.secrets ?? [])
    }

    /// The proxy's password, and the form in which basic authentication sends it: a proxy may repeat a request, too.
    private var proxySecrets: [Secret] {
        guard case .url(_, let user, let password?) = proxy else { return [] }
        let encoded = Base64.encode("\(user ?? ""):\(password.value)".utf8)
        return [password, Secret(String(encoded.prefix { $0 != "=" }))]
    }
}
