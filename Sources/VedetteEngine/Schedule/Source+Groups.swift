// SPDX-License-Identifier: Apache-2.0

public import VedetteCore

/// What a source shares with others of its server.
extension Source {
    /// Its cookie jar: its server's, else its own; another user's is another one.
    public var session: String {
        let owner = server.name.isEmpty ? "source " + name : server.name
        return server.account.map { "\(owner) \(String($0, radix: 16))" } ?? owner
    }

    /// The group whose failures share one message: its server, else its host.
    var failureGroup: String { server.name.isEmpty ? WebURL(url)?.authority ?? url : server.name }
}

extension Server {
    /// A digest of what is no secret in the credentials and the login; nil where nothing is. It may be stored.
    var account: UInt64? {
        if credentials == nil, login == nil, tokenLogin == nil { return nil }
        let names = (credentials?.names ?? []) + (login?.fields.plain ?? []) + (tokenLogin?.names ?? [])
        return names.isEmpty ? nil : StableHash.of(names)
    }
}

extension Credentials {
    fileprivate var names: [String] {
        switch self {
        case .basic(let user, _), .digest(let user, _): [user]
        case .grant(let grant): [grant.client] + grant.kind.names
        case .bearer, .query, .signature: []
        }
    }
}

extension ClientGrant.Kind {
    fileprivate var names: [String] { if case .password(let user, _) = self { [user] } else { [] } }
}

extension TokenLogin {
    fileprivate var names: [String] {
        let contents: [String] =
            switch body {
            case .none: []
            case .json(let pieces): pieces.compactMap(\.plain)
            case .form(let fields): fields.plain
            }
        return (basic.map { [$0.user] } ?? []) + contents
    }
}

extension [LoginForm.Field] {
    /// The names and values of the fields that are no secrets.
    fileprivate var plain: [String] { flatMap { field in field.content.plain.map { [field.name, $0] } ?? [] } }
}

extension Header.Content {
    /// Nil for a secret.
    var plain: String? { if case .plain(let text) = self { text } else { nil } }
}
