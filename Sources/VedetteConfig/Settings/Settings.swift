// SPDX-License-Identifier: Apache-2.0

public import VedetteCore

/// Settings of the whole program.
public struct Settings: Sendable {
    /// How long events are kept.
    public var keepEvents = Retention.events
    /// Size in bytes above which the journal loses events younger than `keepEvents`.
    public var keepBytes = Retention.journalBytes
    /// The age at which a pending delivery is given up.
    public var giveUp: Duration = .seconds(72 * 3600)
    /// The database of the journal; nil for SQLite in the state directory.
    public var postgres: PostgresServer?
    /// The name of this watcher among several on one PostgreSQL; nil for the host's name.
    public var watcher: String?
    /// The address of the page, as people open it, without a slash at its end; nil where messages name none.
    public var publicURL: String?

    /// Creates the default settings.
    public init() {}

    /// Returns the keys whose values take effect when the watcher starts again, of those that have changed.
    /// - Parameter start: the settings with which it started.
    public func keysForRestart(since start: Settings) -> [String] {
        let hasOtherPlace =
            postgres?.connection != start.postgres?.connection
            || (postgres?.password == nil) != (start.postgres?.password == nil)
        return (hasOtherPlace ? ["journal"] : []) + (watcher != start.watcher ? ["watcher"] : [])
    }
}
