// SPDX-License-Identifier: Apache-2.0

/// How a request is authenticated. Credentials go to the origin they were given for and to no other (I9).
public enum Credentials: Sendable {
    /// RFC 7617.
    case basic(user: String, password: Secret)
    /// RFC 7616.
    case digest(user: String, password: Secret)
    /// RFC 6750 §2.1.
    case bearer(Secret)
    /// A query parameter that is added when the request is sent, so that no log, event or snapshot has it.
    case query(name: String, value: Secret)
    /// OAuth 2 client credentials (RFC 6749 §4.4).
    case grant(ClientGrant)
    /// AWS Signature Version 4.
    case signature(AWSSignature)

    /// Creates credentials for basic authentication.
    public init(user: String, password: Secret) { self = .basic(user: user, password: password) }

    /// The user's name; nil for schemes without one.
    public var user: String? {
        switch self {
        case .basic(let user, _), .digest(let user, _): user
        case .bearer, .query, .grant, .signature: nil
        }
    }

    /// The secret, whatever the scheme calls it.
    public var password: Secret {
        switch self {
        case .basic(_, let secret), .digest(_, let secret), .bearer(let secret), .query(_, let secret): secret
        case .grant(let grant): grant.secret
        case .signature(let signature): signature.secret
        }
    }
}

/// The keys of AWS Signature Version 4, and what a signature is valid for.
public struct AWSSignature: Sendable {
    /// The region, as `eu-central-1`.
    public var region: String
    /// The service, as `ec2`.
    public var service: String
    /// The id of the access key.
    public var key: String
    /// The secret access key.
    public var secret: Secret

    /// Creates keys.
    public init(region: String, service: String, key: String, secret: Secret) {
        (self.region, self.service, self.key, self.secret) = (region, service, key, secret)
    }
}

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
