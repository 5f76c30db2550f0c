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
    /// A token of OAuth 2 (RFC 6749 §4.3, §4.4, §6).
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

    /// All of its secrets.
    public var secrets: [Secret] {
        if case .grant(let grant) = self { grant.secrets } else { [password] }
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
