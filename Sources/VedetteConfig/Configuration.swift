// SPDX-License-Identifier: Apache-2.0

public import VedetteCore

/// What all files together say, ready to run.
public struct Configuration: Sendable {
    /// In the order of their names.
    public var servers: [Server]
    /// In the order in which they are written.
    public var sources: [Source]
    public var sinks: [SinkDefinition]
    public var rules: [Rule]
    public var settings: Settings
    /// Every file that was read, in bytewise order of path.
    public var files: [String]
}

/// A sink as it is configured; `make` builds it when the watcher starts.
public struct SinkDefinition: Sendable {
    public var name: String
    public var kindName: String
    public var make: SinkKindEntry.Factory
    public var policy: DeliveryPolicy
    /// Its receiver's certificate is not checked.
    public var isInsecure = false
    /// A digest of what is written for it, so that a reload knows a changed sink. For this process alone: it is seeded
    /// with the text of a literal secret too.
    public var fingerprint: UInt64
}

/// What holds for the whole program.
public struct Settings: Sendable, Hashable {
    /// How long events are kept.
    public var keepEvents: Duration = .seconds(30 * 86_400)
    /// Size in bytes above which the journal loses events younger than `keepEvents`.
    public var keepBytes: Int64 = 1_000_000_000
    /// When an owed delivery is given up.
    public var giveUp: Duration = .seconds(72 * 3600)

    public init() {}
}

/// What came of reading the configuration.
public struct Loaded: Sendable {
    /// Nil when anything is wrong: it is all or nothing.
    public var configuration: Configuration?
    /// Everything that is wrong, by file and position; warnings too.
    public var diagnostics: [Diagnostic]
    /// The directory that was read; nil when there is none.
    public var directory: String?
}
