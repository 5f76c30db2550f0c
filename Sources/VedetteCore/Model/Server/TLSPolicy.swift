// SPDX-License-Identifier: Apache-2.0

/// How a server's certificate is verified, and which client certificate is sent.
public struct TLSPolicy: Sendable, Hashable {
    /// A version of the protocol.
    public enum Version: String, Sendable, Hashable, CaseIterable {
        case v1_0 = "1.0"
        case v1_1 = "1.1"
        case v1_2 = "1.2"
        case v1_3 = "1.3"
    }

    /// A PEM file that replaces the system's certificate authorities.
    public var ca: String?
    /// `sha256//` and the base64 SHA-256 of the public key; several with `;`. It replaces the verification of chain, name
    /// and date, so that a self-signed appliance is trusted by its key alone.
    public var pin: String?
    /// Whether nothing is verified.
    public var insecure: Bool
    /// A PEM file with the client certificate, and its key where `key` names no other file.
    public var certificate: String?
    /// A PEM file with the key of `certificate`.
    public var key: String?
    /// The oldest version that is accepted.
    public var minimum: Version

    /// Creates a policy.
    public init(
        ca: String? = nil, pin: String? = nil, insecure: Bool = false, certificate: String? = nil, key: String? = nil,
        minimum: Version = .v1_2
    ) {
        (self.ca, self.pin, self.insecure) = (ca, pin, insecure)
        (self.certificate, self.key, self.minimum) = (certificate, key, minimum)
    }
}

extension TLSPolicy {
    /// The policy for another origin, after a redirect: the usual verification, but no older version than this one accepts.
    public var forOtherOrigins: TLSPolicy { TLSPolicy(minimum: minimum == .v1_3 ? .v1_3 : .v1_2) }
}
