// SPDX-License-Identifier: Apache-2.0

public import VedetteCore

/// The secrets of a server, which are redacted from all that it answers.
extension Server {
    /// Nil when the server has no secret that could be found in a text.
    var redactor: SecretRedactor? { SecretRedactor(secrets + proxyAuthorization, credentials: credentials) }

    /// Finds also the token that was granted for the request and the session's cookies, which are no part of the
    /// configuration.
    public func redactor(for response: Response) -> SecretRedactor? {
        let own = response.cookies + (response.token.map { [$0] } ?? [])
        return own.isEmpty ? redactor : SecretRedactor(secrets + proxyAuthorization + own, credentials: credentials)
    }

    /// All of them.
    public var secrets: [Secret] {
        // Most servers have none, and each poll asks.
        if headers.isEmpty, credentials == nil, login == nil, tokenLogin == nil, case .environment = proxy { return [] }
        return [Secret](headers: headers, credentials: credentials, login: login, proxy: proxy)
            + (tokenLogin?.secrets ?? [])
    }

    /// The password of a proxy in the form in which basic authentication sends it: a proxy may repeat a request, too.
    private var proxyAuthorization: [Secret] {
        guard case .url(_, let user, let password?) = proxy else { return [] }
        return password.values.map { value in
            Secret(String(Base64.encode("\(user ?? ""):\(value)".utf8).prefix { $0 != "=" }))
        }
    }
}
