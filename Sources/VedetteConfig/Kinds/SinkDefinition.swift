// SPDX-License-Identifier: Apache-2.0

public import VedetteCore

/// A sink as it is configured; `make` builds it when the watcher starts.
public struct SinkDefinition: Sendable {
    /// The name, unique over all files.
    public var name: String
    /// The name of the kind.
    public var kindName: String
    /// Makes the sink.
    public var make: SinkKindEntry.Factory
    /// The settings that every sink has.
    public var policy: DeliveryPolicy
    /// Whether the receiver's certificate is not verified.
    public var isInsecure = false
    /// The only one of several watchers that delivers to it; nil for any.
    public var watcher: String?
    /// Whether what a gate held of several subjects is one message, also for a sink that passes on events.
    public var isGrouped = false
    /// The secrets among its options.
    public var secrets: [Secret] = []
    /// A digest of its configuration, so that a reload finds a changed sink. It must not be stored or shown, since it depends
    /// on literal secrets.
    public var fingerprint: UInt64
}
