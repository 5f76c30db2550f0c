// SPDX-License-Identifier: Apache-2.0

/// A sink that takes no messages: it refused them, and takes none until a person acts, or it fails and has fallbacks. The
/// journal keeps it, so that it stays so over a restart.
public struct StoppedSink: Sendable, Hashable {
    /// The sink's name.
    public var sink: String
    /// `paused`, `disabled` or `failing`.
    public var kind: Event.Kind
    /// Why, without a secret.
    public var reason: String
    /// When it refused, or when the first of its last failures in a row was.
    public var since: Timestamp
    /// A digest of the options that it had: with other options it is tried again.
    public var fingerprint: UInt64

    /// Creates a stopped sink.
    public init(sink: String, kind: Event.Kind, reason: String, since: Timestamp, fingerprint: UInt64) {
        (self.sink, self.kind, self.reason) = (sink, kind, reason)
        (self.since, self.fingerprint) = (since, fingerprint)
    }
}
