// SPDX-License-Identifier: Apache-2.0

/// A request for an OAuth 2 token by client credentials (RFC 6749 §4.4).
public struct ClientGrant: Sendable {
    /// The absolute URL of the token endpoint.
    public var url: String
    /// The client's id.
    public var client: String
    /// The client's secret.
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
}
