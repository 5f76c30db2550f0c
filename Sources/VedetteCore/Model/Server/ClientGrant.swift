// SPDX-License-Identifier: Apache-2.0

/// A request for an OAuth 2 token: by client credentials (RFC 6749 §4.4), a user's password (§4.3) or a refresh token (§6).
public struct ClientGrant: Sendable {
    /// What the token is asked for with, beside the client.
    public enum Kind: Sendable {
        /// The client alone.
        case client
        /// A user's name and password.
        case password(user: String, password: Secret)
        /// A refresh token.
        case refresh(Secret)
    }

    /// What the token is asked for with.
    public var kind = Kind.client
    /// The absolute URL of the token endpoint.
    public var url: String
    /// The client's id.
    public var client: String
    /// The client's secret; empty for a public client, which sends its id alone.
    public var secret: Secret
    /// The scopes, separated by spaces (RFC 6749 §3.3).
    public var scope: String?
    /// The audience, which some servers require.
    public var audience: String?
    /// Whether id and secret are sent in the body instead of by basic authentication (RFC 6749 §2.3.1).
    public var inBody: Bool

    /// Creates a request.
    public init(
        url: String, client: String, secret: Secret, scope: String? = nil, audience: String? = nil,
        inBody: Bool = false
    ) {
        (self.url, self.client, self.secret) = (url, client, secret)
        (self.scope, self.audience, self.inBody) = (scope, audience, inBody)
    }

    /// Its secrets.
    public var secrets: [Secret] {
        switch kind {
        case .client: [secret]
        case .password(_, let password): [secret, password]
        case .refresh(let token): [secret, token]
        }
    }
}
