// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// The secrets of a server, which are redacted from all that it answers.
extension Server {
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
