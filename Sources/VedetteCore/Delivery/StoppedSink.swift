// SPDX-License-Identifier: Apache-2.0

/// A sink that refused messages, and takes none until a person acts. The journal keeps it, so that it stays stopped over a
/// restart.
public struct StoppedSink: Sendable, Hashable {
    /// The sink's name.
    public var sink: String
    /// `paused` or `disabled`.
    public var kind: Event.Kind
    /// Why, without a secret.
    public var reason: String
    /// When it refused.
    public var since: Timestamp
    /// A digest of the options that it had: with other options it is tried again.
    public var fingerprint: UInt64

    /// Creates a stopped sink.
    public init(sink: String, kind: Event.Kind, reason: String, since: Timestamp, fingerprint: UInt64) {
        (self.sink, self.kind, self.reason) = (sink, kind, reason)
        (self.since, self.fingerprint) = (since, fingerprint)
    }
}
