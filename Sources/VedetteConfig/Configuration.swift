// SPDX-License-Identifier: Apache-2.0

public import VedetteCore

/// The configuration of all files, validated and ready to run.
public struct Configuration: Sendable {
    /// The servers, sorted by name.
    public var servers: [Server]
    /// The sources, in the order in which they are written.
    public var sources: [Source]
    /// The sinks, in the order in which they are written.
    public var sinks: [SinkDefinition]
    /// The rules, in the order of evaluation.
    public var rules: [Rule]
    /// The settings of the whole program.
    public var settings: Settings
    /// How another program learns that the watcher lives; nil when none does.
    public var heartbeat: HeartbeatSettings?
    /// Where the page is offered; nil for nowhere.
    public var listen: ListenSettings?
    /// Every file that was read, in bytewise order of path.
    public var files: [String]
}

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
    /// A digest of its configuration, so that a reload finds a changed sink. It must not be stored or shown, since it depends
    /// on literal secrets.
    public var fingerprint: UInt64
}

/// Settings of the whole program.
public struct Settings: Sendable {
    /// How long events are kept.
    public var keepEvents: Duration = .seconds(30 * 86_400)
    /// Size in bytes above which the journal loses events younger than `keepEvents`.
    public var keepBytes: Int64 = 1_000_000_000
    /// The age at which a pending delivery is given up.
    public var giveUp: Duration = .seconds(72 * 3600)
    /// The database of the journal; nil for SQLite in the state directory.
    public var postgres: PostgresServer?
    /// The name of this watcher among several on one PostgreSQL; nil for the host's name.
    public var watcher: String?

    /// Creates the default settings.
    public init() {}
}

/// The result of reading the configuration.
public struct Loaded: Sendable {
    /// The configuration; nil when it has any error.
    public var configuration: Configuration?
    /// All errors and warnings, by file and position.
    public var diagnostics: [Diagnostic]
    /// The directory that was read; nil when there is none.
    public var directory: String?
}
