// SPDX-License-Identifier: Apache-2.0

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
