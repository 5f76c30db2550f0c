// SPDX-License-Identifier: Apache-2.0

public import VedetteCore

/// The requests by which another program learns that the watcher lives, as healthchecks.io, Uptime Kuma and the external
/// endpoints of Gatus expect them.
public struct HeartbeatSettings: Sendable {
    /// The methods that such programs take.
    public enum Method: String, Sendable, CaseIterable {
        case get = "GET"
        case post = "POST"
        case head = "HEAD"
    }

    /// The address. It is a secret: who knows it can report the watcher as alive.
    public var url: Secret
    /// The interval between requests.
    public var every: Duration = .seconds(300)
    public var method = Method.get
    /// Sent as `Authorization: Bearer`; nil for none.
    public var token: Secret?

    /// Creates the settings of requests without a token.
    public init(url: Secret) { self.url = url }
}
