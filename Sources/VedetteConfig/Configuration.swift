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
    /// The secrets that are kept in files.
    public var watchedSecrets: [WatchedSecret]
    let readSharedDigest: @Sendable () -> UInt64

    /// A digest of what watchers that share a journal must agree on: sources with their servers, sinks, rules and windows,
    /// without secrets. Getting it takes as long as reading the files.
    public var sharedDigest: UInt64 { readSharedDigest() }
}

/// The result of reading the configuration.
public struct Loaded: Sendable {
    /// The configuration; nil when it has any error.
    public var configuration: Configuration?
    /// What could be read: the configuration without the parts that have errors; nil where no file could be looked for.
    public var readable: Configuration?
    /// All errors and warnings, by file and position.
    public var diagnostics: [Diagnostic]
    /// The directory that was read; nil when there is none.
    public var directory: String?
}
